import assert from "node:assert/strict";
import { test } from "node:test";
import { pass } from "capstan-sdk";
import { askHook, fakeHost } from "capstan-sdk/testing";
import extension from "./extension.js";

const verdict = (path) => askHook(extension, "beforeToolCall", { tool: "write", args: { path, content: "" } });

test("a lock file is protected and another is not", async () => {
  fakeHost();
  assert.equal((await verdict("Cargo.lock")).tag, "block");
  assert.deepEqual(await verdict("src/main.rs"), pass());
});

test("the configuration decides what is protected", async () => {
  fakeHost({ config: { protected: [".gen.ts"] } });
  assert.equal((await verdict("api.gen.ts")).tag, "block");
  assert.deepEqual(await verdict("Cargo.lock"), pass());
});
