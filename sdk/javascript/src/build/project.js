// The project: its package.json with the `capstan` table.

import { access, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const ENGINES = ["quickjs", "starlingmonkey"];

export async function readProject(folder) {
  const manifest = join(folder, "package.json");
  const { name, version = "0.0.0", capstan = {} } = JSON.parse(await readFile(manifest, "utf8"));
  const { entry, engine = "quickjs", ...unknown } = capstan;
  const stranger = Object.keys(unknown)[0];
  if (stranger) throw new Error(`the \`capstan\` table of ${manifest} has no field \`${stranger}\`; it has entry, engine`);
  if (!entry) throw new Error(`${manifest} names no entry; add "capstan": { "entry": "src/extension.js" }`);
  if (!ENGINES.includes(engine)) throw new Error(`\`${engine}\` is no engine; it is one of ${ENGINES.join(", ")}`);
  const file = resolve(folder, entry);
  await access(file).catch(() => {
    throw new Error(`${file} is not there; \`entry\` in the \`capstan\` table of package.json names it`);
  });
  return { folder, id: name?.replace(/^@.*\//, ""), version, entry: file, engine, require: createRequire(manifest) };
}

// What turns schemas of zod/mini into JSON Schema, where the project has zod.
export async function zodOf(project) {
  let path;
  try {
    path = project.require.resolve("zod");
  } catch (error) {
    if (error.code === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
  return (await import(pathToFileURL(path))).toJSONSchema;
}
