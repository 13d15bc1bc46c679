// From a project to a component: bundle, look natively at what is declared, write world and entry, componentize.

import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { asynchronous, describe, interfaces } from "../describe.js";
import { bundle, loadNatively } from "./bundle.js";
import { componentize } from "./engines.js";
import { readProject, zodOf } from "./project.js";

const VERSION = "0.1.0";

export async function build({ project: folder, wit, out }) {
  const project = await readProject(folder);
  const work = await mkdtemp(join(tmpdir(), "capstan-sdk-"));
  try {
    const definition = await loadNatively(project, work);
    const descriptor = describe(definition, { ...project, toJSONSchema: await zodOf(project) });
    const declared = interfaces(definition);
    if (project.engine === "quickjs") refuseAsync(asynchronous(definition));

    const bundled = await bundle(project, (globals) => entry(project, globals, declared, descriptor));
    await cp(wit, join(work, "wit"), { recursive: true });
    await writeFile(join(work, "wit", "built.wit"), world(declared, bundled.imports));
    await writeFile(out, await componentize(project, { work, wit: join(work, "wit"), world: "built", code: bundled.code }));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function refuseAsync(names) {
  if (names.length === 0) return;
  throw new Error(
    `async functions cannot run in QuickJS: ${names.join(", ")}. Every host call answers at once, so leave out \`async\`; ` +
      'for `fetch`, set `"engine": "starlingmonkey"` in the `capstan` table of package.json',
  );
}

// The component's own module. The descriptor is data by now: the same bytes, whatever runs them.
export function entry(project, globals, declared, descriptor) {
  const own = (path) => JSON.stringify(fileURLToPath(new URL(path, import.meta.url)));
  const parts = declared.map(([, name]) => name);
  return [
    ...globals.map((path) => `import ${own(path)};`),
    `import definition from ${JSON.stringify(project.entry)};`,
    `import * as guest from ${own("../guest.js")};`,
    `globalThis.__capstanEngine = { waits: ${project.engine !== "quickjs"} };`,
    `export const extension = { describe: () => (${JSON.stringify(descriptor)}) };`,
    ...parts.map((name) => `export const ${name} = guest.${name}(definition);`),
  ].join("\n");
}

// Exactly the interfaces that are used, in both directions.
export function world(declared, imports) {
  return [
    `package capstan:extension@${VERSION};`,
    "world built {",
    ...imports.map((name) => `  import ${name};`),
    "  export extension;",
    ...declared.map(([name]) => `  export ${name};`),
    "}",
    "",
  ].join("\n");
}
