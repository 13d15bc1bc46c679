// What TypeScript infers and what it refuses; only compiled, never run.

import * as z from "zod";
import * as mini from "zod/mini";
import {
  type FromJsonSchema,
  type Message,
  amend,
  ask,
  block,
  config,
  defineExtension,
  defineHook,
  defineTool,
  keep,
  kv,
  pass,
  proceed,
  process,
  replace,
  request,
  rewrite,
  summarize,
  text,
} from "capstan-sdk";
import { askHook, callTool, describe, fakeHost } from "capstan-sdk/testing";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_is: Same<A, B>): void => {};

// A JSON Schema gives the type of the arguments.
type Inferred = FromJsonSchema<{
  readonly type: "object";
  readonly properties: {
    readonly name: { readonly type: "string" };
    readonly depth: { readonly type: "integer" };
    readonly kind: { readonly enum: readonly ["a", "b"] };
    readonly tags: { readonly type: "array"; readonly items: { readonly type: "string" } };
    readonly either: { readonly anyOf: readonly [{ readonly type: "null" }, { readonly type: "boolean" }] };
    readonly nested: { readonly type: "object"; readonly properties: { readonly x: { readonly type: "number" } } };
  };
  readonly required: readonly ["name", "kind"];
}>;
same<
  Inferred,
  {
    name: string;
    kind: "a" | "b";
    depth?: number;
    tags?: string[];
    either?: null | boolean;
    nested?: { x?: number };
  }
>(true);

const plain = defineTool({
  name: "plain",
  description: "d",
  parameters: {
    type: "object",
    properties: { text: { type: "string" }, count: { type: "integer" } },
    required: ["text"],
  },
  run(args, call) {
    same<typeof args, { text: string; count?: number }>(true);
    call.progress(args.text);
    // @ts-expect-error there is no such argument
    void args.missing;
    return { content: [text(args.text)], details: { length: args.text.length } };
  },
});

const zod = defineTool({
  name: "zod",
  description: "d",
  parameters: z.object({ text: z.string(), limit: z.int().default(3) }),
  run(args) {
    same<typeof args, { text: string; limit: number }>(true);
    return args.text;
  },
});

const small = defineTool({
  name: "mini",
  description: "d",
  parameters: mini.object({ text: mini.optional(mini.string()) }),
  run: (args) => args.text ?? "",
});

defineTool({
  name: "wrong",
  description: "d",
  parameters: { type: "object" },
  // @ts-expect-error a tool answers text or an object
  run: () => 7,
});

const guard = defineHook("beforeToolCall", {
  tools: ["bash"],
  run(call, context) {
    if (context.round > 3) return ask("Still?");
    if (call.args.command === "x") return rewrite({ command: "y" });
    return call.name === "bash" ? block("no") : pass();
  },
});

const extension = defineExtension({
  summary: "s",
  tools: [plain, zod, small],
  requests: [
    request.keyValue(1000, "why"),
    request.http("https://example.com", "why", { methods: ["GET"], optional: true }),
    request.power("rewrite-result", "why"),
    // @ts-expect-error there is no such power
    request.power("grant", "why"),
  ],
  hooks: {
    beforeToolCall: guard,
    afterToolCall: (call, result) => (result.isError ? undefined : amend({ text: call.name, isError: false })),
    beforeModel: (messages) => (messages.length > 3 ? rewrite(messages.slice(1)) : proceed()),
    // @ts-expect-error a gate's answer does not fit a rewriter
    beforeTurn: () => block("no"),
    turnError(failure) {
      same<typeof failure.kind, "model" | "session" | "tool" | "limit" | "hook" | "memory" | "plan" | "config" | "other">(
        true,
      );
    },
  },
  planParsers: { lines: (raw) => raw.split("\n") },
  compressors: {
    half: (messages: Message[], { usedTokens, windowTokens }) =>
      usedTokens * 2 < windowTokens ? keep() : messages.length > 9 ? summarize(4) : replace(messages.slice(2)),
  },
  commands: { hello: { description: "Says hello.", run: (line) => `hello ${line}` } },
});

defineExtension({
  summary: "s",
  // @ts-expect-error there is no such part
  hocks: {},
});

const table = config({ type: "object", properties: { limit: { type: "integer" } } });
same<typeof table, { limit?: number }>(true);
same<ReturnType<typeof config>, Record<string, unknown>>(false);
const items: string[] | undefined = kv.getJson<string[]>("items");
const output: string = process.run("git", ["log"], { directory: "/workspace" }).stdout;

export async function tested(): Promise<void> {
  const host = fakeHost({ config: { limit: 3 }, kv: { items }, process: () => ({ exitCode: 1, stderr: output }) });
  const result = await callTool(extension, "plain", { text: "a" });
  same<typeof result.text, string>(true);
  const verdict = await askHook(extension, "beforeToolCall", { tool: "bash", args: {} });
  if (verdict.tag === "block") same<typeof verdict.val, string>(true);
  // @ts-expect-error this stage is asked about messages
  await askHook(extension, "beforeModel", { tool: "bash", args: {} });
  void [host.logs, describe(extension).tools];
}
