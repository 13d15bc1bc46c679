import assert from "node:assert/strict";
import { test } from "node:test";
import { keep, userMessage } from "capstan-sdk";
import { compress } from "capstan-sdk/testing";
import extension from "./extension.ts";

const messages = Array.from({ length: 10 }, (_, n) => userMessage(`message ${n}`));
const at = (usedTokens: number) =>
  compress(extension, "three-quarters", messages, { windowTokens: 8000, usedTokens, reserveTokens: 1000 });

test("a conversation is left alone until the window fills", async () => {
  assert.deepEqual(await at(2000), keep());
  const action = await at(6000);
  assert.ok(action.tag === "summarize");
  assert.equal(action.val.firstKept, 4);
});
