// What is documented is what there is.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

async function declared(name) {
  const source = await readFile(new URL(`../types/${name}.d.ts`, import.meta.url), "utf8");
  const found = source.matchAll(/^export (?:function|namespace|class|const) (\w+)/gm);
  return new Set([...found].map(([, item]) => item));
}

for (const name of ["index", "testing"]) {
  test(`the types of ${name} name every export and no other`, async () => {
    const module = await import(`../src/${name}.js`);
    assert.deepEqual(Object.keys(module).sort(), [...(await declared(name))].sort());
  });
}

test("the functions of each group are those of its types", async () => {
  const source = await readFile(new URL("../types/index.d.ts", import.meta.url), "utf8");
  const module = await import("../src/index.js");
  for (const [, group, body] of source.matchAll(/^export namespace (\w+) \{\n(.*?)^\}/gms)) {
    const functions = new Set([...body.matchAll(/^ {2}function (\w+)/gm)].map(([, item]) => item));
    assert.deepEqual(Object.keys(module[group]).sort(), [...functions].sort(), group);
  }
});
