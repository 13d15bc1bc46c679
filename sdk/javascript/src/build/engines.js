// The engines that can be inside of a component.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";

// componentize-js uses the second without naming it among its dependencies.
const STARLINGMONKEY = ["@bytecodealliance/componentize-js", "@bytecodealliance/preview2-shim"];
const PINNED = `${STARLINGMONKEY[0]}@0.23.0 ${STARLINGMONKEY[1]}@0.26.1`;

export function componentize(project, parts) {
  return project.engine === "quickjs" ? withQuickJs(parts) : withStarlingMonkey(parts);
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

// Not among what the SDK depends on, because it is large: those who want it name it.
async function starlingMonkey() {
  try {
    const { _setPreopens } = await import(`${STARLINGMONKEY[1]}/filesystem`);
    // Its tools are components themselves, which begin without any folder and read their input from one.
    _setPreopens({ "/": "/" });
    return await import(STARLINGMONKEY[0]);
  } catch (cause) {
    if (cause.code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new Error(`the engine starlingmonkey is not installed; run: npm install --save-dev --save-exact ${PINNED}`, { cause });
  }
}

async function withStarlingMonkey({ work, wit, world, code }) {
  const { componentize } = await starlingMonkey();
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
