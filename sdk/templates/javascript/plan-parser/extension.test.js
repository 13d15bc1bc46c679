import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePlan } from "capstan-sdk/testing";
import extension from "./extension.js";

test("numbered lines are steps and others are not", async () => {
  const raw = "Here is the plan:\n\n1. Read the file\n2) Change it\n2026 was a year.\n";
  assert.deepEqual(await parsePlan(extension, "numbered", raw), ["Read the file", "Change it"]);
});

test("a text without steps is no plan", async () => {
  await assert.rejects(parsePlan(extension, "numbered", "I would rather not."), /no numbered lines/);
});
