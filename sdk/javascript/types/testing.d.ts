/**
 * Tests of an extension with `node --test`: its functions are plain functions, and this is the host around them.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { test } from "node:test";
 * import { callTool, fakeHost } from "capstan-sdk/testing";
 * import extension from "./extension.ts";
 *
 * test("counts", async () => {
 *   const host = fakeHost({ kv: { total: "3" } });
 *   const result = await callTool(extension, "count_words", { text: "one two" });
 *   assert.equal(result.text, "2 words");
 *   assert.deepEqual(host.logs, []);
 * });
 * ```
 *
 * @module
 */

import type {
  Action,
  Amendment,
  Compaction,
  Content,
  Context,
  Descriptor,
  Extension,
  Failure,
  GateVerdict,
  Message,
  ModelResponse,
  RewriteVerdict,
  SessionEvent,
  Stages,
  StepStatus,
  ToolOutput,
  contract,
} from "./index.js";

/** A program that an extension wants to run. */
export type ProcessCommand = contract.process.Command;

/** What a fake program came to: its output alone, or more. Without `exitCode` it succeeded. */
export type ProcessOutcome =
  | string
  | {
      exitCode?: number | null;
      stdout?: string | Uint8Array;
      stderr?: string | Uint8Array;
      truncated?: boolean;
      timedOut?: boolean;
    };

/** What a fake host begins with. */
export interface FakeHostOptions {
  /** The extension's table of the configuration. */
  config?: Record<string, unknown>;
  /** What the storage already holds: texts, bytes, or values that are stored as JSON. */
  kv?: Record<string, unknown>;
  /** What the session memory already holds. */
  sessionMemory?: Record<string, string>;
  /** Grants every program and answers for it. Without it programs are denied. */
  process?: (command: ProcessCommand) => ProcessOutcome;
  /** Grants the model and answers for it. Without it the model is denied. */
  model?: (messages: readonly Message[], maxTokens: number) => string | ModelResponse;
  /** The user has aborted. */
  cancelled?: boolean;
  /** Capabilities that the user did not grant. Storage and session memory are granted unless they stand here. */
  denied?: readonly ("key-value" | "session-memory" | "process" | "model")[];
}

/** A fake host and what it was told. */
export interface FakeHost {
  readonly logs: { level: contract.log.Level; message: string }[];
  readonly progress: string[];
  readonly events: { label: string; data: unknown }[];
  /** Programs that were run. */
  readonly processes: ProcessCommand[];
  readonly modelCalls: { messages: Message[]; maxTokens: number }[];
  /** What the storage holds now. */
  readonly kv: Map<string, Uint8Array>;
  readonly sessionMemory: Map<string, string>;
  /** From now on the user has aborted. */
  abort(): void;
}

/** Puts a fresh host in place; it serves until the next one. Call it at the start of each test. */
export function fakeHost(options?: FakeHostOptions): FakeHost;

/** The first round of the first turn of a session, with changes. */
export function context(changes?: Partial<Context>): Context;

/** What the model reads of a call, and what screens get. */
export interface CalledTool {
  /** The text of the content. */
  text: string;
  content: Content[];
  // Its shape is the tool's own.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  details: any;
  isError: boolean;
}

/**
 * Calls a tool as the host does: the arguments travel as JSON text. An error that the tool throws becomes a result with `isError`. The
 * host also enforces a plain JSON Schema; here it is not, so show that with a recorded case.
 */
export function callTool(
  extension: Extension,
  name: string,
  args?: unknown,
  context?: Partial<Context>,
): Promise<CalledTool>;

/** What `prepare` of a tool makes of arguments. */
export function prepareArguments(extension: Extension, name: string, args: unknown): Promise<unknown>;

/** What the hooks of each stage are asked about. */
export interface Questions {
  beforeTurn: { message: Message };
  beforeModel: { messages: Message[] };
  afterModel: { response: ModelResponse };
  modelError: { failure: Failure };
  beforeToolCall: { tool: string; args: unknown };
  afterToolCall: { tool: string; args: unknown; result: ToolOutput };
  toolError: { tool: string; args: unknown; failure: Failure };
  afterTurn: { message: Message; results?: ToolOutput[] };
  turnError: { failure: Failure };
  planStep: { step: number; status: StepStatus };
  sessionLifecycle: { sessionId?: string; event: SessionEvent };
}

/** What they answer. */
export interface Answers {
  beforeTurn: RewriteVerdict<Message>;
  beforeModel: RewriteVerdict<Message[]>;
  afterModel: RewriteVerdict<ModelResponse>;
  beforeToolCall: GateVerdict;
  afterToolCall: Amendment | undefined;
}

/**
 * Asks the hook of a stage, whatever its filter says. Compare the answer with a builder's:
 * `assert.deepEqual(await askHook(extension, "beforeToolCall", { tool: "bash", args }), block("no"))`.
 */
export function askHook<K extends keyof Stages>(
  extension: Extension,
  stage: K,
  input: Questions[K],
  context?: Partial<Context>,
): Promise<K extends keyof Answers ? Answers[K] : undefined>;

/** Shows the observer an event. */
export function observe(extension: Extension, event: { type: string; [field: string]: unknown }): Promise<void>;

/** The steps that a plan parser finds. Rejects with its error. */
export function parsePlan(extension: Extension, name: string, raw: string, goal?: string): Promise<string[]>;

/** What a compressor answers. Rejects with its error. */
export function compress(
  extension: Extension,
  name: string,
  messages: readonly Message[],
  context?: Partial<Compaction>,
): Promise<Action>;

/** What a slash command answers. Rejects with its error. */
export function runCommand(extension: Extension, name: string, line?: string): Promise<string>;

/** What the extension says about itself. `toJSONSchema` is that of zod, for schemas of `zod/mini`. */
export function describe(
  extension: Extension,
  options?: { id?: string; version?: string; toJSONSchema?: (schema: never, options: { io: "input" }) => unknown },
): Descriptor;
