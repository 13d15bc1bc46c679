import assert from "node:assert/strict";
import { test } from "node:test";
import { callTool, describe, fakeHost, runCommand } from "capstan-sdk/testing";
import extension from "./extension.ts";

const call = (args: Record<string, unknown>) => callTool(extension, "todo", args);

test("the list grows, is worked off, and shrinks", async () => {
  const host = fakeHost();
  assert.equal((await call({ action: "list" })).text, "Nothing to do.");
  const added = await call({ action: "add", items: ["look  around\n", "act"] });
  assert.equal(added.text, "2 open, 0 done\n[ ] 1 look around\n[ ] 2 act");
  assert.equal((await call({ action: "done", ids: [1] })).text, "1 open, 1 done\n[x] 1 look around\n[ ] 2 act");
  assert.equal((await call({ action: "reopen", ids: [1] })).text.split("\n")[0], "2 open, 0 done");
  assert.equal((await call({ action: "remove", ids: [1, 2] })).text, "Nothing to do.");
  // A number is not used again.
  assert.match((await call({ action: "add", items: ["next"] })).text, /\[ \] 3 next/);
  assert.deepEqual([...host.kv.keys()], ["list:default"]);
});

test("what cannot be done changes nothing and says what would help", async () => {
  fakeHost({ kv: { "list:default": { next: 2, items: [{ id: 1, text: "act", done: false }] } } });
  const cases: [Record<string, unknown>, RegExp][] = [
    [{ action: "done", ids: [1, 7] }, /no item 7\n1 open, 0 done\n\[ \] 1 act/],
    [{ action: "done" }, /`ids` is empty/],
    [{ action: "add" }, /`items` is empty/],
    [{ action: "add", items: ["fine", " \n"] }, /without text/],
    [{ action: "add", items: ["x".repeat(501)] }, /at most 500 characters/],
    [{ action: "add", items: Array.from({ length: 200 }, String) }, /at most 200 items/],
  ];
  for (const [args, expected] of cases) {
    const result = await call(args);
    assert.ok(result.isError, JSON.stringify(args));
    assert.match(result.text, expected);
  }
  assert.equal((await call({ action: "list" })).text, "1 open, 0 done\n[ ] 1 act");
});

test("the person's command is about the same list", async () => {
  fakeHost();
  await call({ action: "add", items: ["act"] });
  assert.equal(await runCommand(extension, "todo"), "1 open, 0 done\n[ ] 1 act");
  assert.equal(await runCommand(extension, "todo", "add  call Ada, today"), "2 open, 0 done\n[ ] 1 act\n[ ] 2 call Ada, today");
  assert.match(await runCommand(extension, "todo", "done 1, 2"), /^0 open, 2 done/);
  assert.match(await runCommand(extension, "todo", "reopen 2"), /^1 open/);
  assert.equal(await runCommand(extension, "todo", "clear"), "1 open, 0 done\n[ ] 2 call Ada, today");
  assert.equal(await runCommand(extension, "todo", "remove 2"), "Nothing to do.");
  await assert.rejects(runCommand(extension, "todo", "done it"), /`it` is no number/);
  await assert.rejects(runCommand(extension, "todo", "finish 1"), /\/todo add TEXT/);
});

test("a project can have a list of its own", async () => {
  const host = fakeHost({ config: { list: "capstan" } });
  await call({ action: "add", items: ["act"] });
  assert.deepEqual([...host.kv.keys()], ["list:capstan"]);
});

test("without its storage it says so", async () => {
  fakeHost({ denied: ["key-value"] });
  const result = await call({ action: "list" });
  assert.ok(result.isError);
  assert.match(result.text, /`key-value` is not granted/);
});

test("it asks for its storage and nothing else", () => {
  const { requests, tools } = describe(extension);
  assert.deepEqual(requests.map(({ capability }) => capability.tag), ["key-value"]);
  assert.equal(tools[0]?.execution, "sequential");
});
