// A fake host for `node --test`. Documented in ../types/testing.d.ts.

import { install } from "#host";
import { describe as descriptorOf } from "./describe.js";
import * as guest from "./guest.js";
import { assistantMessage, textOf } from "./messages.js";
import { encodeUtf8 } from "./utf8.js";

// Promises can be tested natively whatever the engine; the build refuses those that the engine cannot wait for.
globalThis.__capstanEngine ??= { waits: true };

const bytes = (value = "") => (typeof value === "string" ? encodeUtf8(value) : value);

const ran = (outcome) => {
  const { exitCode = 0, stdout, stderr, truncated = false, timedOut = false } =
    typeof outcome === "string" ? { stdout: outcome } : outcome;
  return { exitCode, stdout: bytes(stdout), stderr: bytes(stderr), truncated, timedOut };
};

const answered = (answer) =>
  typeof answer === "string"
    ? { message: assistantMessage(answer), stopReason: { tag: "stop" }, usage: undefined, reasoningSummary: undefined }
    : answer;

export function fakeHost({ config = {}, kv = {}, sessionMemory = {}, process, model, cancelled = false, denied = [] } = {}) {
  const state = install({
    config,
    cancelled,
    denied: new Set(denied),
    kv: new Map(Object.entries(kv).map(([key, value]) => [key, stored(value)])),
    sessionMemory: new Map(Object.entries(sessionMemory)),
    process: process && ((command) => ran(process(command))),
    model: model && ((messages, maxTokens) => answered(model(messages, maxTokens))),
  });
  return {
    ...state.recorded,
    kv: state.kv,
    sessionMemory: state.sessionMemory,
    abort() {
      state.cancelled = true;
    },
  };
}

const stored = (value) =>
  value instanceof Uint8Array ? value : bytes(typeof value === "string" ? value : JSON.stringify(value));

export const context = (changes = {}) => ({ sessionId: "test", turn: 0, round: 0, model: "test/model", ...changes });

const callOf = (tool, args) => ({ id: "call-1", name: tool, arguments: JSON.stringify(args) });

export async function callTool(extension, name, args = {}, where = {}) {
  let result;
  try {
    result = await guest.tools(extension).call(context(where), callOf(name, args));
  } catch (error) {
    // The host makes the same of an error text.
    if (typeof error !== "string") throw error;
    result = { content: [{ tag: "text", val: error }], details: undefined, isError: true };
  }
  const details = result.details === undefined ? undefined : JSON.parse(result.details);
  return { text: textOf(result), content: result.content, details, isError: result.isError };
}

export const prepareArguments = async (extension, name, args) =>
  JSON.parse(await guest.toolArguments(extension).prepare(name, JSON.stringify(args)));

const asked = {
  beforeTurn: (hook, { message }, where) => hook.run(where, message),
  beforeModel: (hook, { messages }, where) => hook.run(where, messages),
  afterModel: (hook, { response }, where) => hook.run(where, response),
  modelError: (hook, { failure }, where) => hook.run(where, failure),
  async beforeToolCall(hook, { tool, args }, where) {
    const verdict = await hook.run(where, callOf(tool, args));
    return verdict.tag === "rewrite" ? { tag: "rewrite", val: JSON.parse(verdict.val) } : verdict;
  },
  afterToolCall: (hook, { tool, args, result }, where) => hook.run(where, callOf(tool, args), guest.toResult(result)),
  toolError: (hook, { tool, args, failure }, where) => hook.run(where, callOf(tool, args), failure),
  afterTurn: (hook, { message, results = [] }, where) => hook.run(where, message, results.map(guest.toResult)),
  turnError: (hook, { failure }, where) => hook.run(where, failure),
  planStep: (hook, { step, status }, where) => hook.run(where, step, status),
  sessionLifecycle: (hook, { sessionId = "test", event }) => hook.run(sessionId, event),
};

export async function askHook(extension, stage, input, where = {}) {
  if (extension.hooks?.[stage] === undefined) throw new Error(`the extension has no hook \`${stage}\``);
  return asked[stage](guest[stage](extension), input, context(where));
}

export const observe = async (extension, event) => guest.observer(extension).run(JSON.stringify(event));

// The guest throws a bare text, which `assert.rejects` could not look into.
const withError = (promise) =>
  promise.catch((error) => {
    throw typeof error === "string" ? new Error(error) : error;
  });

export const parsePlan = (extension, name, raw, goal = "") =>
  withError((async () => (await guest.planParser(extension).parse(name, raw, goal)).steps.map((step) => step.description))());

export const compress = (extension, name, messages, changes = {}) =>
  withError(
    (async () => {
      const whole = { sessionId: "test", windowTokens: 0, usedTokens: 0, reserveTokens: 0, instructions: undefined, ...changes };
      return guest.compressor(extension).compress(name, messages, whole);
    })(),
  );

export const runCommand = (extension, name, line = "") =>
  withError((async () => guest.commands(extension).run(name, line))());

export const describe = (extension, { id = "test", version = "0.0.0", toJSONSchema } = {}) =>
  descriptorOf(extension, { id, version, toJSONSchema });
