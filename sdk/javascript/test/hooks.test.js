import assert from "node:assert/strict";
import { test } from "node:test";
import {
  abort,
  amend,
  ask,
  assistantMessage,
  block,
  keep,
  pass,
  proceed,
  replace,
  rewrite,
  summarize,
  textOf,
  userMessage,
} from "capstan-sdk";
import { askHook, compress, fakeHost, observe, parsePlan, runCommand } from "capstan-sdk/testing";

const withHook = (stage, hook) => ({ summary: "s", hooks: { [stage]: hook } });
const gate = (run) => askHook(withHook("beforeToolCall", run), "beforeToolCall", { tool: "bash", args: { command: "x" } });

test("a gate's answers are those of the contract", async () => {
  assert.deepEqual(await gate(() => pass()), { tag: "pass" });
  assert.deepEqual(await gate(() => {}), { tag: "pass" });
  assert.deepEqual(await gate((call) => block(call.args.command)), { tag: "block", val: "x" });
  assert.deepEqual(await gate(({ name }) => ask(name)), { tag: "ask", val: "bash" });
  assert.deepEqual(await gate(() => rewrite({ command: "y" })), rewrite({ command: "y" }));
});

test("a gate that throws blocks the call with its text, and logs the place", async () => {
  const host = fakeHost();
  assert.deepEqual(await gate(() => undefined.nothing), block("Cannot read properties of undefined (reading 'nothing')"));
  assert.match(host.logs[0].message, /^before-tool-call: TypeError: /);
  assert.equal(host.logs[0].level, "error");
});

test("a rewriter that throws fails, and an observer that throws is only logged", async () => {
  const fail = () => {
    throw new Error("broken");
  };
  const host = fakeHost();
  const messages = [userMessage("a")];
  await assert.rejects(askHook(withHook("beforeModel", fail), "beforeModel", { messages }), /broken/);
  await askHook(withHook("turnError", fail), "turnError", { failure: { kind: "model", message: "m" } });
  assert.deepEqual(
    host.logs.map(({ message }) => message),
    ["before-model: broken", "turn-error: broken"],
  );
});

test("rewriters see and answer messages", async () => {
  const ends = withHook("beforeModel", (messages) => (messages.length > 1 ? rewrite(messages.slice(-1)) : proceed()));
  const messages = [userMessage("a"), assistantMessage("b")];
  assert.deepEqual(await askHook(ends, "beforeModel", { messages }), rewrite([assistantMessage("b")]));
  assert.deepEqual(await askHook(ends, "beforeModel", { messages: [] }), proceed());
  const stop = withHook("beforeTurn", (message) => abort(textOf(message)));
  assert.deepEqual(await askHook(stop, "beforeTurn", { message: userMessage("why") }), abort("why"));
});

test("a result is amended field by field", async () => {
  const shorter = withHook("afterToolCall", {
    tools: ["bash"],
    run: (call, result) => amend({ text: textOf(result).slice(0, 3), details: { was: call.args.command } }),
  });
  const answer = await askHook(shorter, "afterToolCall", { tool: "bash", args: { command: "ls" }, result: "abcdef" });
  assert.deepEqual(answer.content, [{ tag: "text", val: "abc" }]);
  assert.deepEqual([answer.details, answer.isError, answer.terminate], ['{"was":"ls"}', undefined, false]);
  assert.throws(() => amend({ text: "a", content: [] }), TypeError);
});

test("plan parsers, compressors, commands and observers play their parts", async () => {
  const seen = [];
  const extension = {
    summary: "s",
    planParsers: {
      lines(raw) {
        if (raw === "") throw new Error("line 1: empty");
        return raw.split("\n");
      },
    },
    compressors: { half: (messages, { usedTokens }) => (usedTokens < 10 ? keep() : summarize(messages.length - 1, "facts")) },
    commands: { hello: { description: "d", run: (line) => `hello ${line}` } },
    observer: (event) => void seen.push(event.type),
  };
  assert.deepEqual(await parsePlan(extension, "lines", "a\nb"), ["a", "b"]);
  await assert.rejects(parsePlan(extension, "lines", ""), /line 1/);
  await assert.rejects(parsePlan(extension, "toString", ""), /no plan parser `toString`/);
  assert.deepEqual(await compress(extension, "half", []), keep());
  assert.deepEqual(await compress(extension, "half", [userMessage("a")], { usedTokens: 10 }), summarize(0, "facts"));
  assert.deepEqual(replace([]), { tag: "replace", val: [] });
  assert.equal(await runCommand(extension, "hello", "you"), "hello you");
  await observe(extension, { type: "turn_start" });
  assert.deepEqual(seen, ["turn_start"]);
});
