// Generated from wit/ by `cargo xtask bindings`; do not edit.
//
// The contract as the engines show it: a namespace for each interface, with its functions in `Functions`. JSON travels as text. What is
// absent is `null` or `undefined`, depending on the engine. An error of a function is thrown.

/** What an extension is and what it asks for. The one interface that every extension exports. */
export namespace extension {
  /** Whether a tool's calls may run beside other calls of the same round. */
  type Execution =
    /** At the same time as others. */
    | "parallel"
    /** The whole batch runs one call after another. */
    | "sequential";
  /** A tool that the model can call. */
  interface Tool {
    /** `[a-zA-Z0-9_-]{1,64}`, unique among all loaded extensions and built-in tools. */
    name: string;
    /** A short name for screens; never sent to the model. Empty: the name. */
    label: string;
    /** What the model reads to decide when and how to call. At most 8 KiB. */
    description: string;
    /** JSON Schema of the arguments; its `type` is `object`. References to other documents are refused. At most 256 KiB. */
    parameters: string;
    execution: extension.Execution;
  }
  /** A point of the turn at which hooks run. */
  type Stage =
    | "before-turn"
    | "before-model"
    | "after-model"
    | "model-error"
    | "before-tool-call"
    | "after-tool-call"
    | "tool-error"
    | "after-turn"
    | "turn-error"
    | "plan-step"
    | "session-lifecycle";
  /** What happens to the turn when a hook fails (traps, times out, answers garbage). */
  type FailureRule =
    /** The rule of the stage: a gate denies the call, a rewriter leaves its input unchanged, an observer is ignored. */
    | "standard"
    /** Stricter, for rewriters that must not be skipped (a redactor, say): what was to be rewritten becomes an error. */
    | "closed";
  /**
   * How the host uses a hook interface that the component exports. A hook that is exported but not listed runs with
   * the defaults: all tools, priority 0, `standard`.
   */
  interface Hook {
    stage: extension.Stage;
    /** For the stages around a tool call: globs over tool names (`*` and `?`). Empty: every tool. */
    tools: string[];
    /**
     * Lower runs earlier; equal priorities run in the order of the extensions' ids. The stages after something (`after-…`,
     * `…-error`) run in the reverse of that order, and all of them run.
     */
    priority: number;
    onFailure: extension.FailureRule;
  }
  /** A slash command of the interactive mode. */
  interface Command {
    /** Without the slash: `[a-z0-9-]{1,32}`. */
    name: string;
    /** One line. */
    description: string;
  }
  /** What may be done in a directory. */
  type Access =
    | "read-only"
    | "read-write";
  /** A directory of the user. */
  interface Directory {
    /**
     * A path on the host: absolute, `~/…`, or `.` and below for the workspace. The guest sees the workspace at
     * `/workspace` and any other directory at its own absolute path.
     *
     * Through `wasi:filesystem`, these differ from a plain directory:
     * - Files that make a program run something later can be read and not changed, whatever link or name leads to them:
     *   everything in `.git`, `.hg`, `.capstan`, `.vscode` and `.idea`, and start files such as `.bashrc`, `.profile`,
     *   `.zshrc`, `.envrc` and `.npmrc`. Changing one fails with `not-permitted`. A directory that is itself granted by
     *   such a name is meant; what has such a name beneath it is not.
     * - No file is made through a symbolic link that leads to nothing; that is `not-permitted` too.
     * - A call writes a bounded number of bytes (tools 256 MiB, others 16 MiB), growth of files included. The write that
     *   does not fit, and every one after it, fails with `quota`.
     * - Only regular files and directories are opened, and a directory of more than 100,000 entries is listed up to there
     *   and then ends with `overflow`.
     */
    path: string;
    access: extension.Access;
  }
  /**
   * Addresses for outgoing HTTP, which goes through `wasi:http`.
   *
   * Only public addresses are reached, unless the pattern names a literal address, or `localhost`, which means loopback.
   * Redirects come back as answers, and nothing is decompressed.
   */
  interface Endpoint {
    /**
     * `scheme://host[:port]` with scheme `http` or `https`, and no path. The port defaults to the scheme's.
     * `*.example.com` means every host below `example.com`, and not that host itself.
     */
    pattern: string;
    /** Upper-case methods; never `CONNECT` or `TRACE`. Empty: `GET` and `HEAD`. */
    methods: string[];
  }
  /**
   * A credential that the host puts into requests; the guest only ever holds a placeholder.
   *
   * The placeholder of the secret `NAME` is the text `{{secret:NAME}}`, alone or inside of the value of a request header, as
   * in `Bearer {{secret:NAME}}`. Anywhere else (address, body, another endpoint) it blocks the request. The endpoint also
   * needs a grant of its own for HTTP. Where a server sends the value back, the guest sees the placeholder again; for this
   * such a server is always asked for answers that are not compressed.
   */
  interface Secret {
    /** The name under which the user stored it: `[A-Za-z0-9._-]{1,64}`. */
    name: string;
    /**
     * The only endpoint toward which the placeholder is replaced: a pattern without `*.`, and `https` unless it names
     * `localhost` or an inner address.
     */
    endpoint: string;
  }
  /** Rights over the conversation rather than over the machine. */
  type Power =
    /** `before-tool-call` may answer `rewrite`. */
    | "rewrite-arguments"
    /** `after-tool-call` may amend a result. */
    | "rewrite-result"
    /** `before-turn`, `before-model` and `after-model` may answer `rewrite`. */
    | "rewrite-context"
    /** `compressor` may replace messages. */
    | "compress"
    /** `memory` may hold what the agent remembers. */
    | "remember";
  /** One thing that an extension wants to be allowed. */
  type Capability =
    | { tag: "directory"; val: extension.Directory }
    | { tag: "http"; val: extension.Endpoint }
    | { tag: "secret"; val: extension.Secret }
    /** The name of one environment variable. */
    | { tag: "environment"; val: string }
    /**
     * Programs for the `process` interface, as one line: a glob over file name or absolute path, then globs for the arguments,
     * word by word. `git`: any arguments; `git log *`: exactly these two; `git log **`: `log` and any further ones.
     */
    | { tag: "process"; val: string }
    /** Model calls: at most this many tokens a turn. */
    | { tag: "model"; val: number }
    /** Persistent storage of its own: at most this many bytes. */
    | { tag: "key-value"; val: number }
    | { tag: "session-memory"; val?: undefined }
    | { tag: "power"; val: extension.Power };
  /** A wish and why. The reason is shown to the user word for word before anything is granted. */
  interface Request {
    capability: extension.Capability;
    /** One sentence that tells the user what it is for. */
    reason: string;
    /** False: the extension works without it, only less. */
    required: boolean;
  }
  /** How long an instance lives. */
  type Lifetime =
    /** A fresh instance for every call: no state leaks from one call to the next. */
    | "call"
    /**
     * One instance a session, its calls one after another; dropped on a trap or a time-out. The observer has an instance of
     * its own, because nothing waits for it; plan parsers and compressors get a fresh one for every call.
     */
    | "session";
  interface Descriptor {
    /** `[a-z0-9-]{1,48}`; what the user calls this extension. */
    id: string;
    /** A semantic version, for people; the host identifies an extension by the digest of its bytes. */
    version: string;
    /** One line for lists. */
    summary: string;
    tools: extension.Tool[];
    hooks: extension.Hook[];
    /** Names of plan formats that `plan-parser` understands. */
    planParsers: string[];
    /** Names of strategies that `compressor` offers. */
    compressors: string[];
    commands: extension.Command[];
    requests: extension.Request[];
    /** JSON Schema of this extension's configuration table; absent: it takes none. */
    configSchema?: string | null | undefined;
    lifetime: extension.Lifetime;
  }
  interface Functions {
    /**
     * Called once for each digest, before anything is granted: no capability, a frozen clock, seeded random numbers and
     * tight limits. The answer is kept under the digest, so it cannot change behind the user's back.
     */
    describe(): extension.Descriptor;
  }
}

/** The session began, changed or ended. An observer. */
export namespace sessionLifecycle {
  type Event =
    | "start"
    | "resume"
    /** Another branch or file is now the session. */
    | "switched"
    | "compacted"
    | "end";
  interface Functions {
    run(sessionId: string, event: sessionLifecycle.Event): void;
  }
}

/**
 * Sees the turn as it happens. An observer: nothing it does delays or changes the turn. One that is slower than the turn
 * for long misses events; one that fails is left out from then on.
 */
export namespace observer {
  interface Functions {
    /**
     * One event as JSON text: an object with `type`. It is a line of `capstan --mode json` (`agent_start`, `turn_start`,
     * `message_start`, `message_end`, `tool_execution_start`, `tool_execution_end`, `turn_end`, `agent_end`,
     * `extension_event`; not the partial `message_update` and `tool_execution_update`), or one of the turn's own events that
     * have no line there: `session_redirect`, `tool_call_deferred`, `turn_completed`, `turn_failed`. More may come, so pass
     * over what you do not know. Events come in order, one at a time.
     */
    run(event: string): void;
  }
}

/** Lines for the log. Always available. */
export namespace log {
  type Level =
    | "trace"
    | "debug"
    | "info"
    | "warn"
    | "error";
  interface Functions {
    /** At most 4 KiB a line and 1,000 lines a call (tools; 1 KiB and 64 lines elsewhere); the rest is counted and dropped. */
    write(level: log.Level, message: string): void;
  }
}

/** Partial results of the running tool call, shown as they come. Always available; without effect outside `tools`. */
export namespace progress {
  interface Functions {
    /** Replaces what was reported before. At most 64 KiB. */
    report(text: string): void;
  }
}

/** Whether the work is still wanted. Always available. */
export namespace cancellation {
  interface Functions {
    /** True once the user has aborted. A call that goes on is stopped a moment later. */
    isCancelled(): boolean;
  }
}

/** This extension's table of the user's configuration. Always available. */
export namespace config {
  interface Functions {
    /** A JSON object; `{}` where the user wrote nothing. */
    get(): string;
  }
}

/** Events of the extension's own beside the turn's stream. Always available; each counts as a line of the log. */
export namespace events {
  interface Functions {
    /**
     * `label`: `[a-z0-9-]{1,48}`, shown with the extension's id before it. `data`: JSON text, at most 64 KiB. Observers see it
     * as `extension_event`; without effect in observers, which would answer each other for ever, and in what runs without grants.
     */
    emit(label: string, data: string): void;
  }
}

/** Maps old or sloppy argument shapes to the present schema, before validation. */
export namespace toolArguments {
  interface Functions {
    /** JSON text in, JSON text out. An error becomes the call's error result. */
    prepare(tool: string, arguments: string): string;
  }
}

/** Turns the model's text into a plan. */
export namespace planParser {
  interface Step {
    /** What to do, as the agent is told it. Not empty, at most 8 KiB. Invisible and control characters are shown escaped. */
    description: string;
  }
  interface Plan {
    /** 1 to 1,000. */
    steps: planParser.Step[];
  }
  interface Functions {
    /**
     * `parser`: one of the descriptor's plan parsers. `raw`: what the model wrote. `goal`: what it was asked.
     * Runs without any grant, with a frozen clock and seeded random numbers, in a fresh instance. An error says what could not be read, and where.
     */
    parse(parser: string, raw: string, goal: string): planParser.Plan;
  }
}

/** A store for what the agent remembers across sessions. Needs the power `remember`. */
export namespace memory {
  interface Entry {
    /** Absent when storing something new. */
    id?: string | null | undefined;
    content: string;
    /** A JSON object. */
    metadata: string;
    /** Only in answers: 0 (unrelated) to 1 (the same). */
    score?: number | null | undefined;
  }
  interface Query {
    text: string;
    /** At most this many entries, best first. */
    topK: number;
    /** Leave out what scores lower, 0 to 1. */
    threshold?: number | null | undefined;
    /** A JSON object that an entry's metadata must contain. */
    filter?: string | null | undefined;
  }
  interface Functions {
    /** Keeps an entry, in place of the one with its id if it has one, and answers its id: 1 to 256 bytes of visible text. */
    save(entry: memory.Entry): string;
    search(query: memory.Query): memory.Entry[];
    /** An id that does not exist is no error. */
    delete(id: string): void;
  }
}

/** Slash commands of the interactive mode and of rpc. */
export namespace commands {
  interface Functions {
    /**
     * `name`: one of the descriptor's commands. `arguments`: the rest of the line. Answers what the user is shown, at most
     * 64 KiB; invisible and control characters are escaped.
     */
    run(name: string, arguments: string): string;
  }
}

/**
 * Data that exports and imports share.
 *
 * JSON travels as `string`: tool arguments, schemas, details, configuration. WIT has no recursive types, and a flat
 * string is also the cheapest thing to copy across the sandbox border.
 *
 * Sizes: one call may bring 8 MiB into a guest and one host call 8 MiB out of it, everything together. A call that would
 * bring more is not made: a tool then answers an error, a gate denies. A guest that hands out more is stopped; never the host.
 */
export namespace types {
  /** Who wrote a message. */
  type Role =
    /** Instructions of the host. Extensions may read them, a rewritten list must keep them. */
    | "system"
    /** A person, or the program that drives the agent. */
    | "user"
    /** The model. */
    | "assistant"
    /** A tool's answer to one call of the assistant. */
    | "tool";
  /** A picture. */
  interface Image {
    /** A MIME type: `image/png`, `image/jpeg`, `image/gif` or `image/webp`. */
    mediaType: string;
    /** The encoded file, not base64. */
    data: Uint8Array;
  }
  /** One piece of a message. */
  type Content =
    /** Plain text in UTF-8. Control characters reach the model as they are and a terminal escaped. */
    | { tag: "text"; val: string }
    /** A picture; models that cannot see get a placeholder text instead. */
    | { tag: "image"; val: types.Image }
    /** Reasoning that the model showed. Never sent to another provider. */
    | { tag: "thinking"; val: string };
  /** A tool call as the model made it, or as an earlier hook rewrote it. */
  interface ToolCall {
    /** The provider's id of this call, unique in its message. */
    id: string;
    /** The tool's name. */
    name: string;
    /** JSON text of the arguments, already validated against the tool's schema. */
    arguments: string;
  }
  /** What a tool call came to. */
  interface ToolResult {
    /** What the model reads. */
    content: types.Content[];
    /** JSON text for programs and screens; kept with the session, never sent to the model. */
    details?: string | null | undefined;
    /** True when the call failed; the model is told so. */
    isError: boolean;
  }
  /** One message of the conversation. */
  interface Message {
    role: types.Role;
    content: types.Content[];
    /** Calls that the assistant asked for. Empty on every other role. */
    toolCalls: types.ToolCall[];
    /** Only on tool messages: the id of the call that this answers. */
    toolCallId?: string | null | undefined;
    /** Only on tool messages: the tool's name. */
    name?: string | null | undefined;
  }
  /** Tokens as the provider counted them; a number it did not give is absent. */
  interface Usage {
    /** Tokens read that no cache served. */
    inputTokens?: number | null | undefined;
    /** Tokens written, reasoning included. */
    outputTokens?: number | null | undefined;
    /** Tokens read from the provider's cache. */
    cacheReadTokens?: number | null | undefined;
    /** Tokens written to the provider's cache. */
    cacheWriteTokens?: number | null | undefined;
  }
  /** Why the model stopped. */
  type StopReason =
    /** It was done. */
    | { tag: "stop"; val?: undefined }
    /** It ran into the output limit; its tool calls are not executed. */
    | { tag: "length"; val?: undefined }
    /** It wants tool results. */
    | { tag: "tool-calls"; val?: undefined }
    /** The request failed; the text says how. */
    | { tag: "error"; val: string }
    /** A person or the program stopped it. */
    | { tag: "aborted"; val?: undefined }
    /** A reason that this contract does not know, in the provider's words. */
    | { tag: "other"; val: string };
  /** One answer of the model. */
  interface ModelResponse {
    message: types.Message;
    stopReason: types.StopReason;
    usage?: types.Usage | null | undefined;
    /** The provider's summary of the reasoning, where it gives one. */
    reasoningSummary?: string | null | undefined;
  }
  /** Where in the conversation a call happens. */
  interface TurnContext {
    sessionId: string;
    /** Turns of this session before this one. */
    turn: number;
    /** Model calls of this turn before this one. */
    round: number;
    /** The model in use, `provider/model`. */
    model: string;
  }
  /** The part of the agent in which something failed. */
  type FailureKind =
    | "model"
    | "session"
    | "tool"
    | "limit"
    | "hook"
    | "memory"
    | "plan"
    | "config"
    | "other";
  /** Something that failed, for extensions that watch. */
  interface Failure {
    kind: types.FailureKind;
    /** One paragraph for people. Secrets are already redacted. */
    message: string;
  }
  /**
   * Why a host call did not happen.
   *
   * Importing an interface grants nothing. A call without a grant answers `denied`; it never traps and never keeps the
   * extension from loading.
   */
  type HostError =
    /** The user did not grant this; the text names the capability to ask for. */
    | { tag: "denied"; val: string }
    /** A quota or limit is used up; the text names it. */
    | { tag: "exhausted"; val: string }
    /** The deadline of the running call, or of the request itself, passed. */
    | { tag: "timed-out"; val?: undefined }
    /** It was allowed and failed; the text says how. */
    | { tag: "failed"; val: string };
  interface Functions {
  }
}

/** Before a turn starts. A rewriter: `rewrite` needs the power `rewrite-context`. */
export namespace beforeTurn {
  type Verdict =
    | { tag: "proceed"; val?: undefined }
    /** Take this in place of the user's message. */
    | { tag: "rewrite"; val: types.Message }
    /** Do not start the turn; the text tells the user why. */
    | { tag: "abort"; val: string };
  interface Functions {
    run(context: types.TurnContext, input: types.Message): beforeTurn.Verdict;
  }
}

/**
 * Before a model call. A rewriter: `rewrite` needs the power `rewrite-context`. The new list serves this request
 * alone; the session keeps what happened.
 */
export namespace beforeModel {
  type Verdict =
    | { tag: "proceed"; val?: undefined }
    /** Send these messages. A call without its result, or the reverse, is refused. */
    | { tag: "rewrite"; val: types.Message[] }
    /** Make no model call; the turn ends with this reason. */
    | { tag: "abort"; val: string };
  interface Functions {
    run(context: types.TurnContext, messages: types.Message[]): beforeModel.Verdict;
  }
}

/** After a model call, before anything is stored. A rewriter: `rewrite` needs the power `rewrite-context`. */
export namespace afterModel {
  type Verdict =
    | { tag: "proceed"; val?: undefined }
    /** Continue with this response: a call can be dropped or changed, text redacted. */
    | { tag: "rewrite"; val: types.ModelResponse }
    /** Discard the response; the turn ends with this reason. */
    | { tag: "abort"; val: string };
  interface Functions {
    run(context: types.TurnContext, response: types.ModelResponse): afterModel.Verdict;
  }
}

/** A model call failed for good. An observer. */
export namespace modelError {
  interface Functions {
    run(context: types.TurnContext, failure: types.Failure): void;
  }
}

/**
 * Before a tool call. A gate: it can let pass, tighten, or (with the power `rewrite-arguments`) rewrite; nothing here
 * can grant. A gate that fails denies the call, and stays closed until the user acts.
 */
export namespace beforeToolCall {
  type Verdict =
    /** No objection. Later gates and the user's permissions still decide. */
    | { tag: "pass"; val?: undefined }
    /** New arguments as JSON text; validated against the tool's schema, seen by the later gates and by the user. */
    | { tag: "rewrite"; val: string }
    /** Do not run it; the model reads this reason. */
    | { tag: "block"; val: string }
    /** Not now: the model is told, the batch ends, a person may approve later. */
    | { tag: "defer"; val: string }
    /** A person decides now, with this question; without one this is a block. */
    | { tag: "ask"; val: string };
  interface Functions {
    run(context: types.TurnContext, call: types.ToolCall): beforeToolCall.Verdict;
  }
}

/** After a tool call that ran. A rewriter: any amendment but `terminate` needs the power `rewrite-result`. */
export namespace afterToolCall {
  /** Each present field replaces that field of the result as a whole. */
  interface Amendment {
    content?: types.Content[] | null | undefined;
    /** JSON text. */
    details?: string | null | undefined;
    isError?: boolean | null | undefined;
    /** End the turn after this batch if every result of the batch says so. */
    terminate: boolean;
  }
  interface Functions {
    /** `outcome` is the result as the hooks that ran before this one left it. */
    run(context: types.TurnContext, call: types.ToolCall, outcome: types.ToolResult): afterToolCall.Amendment | null | undefined;
  }
}

/** A tool call failed: unknown tool, invalid arguments, blocked, or an error while running. An observer. */
export namespace toolError {
  interface Functions {
    run(context: types.TurnContext, call: types.ToolCall, failure: types.Failure): void;
  }
}

/** After a turn that ended well. An observer; these run in reverse order, and all of them run. */
export namespace afterTurn {
  interface Functions {
    run(context: types.TurnContext, answer: types.Message, results: types.ToolResult[]): void;
  }
}

/** After a turn that failed. An observer; these run in reverse order, and all of them run. */
export namespace turnError {
  interface Functions {
    run(context: types.TurnContext, failure: types.Failure): void;
  }
}

/** A step of a plan changed its status. An observer. */
export namespace planStep {
  type Status =
    | { tag: "running"; val?: undefined }
    /** The step's answer. */
    | { tag: "completed"; val: string }
    | { tag: "failed"; val: types.Failure }
    | { tag: "skipped"; val?: undefined };
  interface Functions {
    /** `step` counts from 0 in the plan's order. */
    run(context: types.TurnContext, step: number, status: planStep.Status): void;
  }
}

/** Persistent storage of this extension alone. Needs the capability `key-value`. */
export namespace keyValue {
  interface Functions {
    /** Keys are UTF-8, 1 to 256 bytes. */
    get(key: string): Uint8Array | null | undefined;
    /** Counts key and value against the granted bytes. */
    set(key: string, value: Uint8Array): void;
    /** A key that does not exist is no error. */
    remove(key: string): void;
    /** In the order of their bytes. */
    listKeys(prefix: string): string[];
  }
}

/** Facts of the running session that the agent sees in its prompt. Needs the capability `session-memory`. */
export namespace sessionMemory {
  interface Functions {
    get(key: string): string | null | undefined;
    set(key: string, value: string): void;
    remove(key: string): void;
    /** All of it, as the prompt shows it. */
    snapshot(): string;
  }
}

/**
 * Programs on the host. Needs the capability `process` for the program.
 *
 * A program runs with the rights of the user, outside of the sandbox. It starts in a granted directory or in an empty one, ends with
 * the call, and is not run at all where this extension could have written it.
 */
export namespace process {
  interface Command {
    /** A file name looked up on the host's path, or an absolute path. No shell is involved. */
    program: string;
    arguments: string[];
    stdin: Uint8Array;
    /**
     * The environment of the program; nothing is inherited, and `PATH` is the system's unless given. Variables that only shape
     * output (`LANG`, `LC_…`, `TZ`, `TERM`, `NO_COLOR`, `COLUMNS` and the like) are free; any other needs the capability
     * `environment` for its name, because it may decide which code the program runs.
     */
    environment: [string, string][];
    /** A directory that was granted; absent: an empty temporary one. */
    directory?: string | null | undefined;
    /** 0: as long as the running call may last. */
    timeoutMs: number;
  }
  interface Outcome {
    /** Absent when a signal ended it. */
    exitCode?: number | null | undefined;
    /** At most 1 MiB each. */
    stdout: Uint8Array;
    stderr: Uint8Array;
    truncated: boolean;
    timedOut: boolean;
  }
  interface Functions {
    run(command: process.Command): process.Outcome;
  }
}

/** The host's model. Needs the capability `model`. */
export namespace model {
  interface Functions {
    /**
     * One completion without tools; its tokens count against the granted budget of the turn. What it may take is booked first, so a
     * request that could exceed the budget answers `exhausted` and is not made. It ends with the deadline of the running call.
     */
    complete(messages: types.Message[], maxTokens: number): types.ModelResponse;
  }
}

/** Tools that the model calls. */
export namespace tools {
  interface Functions {
    /**
     * Runs one call of one of the descriptor's tools. The arguments satisfy the tool's schema. An error text becomes a
     * result with `is-error` that the model reads; so does a trap or a time-out.
     */
    call(context: types.TurnContext, call: types.ToolCall): types.ToolResult;
  }
}

/** Shortens a conversation that no longer fits. Needs the power `compress`. */
export namespace compressor {
  interface Context {
    sessionId: string;
    /** The model's context window, in tokens; 0 where it is not known. */
    windowTokens: number;
    /** What the messages are estimated to take, in tokens. After the model refused them as too long, at least the window. */
    usedTokens: number;
    /** What must stay free for the answer, in tokens. */
    reserveTokens: number;
    /** What the user wants kept, when compaction was asked for by hand. */
    instructions?: string | null | undefined;
  }
  /**
   * Let the host's model summarize. Indices count messages of the input. A cut never separates a call from its
   * result; the host moves it earlier if it would.
   */
  interface SummaryOrder {
    /** The first message that stays as it is; all before it go into the summary. */
    firstKept: number;
    /** What the summary should keep in mind. */
    instructions: string;
  }
  /** Go on in a new session. */
  interface Redirect {
    messages: types.Message[];
    /** 1 to 64 of a-z, A-Z, 0-9, `-` and `_`. Absent: the host makes one. */
    sessionId?: string | null | undefined;
  }
  type Action =
    /** Leave everything. */
    | { tag: "none"; val?: undefined }
    /** Send these in place of the input. A call without its result, or the reverse, is refused. */
    | { tag: "replace"; val: types.Message[] }
    | { tag: "summarize"; val: compressor.SummaryOrder }
    | { tag: "new-session"; val: compressor.Redirect };
  interface Functions {
    /**
     * `compressor`: one of the descriptor's compressors. Called before each model call, so answer `none` quickly while there
     * is room. Runs without any grant, with a frozen clock and seeded random numbers, in a fresh instance. After an error the
     * built-in compaction runs where the conversation must become shorter; after a trap or a time-out the compressor is left
     * out for the rest of the session.
     */
    compress(compressor: string, messages: types.Message[], context: compressor.Context): compressor.Action;
  }
}
