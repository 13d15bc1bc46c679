import assert from "node:assert/strict";
import { test } from "node:test";
import { config, defineExtension, defineTool, image, kv, log, model, process, request, text } from "capstan-sdk";
import { callTool, describe, fakeHost, prepareArguments } from "capstan-sdk/testing";
import * as z from "zod";
import * as mini from "zod/mini";

const schema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const withTool = (run, more = {}) =>
  defineExtension({ summary: "s", tools: [defineTool({ name: "t", description: "d", parameters: schema, run, ...more })] });

test("a text is a result, and so is a value with content, details and a mark", async () => {
  assert.equal((await callTool(withTool(({ text }) => text + "!"), "t", { text: "a" })).text, "a!");
  const whole = withTool(() => ({ content: [text("a"), image("image/png", new Uint8Array([1]))], details: { n: 1 }, isError: true }));
  const result = await callTool(whole, "t", { text: "" });
  assert.deepEqual([result.text, result.content.length, result.details, result.isError], ["a", 2, { n: 1 }, true]);
  assert.equal((await callTool(withTool(() => undefined), "t", { text: "" })).text, "");
});

test("what a tool throws is the text that the model reads", async () => {
  fakeHost();
  const thrown = [
    [new Error("no such note"), "no such note"],
    ["a bare text", "a bare text"],
    [new TypeError(""), "TypeError"],
    [{ code: 7 }, '{"code":7}'],
  ];
  for (const [error, expected] of thrown) {
    const result = await callTool(
      withTool(() => {
        throw error;
      }),
      "t",
      { text: "" },
    );
    assert.deepEqual([result.text, result.isError], [expected, true]);
  }
  const mistake = await callTool(withTool(({ text }) => text.nothing.more), "t", { text: "" });
  assert.match(mistake.text, /undefined/);
});

test("a rejected promise is an error as well", async () => {
  const result = await callTool(
    withTool(async () => {
      throw new Error("later");
    }),
    "t",
    { text: "" },
  );
  assert.deepEqual([result.text, result.isError], ["later", true]);
});

for (const [name, parameters] of [
  ["zod", z.object({ text: z.string().describe("The text."), limit: z.int().default(3) })],
  ["zod/mini", mini.object({ text: mini.string().check(mini.describe("The text.")), limit: mini._default(mini.int(), 3) })],
]) {
  test(`a schema of ${name} describes, fills in and names what does not fit`, async () => {
    const extension = withTool((args) => JSON.stringify(args), { parameters });
    const described = JSON.parse(describe(extension, { toJSONSchema: z.toJSONSchema }).tools[0].parameters);
    assert.equal(described.properties.text.description, "The text.");
    assert.deepEqual(described.required, ["text"]);
    assert.equal(described.$schema, undefined);
    assert.equal((await callTool(extension, "t", { text: "a" })).text, '{"text":"a","limit":3}');
    const wrong = await callTool(extension, "t", { text: 1, limit: "x" });
    assert.equal(wrong.isError, true);
    assert.match(wrong.text, /^the arguments at `text`: .*string.*\nthe arguments at `limit`: /);
  });
}

test("old shapes of arguments are mapped before validation", async () => {
  const extension = withTool(({ text }) => text, { prepare: (args) => ({ text: args.content ?? args.text }) });
  assert.deepEqual(await prepareArguments(extension, "t", { content: "a" }), { text: "a" });
});

test("storage keeps texts, bytes and values, and every key in order", async () => {
  const host = fakeHost({ kv: { old: { n: 1 } } });
  const extension = withTool(() => {
    kv.set("text", "grün 😀");
    kv.set("bytes", new Uint8Array([0, 255]));
    kv.setJson("json", ["a", null]);
    kv.remove("old");
    kv.remove("never there");
    return JSON.stringify([kv.get("text"), [...kv.getBytes("bytes")], kv.getJson("json"), kv.get("old") ?? null, kv.keys()]);
  });
  const result = await callTool(extension, "t", { text: "" });
  assert.equal(result.text, JSON.stringify(["grün 😀", [0, 255], ["a", null], null, ["bytes", "json", "text"]]));
  assert.equal(Buffer.from(host.kv.get("text")).toString(), "grün 😀");
});

test("what was not granted says so, and its kind can be looked at", async () => {
  fakeHost({ denied: ["key-value"] });
  const extension = withTool(() => {
    try {
      return kv.get("a") ?? "nothing";
    } catch (error) {
      return `${error.name} ${error.kind}: ${error.message}`;
    }
  });
  const result = await callTool(extension, "t", { text: "" });
  assert.equal(result.text, "HostError denied: the capability `key-value` is not granted");
  const program = await callTool(withTool(() => process.run("git").stdout), "t", { text: "" });
  assert.deepEqual([program.isError, /`process`.*git/.test(program.text)], [true, true]);
});

test("programs and the model are asked through the host, which remembers", async () => {
  const host = fakeHost({ process: ({ arguments: [word] }) => `said ${word}`, model: () => "42" });
  const extension = withTool((_args, call) => {
    call.progress("half");
    log.info({ n: 1 });
    const outcome = process.run("echo", ["hello"], { environment: { LANG: "C" }, stdin: "in" });
    return `${outcome.ok} ${outcome.stdout} ${model.ask("What?", 100)}`;
  });
  assert.equal((await callTool(extension, "t", { text: "" })).text, "true said hello 42");
  assert.deepEqual(host.progress, ["half"]);
  assert.deepEqual(host.logs, [{ level: "info", message: '{"n":1}' }]);
  assert.deepEqual(host.processes[0].environment, [["LANG", "C"]]);
  assert.equal(host.modelCalls[0].messages[0].content[0].val, "What?");
});

test("the configuration is a table, and a schema fills it in", async () => {
  fakeHost({ config: { a: 1 } });
  const extension = withTool(() => JSON.stringify([config(), config(z.object({ a: z.int(), b: z.int().default(2) }))]));
  assert.equal((await callTool(extension, "t", { text: "" })).text, '[{"a":1},{"a":1,"b":2}]');
});

test("a descriptor says what there is, and what cannot be is refused", () => {
  const extension = defineExtension({
    summary: "s",
    configSchema: { type: "object" },
    requests: [request.keyValue(10, "why"), request.sessionMemory("why", { optional: true })],
    hooks: { beforeToolCall: { tools: ["b*"], priority: 3, run() {} }, turnError() {} },
    commands: { hello: { description: "Says hello.", run: () => "" } },
  });
  const described = describe(extension, { id: "x", version: "1.2.3" });
  assert.deepEqual([described.id, described.version, described.lifetime], ["x", "1.2.3", "call"]);
  assert.deepEqual(described.hooks, [
    { stage: "before-tool-call", tools: ["b*"], priority: 3, onFailure: "standard" },
    { stage: "turn-error", tools: [], priority: 0, onFailure: "standard" },
  ]);
  assert.deepEqual(described.requests, [
    { capability: { tag: "key-value", val: 10 }, reason: "why", required: true },
    { capability: { tag: "session-memory" }, reason: "why", required: false },
  ]);
  assert.deepEqual(described.commands, [{ name: "hello", description: "Says hello." }]);
  assert.throws(() => describe({ summary: "s", tool: [] }), /no field `tool`/);
  assert.throws(() => describe({ summary: "s", hooks: { beforeTool() {} } }), /no stage `beforeTool`/);
  assert.throws(() => describe(undefined), /defineExtension/);
  assert.throws(() => describe(withTool(() => "", { parameters: { type: "string" } })), /type `object`/);
});
