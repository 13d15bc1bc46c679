// Makes gate.js a component: node build.mjs ENGINE WIT OUT, with ENGINE quickjs or starlingmonkey. Runs beside node_modules; nothing
// is installed into the sources, so these files are copied to where the packages are.
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const [engine, wit, out] = process.argv.slice(2);
const beside = (path) => fileURLToPath(new URL(path, import.meta.url));

if (engine === "quickjs") {
  // Without async, so that the component runs where component-model async is off; without WASI, for it needs none.
  const options = ["--sync", "--opt-size", "--stub-wasi", "--minify"];
  const command = beside("node_modules/.bin/componentize-qjs");
  execFileSync(command, ["--wit", wit, "-n", "gate", "--js", beside("gate.js"), ...options, "-o", out], {
    stdio: "inherit",
  });
} else if (engine === "starlingmonkey") {
  const { componentize } = await import("@bytecodealliance/componentize-js");
  const { component } = await componentize({
    sourcePath: beside("gate.js"),
    witPath: wit,
    worldName: "gate",
    disableFeatures: ["random", "stdio", "clocks", "http", "fetch-event"],
  });
  await writeFile(out, component);
} else {
  throw new Error(`the engine ${engine} is neither quickjs nor starlingmonkey`);
}
