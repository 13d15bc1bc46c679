// The build step, over real projects.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { authorLines } from "../src/build/lines.js";
import { placesOf } from "../src/errors.js";

const sdk = fileURLToPath(new URL("..", import.meta.url));
const root = await mkdtemp(join(tmpdir(), "capstan-sdk-test-"));
after(() => rm(root, { recursive: true }));

let made = 0;

async function build(files, capstan = { entry: "extension.ts" }) {
  const folder = join(root, `project-${made++}`);
  await mkdir(join(folder, "node_modules"), { recursive: true });
  await symlink(sdk, join(folder, "node_modules/capstan-sdk"));
  const manifest = { name: "@ada/tiny", version: "1.2.3", type: "module", capstan };
  for (const [name, text] of Object.entries({ "package.json": JSON.stringify(manifest), ...files })) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  const out = join(folder, "out.wasm");
  const step = join(folder, "node_modules/capstan-sdk/bin/capstan-sdk.js");
  const ran = spawnSync(process.execPath, [step, "build", "--wit", join(sdk, "../../wit/v0.1"), "--out", out], {
    cwd: folder,
    encoding: "utf8",
  });
  return { code: ran.status, said: ran.stderr, component: ran.status === 0 ? await readFile(out) : undefined };
}

const module = (definition) => `import { defineExtension, kv, pass } from "capstan-sdk";
export default defineExtension({ summary: "s", ${definition} });`;

test("a component exports what is declared, imports what is used, and says what it is", async () => {
  const { code, said, component } = await build({
    "extension.ts": module(`hooks: { beforeToolCall: () => { kv.set("a", "b"); return pass(); } }`),
  });
  assert.equal(code, 0, said);
  assert.deepEqual([...component.subarray(0, 8)], [0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]);
  const has = (text) => component.includes(`capstan:extension/${text}@0.1.0`);
  assert.deepEqual(["before-tool-call", "extension", "key-value", "log"].map(has), [true, true, true, true]);
  assert.deepEqual(["tools", "observer", "process", "model"].map(has), [false, false, false, false]);
  assert.ok(component.includes('"tiny"') && component.includes('"1.2.3"'));
  assert.ok(component.length < 1.3e6, `${component.length} bytes`);
});

test("what cannot be built is told in one line that says what to do", async () => {
  const source = { "extension.ts": module("") };
  const cases = [
    [await build({}, { entry: "none.ts" }), /none\.ts is not there/],
    [await build(source, {}), /names no entry/],
    [await build(source, { entry: "extension.ts", engin: "quickjs" }), /no field `engin`/],
    [await build(source, { entry: "extension.ts", engine: "v8" }), /`v8` is no engine/],
    [await build({ "extension.ts": "export const a = 1;" }), /export default defineExtension/],
    [await build({ "extension.ts": "export default {" }), /extension\.ts:1:16/],
    [await build({ "extension.ts": module("tool: []") }), /no field `tool`/],
    [
      await build({ "extension.ts": module(`hooks: { beforeToolCall: async () => pass() }`) }),
      /async functions cannot run in QuickJS: hook `beforeToolCall`/,
    ],
    [await build(source, { entry: "extension.ts", engine: "starlingmonkey" }), /npm install --save-dev/],
  ];
  for (const [{ code, said }, expected] of cases) {
    assert.equal(code, 1);
    assert.match(said, expected);
  }
});

test("a module that fails while it is loaded is shown with its place", async () => {
  const { said } = await build({ "src/extension.ts": "const a: string = '';\n\nthrow new Error('at the top');" }, { entry: "src/extension.ts" });
  assert.match(said, /fails while it is loaded/);
  assert.match(said, /at the top/);
  assert.match(said, /src\/extension\.ts:3/);
});

test("lines of the bundle lead to lines of the author's files", () => {
  // Two lines of `lib.js`, then three of `own.ts` that begin at its line 2.
  const map = { sources: ["lib.js", "own.ts"], mappings: ["AAAA", "AACA", "ACAA", "AACA", "AACA"].join(";") };
  const lines = authorLines(map, (source) => (source === "own.ts" ? "src/own.ts" : undefined));
  assert.deepEqual(lines, { files: ["src/own.ts"], runs: [[3, 3, 0, 2]] });
  globalThis.__capstanLines = lines;
  const quickjs = { stack: "    at inner (/extension.js:4:7)\n    at lib (/extension.js:1:1)\n    at /extension.js:5:1" };
  assert.deepEqual(placesOf(quickjs), ["inner (src/own.ts:3)", "(top level) (src/own.ts:4)"]);
  assert.deepEqual(placesOf({ stack: "inner@extension.js:4:7\nlib@extension.js:1:1" }), ["inner (src/own.ts:3)"]);
  delete globalThis.__capstanLines;
});
