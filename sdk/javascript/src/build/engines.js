// The engines that can be inside of a component.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const STARLINGMONKEY = "@bytecodealliance/componentize-js";

export function componentize(project, parts) {
  return project.engine === "quickjs" ? withQuickJs(parts) : withStarlingMonkey(project, parts);
}

// Without async, so that it runs where the component model's async is off; without WASI, for it needs none.
async function withQuickJs({ wit, world, code }) {
  const { componentize } = await import("componentize-qjs");
  const { component } = await componentize({
    witPath: wit,
    world,
    jsSource: code,
    sync: true,
    optSize: true,
    stubWasi: true,
  });
  return component;
}

async function withStarlingMonkey(project, { work, wit, world, code }) {
  let path;
  try {
    path = project.require.resolve(STARLINGMONKEY);
  } catch (cause) {
    throw new Error(`the engine starlingmonkey is not installed; run: npm install --save-dev --save-exact ${STARLINGMONKEY}@0.23.0`, { cause });
  }
  const { componentize } = await import(pathToFileURL(path));
  const source = join(work, "extension.js");
  await writeFile(source, code);
  const { component } = await componentize({
    sourcePath: source,
    witPath: wit,
    worldName: world,
    // An event loop and `fetch`; the host decides what they reach.
    disableFeatures: ["fetch-event"],
  });
  return component;
}
