// The exports of the component: one function for each interface of the contract, so that the bundle holds those alone that the
// extension plays. The same functions serve the author's tests.

import { messageOf, withPlaces } from "./errors.js";
import { text } from "./messages.js";
import { parseWith } from "./schema.js";
import { isCancelled, progress } from "./services/call.js";
import * as log from "./services/log.js";

// Applies `good` or `bad` to what `produce` answers, now or, where the engine has an event loop, once its promise is settled.
function settle(produce, good, bad) {
  try {
    const value = produce();
    if (typeof value?.then !== "function") return good(value);
    if (!globalThis.__capstanEngine?.waits) {
      throw new TypeError("a promise was answered, and QuickJS cannot wait for one; answer the value itself");
    }
    return value.then(good).catch(bad);
  } catch (error) {
    return bad(error);
  }
}

// Errors that the engine throws by itself, mistakes of the code rather than answers for the model.
const MISTAKES = [TypeError, ReferenceError, RangeError, SyntaxError];

// An error of the contract is a bare text, so the log keeps the place.
function refuse(error) {
  if (MISTAKES.some((mistake) => error instanceof mistake)) log.warn(withPlaces(error));
  else if (error instanceof Error) log.debug(withPlaces(error));
  throw messageOf(error);
}

const same = (value) => value;

function named(table, name, what) {
  const found = Object.hasOwn(table, name) ? table[name] : undefined;
  if (found === undefined) throw new Error(`this extension has no ${what} \`${name}\``);
  return found;
}

function parsed(json, what) {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new Error(`${what} are no JSON: ${error.message}`);
  }
}

const toolOf = (definition, name) => {
  const tool = definition.tools.find((tool) => tool.name === name);
  if (tool === undefined) throw new Error(`this extension has no tool \`${name}\``);
  return tool;
};

export function toResult(output) {
  const given = typeof output === "object" && output !== null ? output : { content: output ?? "" };
  const { content = "", details, isError = false } = given;
  return {
    content: Array.isArray(content) ? content : [text(content)],
    details: details === undefined ? undefined : JSON.stringify(details),
    isError,
  };
}

export const tools = (definition) => ({
  call: (context, call) =>
    settle(
      () => {
        const tool = toolOf(definition, call.name);
        const args = parseWith(tool.parameters, parsed(call.arguments, "the arguments"), "the arguments");
        return tool.run(args, { id: call.id, tool: call.name, context, progress, isCancelled });
      },
      toResult,
      refuse,
    ),
});

export const toolArguments = (definition) => ({
  prepare: (name, json) =>
    settle(
      () => {
        const { prepare = same } = toolOf(definition, name);
        return prepare(parsed(json, "the arguments"));
      },
      (args) => JSON.stringify(args) ?? "null",
      refuse,
    ),
});

const runOf = (hook) => (typeof hook === "function" ? hook : hook.run.bind(hook));

const withArgs = (call) => ({ ...call, args: parsed(call.arguments, "the arguments") });

// A gate that cannot decide blocks this call, with its reason, and decides about the next one again.
export const beforeToolCall = (definition) => ({
  run: (context, call) =>
    settle(
      () => runOf(definition.hooks.beforeToolCall)(withArgs(call), context),
      (verdict = { tag: "pass" }) =>
        verdict.tag === "rewrite" ? { tag: "rewrite", val: JSON.stringify(verdict.val) } : verdict,
      (error) => {
        log.error(`before-tool-call: ${withPlaces(error)}`);
        return { tag: "block", val: messageOf(error) };
      },
    ),
});

// A rewriter that cannot decide fails, so that the hook's failure rule applies.
const rewriter = (stage, produce, answer) =>
  settle(produce, answer, (error) => {
    log.error(`${stage}: ${withPlaces(error)}`);
    throw error;
  });

const orProceed = (verdict = { tag: "proceed" }) => verdict;

export const beforeTurn = (definition) => ({
  run: (context, input) => rewriter("before-turn", () => runOf(definition.hooks.beforeTurn)(input, context), orProceed),
});

export const beforeModel = (definition) => ({
  run: (context, messages) =>
    rewriter("before-model", () => runOf(definition.hooks.beforeModel)(messages, context), orProceed),
});

export const afterModel = (definition) => ({
  run: (context, response) =>
    rewriter("after-model", () => runOf(definition.hooks.afterModel)(response, context), orProceed),
});

export const afterToolCall = (definition) => ({
  run: (context, call, outcome) =>
    rewriter("after-tool-call", () => runOf(definition.hooks.afterToolCall)(withArgs(call), outcome, context), same),
});

// An observer's failure changes nothing for anyone, so it only goes to the log.
const observed = (stage, produce) =>
  settle(
    produce,
    () => undefined,
    (error) => log.error(`${stage}: ${withPlaces(error)}`),
  );

export const modelError = (definition) => ({
  run: (context, failure) => observed("model-error", () => runOf(definition.hooks.modelError)(failure, context)),
});

export const toolError = (definition) => ({
  run: (context, call, failure) =>
    // The arguments may be what failed, so they are not parsed here.
    observed("tool-error", () => runOf(definition.hooks.toolError)(call, failure, context)),
});

export const afterTurn = (definition) => ({
  run: (context, answer, results) =>
    observed("after-turn", () => runOf(definition.hooks.afterTurn)(answer, results, context)),
});

export const turnError = (definition) => ({
  run: (context, failure) => observed("turn-error", () => runOf(definition.hooks.turnError)(failure, context)),
});

export const planStep = (definition) => ({
  run: (context, step, status) =>
    observed("plan-step", () => runOf(definition.hooks.planStep)(step, status, context)),
});

export const sessionLifecycle = (definition) => ({
  run: (sessionId, event) =>
    observed("session-lifecycle", () => runOf(definition.hooks.sessionLifecycle)(sessionId, event)),
});

export const observer = (definition) => ({
  run: (event) => observed("observer", () => definition.observer(JSON.parse(event))),
});

const stepsOf = (plan) => ({
  steps: (Array.isArray(plan) ? plan : plan.steps).map((step) =>
    typeof step === "string" ? { description: step } : step,
  ),
});

export const planParser = (definition) => ({
  parse: (name, raw, goal) =>
    settle(() => named(definition.planParsers, name, "plan parser")(raw, goal), stepsOf, refuse),
});

export const compressor = (definition) => ({
  compress: (name, messages, context) =>
    settle(
      () => named(definition.compressors, name, "compressor")(messages, context),
      (action = { tag: "none" }) => action,
      refuse,
    ),
});

export const memory = (definition) => ({
  save: (entry) =>
    settle(() => definition.memory.save({ ...entry, metadata: JSON.parse(entry.metadata) }), same, refuse),
  search: (query) =>
    settle(
      () => definition.memory.search({ ...query, filter: query.filter ? JSON.parse(query.filter) : undefined }),
      (entries) => entries.map((entry) => ({ ...entry, metadata: JSON.stringify(entry.metadata ?? {}) })),
      refuse,
    ),
  delete: (id) => settle(() => definition.memory.delete(id), () => undefined, refuse),
});

export const commands = (definition) => ({
  run: (name, args) =>
    settle(() => named(definition.commands, name, "command").run(args), (shown = "") => String(shown), refuse),
});
