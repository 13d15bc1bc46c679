import assert from "node:assert/strict";
import { test } from "node:test";
import { callTool } from "capstan-sdk/testing";
import extension from "./extension.js";

test("words are what stands between spaces", async () => {
  const result = await callTool(extension, "count_words", { text: "one  two\nthree" });
  assert.equal(result.text, "3 words");
});

test("an empty text is an error that says what to do", async () => {
  const result = await callTool(extension, "count_words", { text: "" });
  assert.equal(result.isError, true);
  assert.match(result.text, /give the text/);
});
