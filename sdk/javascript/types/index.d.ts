/**
 * Write Capstan extensions in JavaScript and TypeScript.
 *
 * An extension is one module whose default export is {@link defineExtension}'s answer. It is built into one WebAssembly component
 * that exports exactly the parts that are declared and imports exactly what is used.
 *
 * ```ts
 * import { defineExtension, defineTool } from "capstan-sdk";
 *
 * const countWords = defineTool({
 *   name: "count_words",
 *   description: "Counts the words of a text.",
 *   parameters: {
 *     type: "object",
 *     properties: { text: { type: "string", description: "The text." } },
 *     required: ["text"],
 *   },
 *   run: ({ text }) => `${text.split(/\s+/).filter(Boolean).length} words`,
 * });
 *
 * export default defineExtension({ summary: "Counts words.", tools: [countWords] });
 * ```
 *
 * The module's top level runs once, while the component is built: it calls no host function there, and the clock and random numbers
 * that it reads there stay as they were.
 *
 * @module
 */

import type * as contract from "./contract.js";

export type * as contract from "./contract.js";

/** One piece of a message. Made by {@link text} and {@link image}. */
export type Content = contract.types.Content;
/** One message of the conversation. */
export type Message = contract.types.Message;
/** One answer of the model. */
export type ModelResponse = contract.types.ModelResponse;
/** What a tool call came to; `details` is JSON text. */
export type ToolResult = contract.types.ToolResult;
/** Where in the conversation a call happens. */
export type Context = contract.types.TurnContext;
/** Something that failed, for extensions that watch. */
export type Failure = contract.types.Failure;
/** What an extension says about itself. */
export type Descriptor = contract.extension.Descriptor;
/** A wish and why. Made by the functions of {@link request}. */
export type Request = contract.extension.Request;

/** A value that has a JSON form. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

/** Now, or, with the engine `starlingmonkey`, once a promise is settled. The build refuses `async` functions for QuickJS. */
export type Awaitable<T> = T | Promise<T>;

// Schemas

/** A schema of a library that follows the Standard Schema convention: zod 4, `zod/mini`, valibot, arktype and others. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** A JSON Schema as a plain object. Written in place, it also gives the TypeScript type: see {@link FromJsonSchema}. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: { readonly [name: string]: JsonSchema };
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly anyOf?: readonly JsonSchema[];
  readonly [keyword: string]: unknown;
}

/** A schema for {@link defineTool} and {@link config}. */
export type Schema = StandardSchema | JsonSchema;

type Flat<T> = { [K in keyof T]: T[K] };

type RequiredOf<S> = S extends { required: readonly (infer R)[] } ? R : never;

type FromProperties<S, P> = Flat<
  { -readonly [K in keyof P as K extends RequiredOf<S> ? K : never]: FromJsonSchema<P[K]> } & {
    -readonly [K in keyof P as K extends RequiredOf<S> ? never : K]?: FromJsonSchema<P[K]>;
  }
>;

/**
 * The type of the values that satisfy a JSON Schema, from `type`, `properties`, `required`, `items`, `enum`, `const` and `anyOf`. What
 * it does not understand is `unknown`.
 *
 * ```ts
 * type Arguments = FromJsonSchema<{ type: "object"; properties: { depth: { type: "integer" } }; required: [] }>;
 * // { depth?: number }
 * ```
 */
export type FromJsonSchema<S> = S extends { const: infer C }
  ? C
  : S extends { enum: readonly (infer E)[] }
    ? E
    : S extends { anyOf: readonly (infer U)[] }
      ? FromJsonSchema<U>
      : S extends { type: infer T }
        ? T extends "string"
          ? string
          : T extends "number" | "integer"
            ? number
            : T extends "boolean"
              ? boolean
              : T extends "null"
                ? null
                : T extends "array"
                  ? (S extends { items: infer I } ? FromJsonSchema<I> : unknown)[]
                  : T extends "object"
                    ? S extends { properties: infer P }
                      ? FromProperties<S, P>
                      : Record<string, unknown>
                    : unknown
        : unknown;

/** The type of what satisfies a schema, after the schema's own defaults and transformations. */
export type ValueOf<S> = S extends StandardSchema<unknown, infer Output> ? Output : FromJsonSchema<S>;

// Tools

/** One running call of a tool. */
export interface Call {
  /** The provider's id of this call. */
  readonly id: string;
  /** The tool's name. */
  readonly tool: string;
  /** Where in the conversation the call happens. */
  readonly context: Context;
  /** Shows a partial result; as {@link progress}. */
  progress(text: string): void;
  /** As {@link isCancelled}. */
  isCancelled(): boolean;
}

/** What a tool answers: a text, or more. */
export type ToolOutput =
  | string
  | {
      /** What the model reads. */
      readonly content?: string | readonly Content[];
      /** For programs and screens; kept with the session, never sent to the model. */
      readonly details?: Json;
      /** True when the call failed; the model is told so. An error that is thrown does the same. */
      readonly isError?: boolean;
    };

/** A tool that the model can call. */
export interface Tool<S extends Schema = Schema> {
  /** `[a-zA-Z0-9_-]{1,64}`, unique among all loaded extensions and built-in tools. */
  readonly name: string;
  /** A short name for screens. Without it: the name. */
  readonly label?: string;
  /** What the model reads to decide when and how to call. At most 8 KiB. */
  readonly description: string;
  /**
   * The schema of the arguments, an object. The host enforces it as JSON Schema before the tool runs. A schema of a library is run
   * again inside, for its defaults and transformations; what it refuses becomes the call's error, which names the argument.
   */
  readonly parameters: S;
  /** `sequential`: every batch that holds a call of this tool runs one call after another. Without it: `parallel`. */
  readonly execution?: "parallel" | "sequential";
  /** Maps old or sloppy argument shapes to the present schema, before validation. */
  prepare?(args: unknown): Awaitable<unknown>;
  /**
   * Runs one call. What it throws, a `TypeError` too, becomes the call's error with its message as the text that the model reads. The
   * log gets the place: at the level `warn` for mistakes such as a `TypeError`, else at `debug`.
   */
  run(args: ValueOf<S>, call: Call): Awaitable<ToolOutput>;
}

/**
 * A tool. Its schema gives `run`'s first parameter its type.
 *
 * ```ts
 * import * as z from "zod/mini";
 *
 * const search = defineTool({
 *   name: "search_notes",
 *   description: "Finds notes that contain a text.",
 *   parameters: z.object({ text: z.string(), limit: z._default(z.int(), 10) }),
 *   run: ({ text, limit }) => find(text).slice(0, limit).join("\n"),
 * });
 * ```
 */
export function defineTool<const S extends Schema>(tool: Tool<S>): Tool<S>;

// Hooks

/** A tool call as hooks see it. */
export interface ToolCall {
  readonly id: string;
  /** The tool's name. */
  readonly name: string;
  /** The arguments as JSON text. */
  readonly arguments: string;
  /** The arguments as a value. */
  // The tool may be any, so nothing is known of its arguments.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly args: any;
}

/** The answer of a gate; made by {@link pass}, {@link block}, {@link ask}, {@link defer} and {@link rewrite}. */
export type GateVerdict =
  | { readonly tag: "pass" }
  | { readonly tag: "block" | "ask" | "defer"; readonly val: string }
  | Rewrite<unknown>;

/** In place of what the hook was asked about; made by {@link rewrite}. */
export interface Rewrite<T> {
  readonly tag: "rewrite";
  readonly val: T;
}

/** The answer of a rewriter; made by {@link proceed}, {@link abort} and {@link rewrite}. */
export type RewriteVerdict<T> = { readonly tag: "proceed" } | { readonly tag: "abort"; readonly val: string } | Rewrite<T>;

/** What changes of a result; made by {@link amend}. */
export type Amendment = contract.afterToolCall.Amendment;

/** The status of a plan's step. */
export type StepStatus = contract.planStep.Status;

/** What happened to a session. */
export type SessionEvent = contract.sessionLifecycle.Event;

/** The function of each stage. An answer of `undefined` is no objection. */
export interface Stages {
  /** Before a turn starts. `rewrite` needs the power `rewrite-context`. */
  beforeTurn(input: Message, context: Context): Awaitable<RewriteVerdict<Message> | undefined>;
  /** Before a model call. `rewrite` needs the power `rewrite-context`. The new list serves this request alone. */
  beforeModel(messages: Message[], context: Context): Awaitable<RewriteVerdict<Message[]> | undefined>;
  /** After a model call, before anything is stored. `rewrite` needs the power `rewrite-context`. */
  afterModel(response: ModelResponse, context: Context): Awaitable<RewriteVerdict<ModelResponse> | undefined>;
  /** A model call failed for good. */
  modelError(failure: Failure, context: Context): Awaitable<void>;
  /**
   * Before a tool call: a gate. It can let pass, tighten, or, with the power `rewrite-arguments`, rewrite; nothing here can grant. An
   * error that it throws blocks this call with its message.
   */
  beforeToolCall(call: ToolCall, context: Context): Awaitable<GateVerdict | undefined>;
  /** After a tool call that ran. Any amendment but `terminate` needs the power `rewrite-result`. */
  afterToolCall(call: ToolCall, result: ToolResult, context: Context): Awaitable<Amendment | undefined>;
  /** A tool call failed. */
  toolError(call: contract.types.ToolCall, failure: Failure, context: Context): Awaitable<void>;
  /** After a turn that ended well. */
  afterTurn(answer: Message, results: ToolResult[], context: Context): Awaitable<void>;
  /** After a turn that failed. */
  turnError(failure: Failure, context: Context): Awaitable<void>;
  /** A step of a plan changed its status. `step` counts from 0. */
  planStep(step: number, status: StepStatus, context: Context): Awaitable<void>;
  /** The session began, changed or ended. */
  sessionLifecycle(sessionId: string, event: SessionEvent): Awaitable<void>;
}

/** A hook with its filter: a function alone is one for every tool with priority 0. */
export type Hook<K extends keyof Stages> =
  | Stages[K]
  | {
      /** For the stages around a tool call: globs over tool names (`*` and `?`). Without it: every tool. */
      readonly tools?: readonly string[];
      /** Lower runs earlier. Without it: 0. */
      readonly priority?: number;
      /**
       * For rewriters that must not be skipped, a redactor for example: when the hook fails, what it was to rewrite becomes an error
       * instead of staying as it is.
       */
      readonly failClosed?: boolean;
      readonly run: Stages[K];
    };

/** A hook for a file of its own: `export const guard = defineHook("beforeToolCall", { tools: ["bash"], run(call) { … } })`. */
export function defineHook<K extends keyof Stages>(stage: K, hook: Hook<K>): Hook<K>;

/** No objection. */
export function pass(): GateVerdict;
/** Do not run the call; the model reads the reason. */
export function block(reason: string): GateVerdict;
/** A person decides now, with this question; without one this is a block. */
export function ask(question: string): GateVerdict;
/** Not now: the model is told, the batch ends, a person may approve later. */
export function defer(reason: string): GateVerdict;
/** Goes on with this in place of what the hook was asked about: arguments, a message, messages, a response. */
export function rewrite<T>(instead: T): Rewrite<T>;
/** Goes on as it is. */
export function proceed(): { readonly tag: "proceed" };
/** Goes no further; the text says why. */
export function abort(reason: string): { readonly tag: "abort"; readonly val: string };

/**
 * Changes a result. Each field that is given replaces that field of the result as a whole.
 *
 * ```ts
 * amend({ text: shortened, details: { removedLines: 120 } });
 * ```
 *
 * @throws TypeError when both `text` and `content` are given.
 */
export function amend(changes: {
  /** The whole content as one text. */
  readonly text?: string;
  readonly content?: readonly Content[];
  readonly details?: Json;
  readonly isError?: boolean;
  /** Ends the turn after this batch if every result of the batch says so. */
  readonly terminate?: boolean;
}): Amendment;

// Other parts

/** What a compressor is told. */
export type Compaction = contract.compressor.Context;

/** The answer of a compressor; made by {@link keep}, {@link replace}, {@link summarize} and {@link newSession}. */
export type Action = contract.compressor.Action;

/** Leaves everything as it is. */
export function keep(): Action;
/** Sends these messages instead. A call without its result, or the reverse, is refused. */
export function replace(messages: readonly Message[]): Action;
/** Lets the host's model summarize everything before the message `firstKept` (counted from 0). */
export function summarize(firstKept: number, instructions?: string): Action;
/** Goes on in a new session. */
export function newSession(messages: readonly Message[], sessionId?: string): Action;

/** A slash command. */
export interface Command {
  /** One line. */
  readonly description: string;
  /** Gets the rest of the line and answers what the user is shown, at most 64 KiB. */
  run(line: string): Awaitable<string>;
}

/** What a memory keeps. */
export interface MemoryEntry {
  /** Absent when storing something new. */
  id?: string | null;
  content: string;
  metadata: Record<string, unknown>;
  /** Only in answers: 0 (unrelated) to 1 (the same). */
  score?: number | null;
}

/** What is searched in a memory. */
export interface MemoryQuery {
  text: string;
  /** At most this many entries, best first. */
  topK: number;
  /** Leave out what scores lower, 0 to 1. */
  threshold?: number | null;
  /** What an entry's metadata must contain. */
  filter?: Record<string, unknown> | undefined;
}

/** A store for what the agent remembers across sessions. Needs the power `remember`. */
export interface Memory {
  /** Keeps an entry, in place of the one with its id if it has one, and answers its id. */
  save(entry: MemoryEntry): Awaitable<string>;
  search(query: MemoryQuery): Awaitable<readonly MemoryEntry[]>;
  /** An id that does not exist is no error. */
  delete(id: string): Awaitable<void>;
}

/** An extension: what it is, what it asks for, and which functions play which part. */
export interface Extension {
  /** `[a-z0-9-]{1,48}`. Without it: the package's name. */
  readonly id?: string;
  /** Without it: the package's version. */
  readonly version?: string;
  /** One line for lists. */
  readonly summary: string;
  /** What it wants to be allowed. */
  readonly requests?: readonly Request[];
  /** The schema of its configuration table. Without it: it takes none. */
  readonly configSchema?: Schema;
  /** How long an instance lives: `call` (a fresh one for every call, the default) or `session`. */
  readonly lifetime?: "call" | "session";
  // A tool's parameter types differ, and a function that takes less is no `Tool<Schema>`.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly tools?: readonly Tool<any>[];
  /** One for each stage. */
  readonly hooks?: { readonly [K in keyof Stages]?: Hook<K> };
  /**
   * By the format's name: what the model wrote, and the goal it was asked for, to the steps. It runs without any grant. An error says
   * what could not be read, and where.
   */
  readonly planParsers?: {
    readonly [name: string]: (raw: string, goal: string) => Awaitable<readonly (string | { description: string })[]>;
  };
  /**
   * By the strategy's name. Called before each model call, so answer {@link keep} quickly while there is room. It runs without any
   * grant; anything but `keep` needs the power `compress`.
   */
  readonly compressors?: {
    readonly [name: string]: (messages: Message[], context: Compaction) => Awaitable<Action | undefined>;
  };
  /** By the command's name, without the slash: `[a-z0-9-]{1,32}`. */
  readonly commands?: { readonly [name: string]: Command };
  /** Sees the turn as it happens: an object with `type`, as a line of `capstan --mode json`. Pass over what you do not know. */
  readonly observer?: (event: { readonly type: string; readonly [field: string]: unknown }) => Awaitable<void>;
  readonly memory?: Memory;
}

/** Declares the extension; the module's default export. */
export function defineExtension(extension: Extension): Extension;

// What it asks for

/** What can be asked for. Each function takes the reason, one sentence that the user reads word for word before anything is granted. */
export namespace request {
  interface Options {
    /** The extension works without it, only less. */
    readonly optional?: boolean;
  }
  /** A directory: absolute, `~/…`, or `.` and below for the workspace. In QuickJS only programs can use it, as their directory. */
  function readDirectory(path: string, reason: string, options?: Options): Request;
  /** As {@link readDirectory}, for changing files as well. */
  function writeDirectory(path: string, reason: string, options?: Options): Request;
  /** HTTP to `scheme://host[:port]`, where the host may start with `*.`; needs the engine `starlingmonkey`. Methods: `GET` and `HEAD`. */
  function http(pattern: string, reason: string, options?: Options & { readonly methods?: readonly string[] }): Request;
  /** A stored credential toward one endpoint; write `{{secret:NAME}}` into a header. Needs {@link http} for the endpoint too. */
  function secret(name: string, endpoint: string, reason: string, options?: Options): Request;
  /** One environment variable, for programs. */
  function environment(name: string, reason: string, options?: Options): Request;
  /** Programs for {@link process.run}, as one line of globs: `git`, `git log *`, `git log **`. */
  function process(program: string, reason: string, options?: Options): Request;
  /** The host's model, for at most this many tokens a turn. */
  function model(tokens: number, reason: string, options?: Options): Request;
  /** Storage of its own for {@link kv}, at most this many bytes. */
  function keyValue(bytes: number, reason: string, options?: Options): Request;
  /** Facts of the session in the agent's prompt, for {@link sessionMemory}. */
  function sessionMemory(reason: string, options?: Options): Request;
  /** A say over the conversation. */
  function power(power: contract.extension.Power, reason: string, options?: Options): Request;
}

// What the host does

/** A host call that did not happen. */
export class HostError extends Error {
  constructor(kind: HostError["kind"], detail?: string);
  /** `denied`: not granted. `exhausted`: a quota is used up. `timed-out`: the deadline passed. `failed`: allowed, and failed. */
  readonly kind: contract.types.HostError["tag"];
}

/** Lines for the log. Always available. At most 4 KiB a line in a tool, 1 KiB elsewhere. Values that are no text are shown as JSON. */
export namespace log {
  function trace(message: unknown): void;
  function debug(message: unknown): void;
  function info(message: unknown): void;
  function warn(message: unknown): void;
  function error(message: unknown): void;
}

/** Shows a partial result of the running tool call in place of the last one. At most 64 KiB. Always available. */
export function progress(text: string): void;

/** True once the user has aborted. A call that goes on is stopped a moment later. Always available. */
export function isCancelled(): boolean;

/**
 * The extension's table of the user's configuration. The host enforces `configSchema` before the extension runs; the schema here
 * gives the type, and, if it is one of a library, its defaults.
 *
 * @throws Error when a library's schema refuses the table; the message names the key.
 */
export function config(): Record<string, unknown>;
export function config<const S extends Schema>(schema: S): ValueOf<S>;

/**
 * Persistent storage of this extension alone. Needs {@link request.keyValue}; keys have 1 to 256 bytes.
 *
 * Every function throws a {@link HostError}: not granted, no room left, or the host failed.
 */
export namespace kv {
  /** The text under a key. */
  function get(key: string): string | undefined;
  /** The bytes under a key. */
  function getBytes(key: string): Uint8Array | undefined;
  /** The JSON value under a key. Throws an `Error` when it is no JSON. */
  function getJson<T = unknown>(key: string): T | undefined;
  /** Keeps a text or bytes. Key and value count against the granted bytes. */
  function set(key: string, value: string | Uint8Array): void;
  /** Keeps a value as JSON. */
  function setJson(key: string, value: unknown): void;
  /** Forgets a key. A key that does not exist is no error. */
  function remove(key: string): void;
  /** The keys that start with `prefix`, in the order of their bytes. */
  function keys(prefix?: string): string[];
}

/** Facts of the running session that the agent sees in its prompt. Needs {@link request.sessionMemory}; throws {@link HostError}. */
export namespace sessionMemory {
  function get(key: string): string | undefined;
  function set(key: string, value: string): void;
  function remove(key: string): void;
  /** All of it, as the prompt shows it. */
  function snapshot(): string;
}

/** Programs on the host. Needs {@link request.process} for the program; throws {@link HostError}. */
export namespace process {
  interface Options {
    readonly stdin?: string | Uint8Array;
    /** Nothing is inherited. Variables beyond those that only shape output need {@link request.environment}. */
    readonly environment?: Readonly<Record<string, string>>;
    /** A directory that was granted. Without it: an empty temporary one. */
    readonly directory?: string;
    /** 0, the default: as long as the running call may last. */
    readonly timeoutMs?: number;
  }
  interface Outcome {
    /** Absent when a signal ended it. */
    exitCode: number | undefined;
    /** Whether it ended by itself with the exit code 0. */
    ok: boolean;
    stdout: string;
    stderr: string;
    stdoutBytes: Uint8Array;
    stderrBytes: Uint8Array;
    /** Whether more than 1 MiB was written, and cut. */
    truncated: boolean;
    timedOut: boolean;
  }
  /** Runs a program to its end. No shell is involved. A program that ran and failed is an outcome. */
  function run(program: string, args?: readonly string[], options?: Options): Outcome;
}

/** The host's model. Needs {@link request.model}; throws {@link HostError}. */
export namespace model {
  /** One completion without tools; its tokens count against the granted budget of the turn. */
  function complete(messages: readonly Message[], maxTokens: number): ModelResponse;
  /** One question, one answer. */
  function ask(prompt: string, maxTokens: number): string;
}

/** Events of the extension's own beside the turn's stream. Always available. */
export namespace events {
  /** `label`: `[a-z0-9-]{1,48}`. The data's JSON holds at most 64 KiB. */
  function emit(label: string, data: Json): void;
}

// Messages and text

/** A piece of text. */
export function text(text: string): Content;
/** A picture: its MIME type and the encoded file. */
export function image(mediaType: string, data: Uint8Array): Content;
/** The text of a message or of content, its pieces joined by line breaks. */
export function textOf(value: { readonly content: readonly Content[] } | readonly Content[]): string;
/** A message of a person. */
export function userMessage(content: string | Content[]): Message;
/** A message of the model. */
export function assistantMessage(content: string | Content[]): Message;
/** Instructions. */
export function systemMessage(content: string | Content[]): Message;
/** UTF-8 bytes of a text; for engines without `TextEncoder`. */
export function encodeUtf8(text: string): Uint8Array;
/** The text of UTF-8 bytes; what is no UTF-8 becomes U+FFFD. */
export function decodeUtf8(bytes: Uint8Array): string;
