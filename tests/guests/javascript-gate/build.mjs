// Makes gate.js a component: node build.mjs ENGINE WIT OUT, with ENGINE quickjs or starlingmonkey.
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [engine, wit, out] = process.argv.slice(2);
const source = fileURLToPath(new URL("gate.js", import.meta.url));
// Packages lie where this is run, not beside this file: nothing is installed into the sources.
const packages = createRequire(resolve("package.json"));

if (engine === "quickjs") {
  const command = resolve("node_modules/.bin/componentize-qjs");
  // Without async, so that the component runs where component-model async is off; without WASI, for it needs none.
  const options = ["--sync", "--opt-size", "--stub-wasi", "--minify"];
  execFileSync(command, ["--wit", wit, "-n", "gate", "--js", source, ...options, "-o", out], { stdio: "inherit" });
} else if (engine === "starlingmonkey") {
  const { componentize } = await import(
    pathToFileURL(packages.resolve("@bytecodealliance/componentize-js"))
  );
  const { component } = await componentize({
    sourcePath: source,
    witPath: wit,
    worldName: "gate",
    disableFeatures: ["random", "stdio", "clocks", "http", "fetch-event"],
  });
  await writeFile(out, component);
} else {
  throw new Error(`the engine ${engine} is neither quickjs nor starlingmonkey`);
}
