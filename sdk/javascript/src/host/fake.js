// The host of tests and of the look at a definition before it is built. `testing.js` says what is in it.

const copy = (value) => structuredClone(value);

function emptyState() {
  return {
    config: {},
    cancelled: false,
    denied: new Set(),
    kv: new Map(),
    sessionMemory: new Map(),
    process: undefined,
    model: undefined,
    recorded: { logs: [], progress: [], events: [], processes: [], modelCalls: [] },
  };
}

// One for each process: the files of `node --test` run in processes of their own.
let state = emptyState();

export function install(next) {
  state = { ...emptyState(), ...next };
  return state;
}

// In the form in which the engines throw the contract's errors.
const refused = (tag, val) => ({ payload: { tag, val } });

function granted(capability) {
  if (state.denied.has(capability)) throw refused("denied", `the capability \`${capability}\` is not granted`);
}

export const log = { write: (level, message) => void state.recorded.logs.push({ level, message }) };

export const progress = { report: (text) => void state.recorded.progress.push(text) };

export const cancellation = { isCancelled: () => state.cancelled };

export const config = { get: () => JSON.stringify(state.config) };

export const events = { emit: (label, data) => void state.recorded.events.push({ label, data: JSON.parse(data) }) };

export const keyValue = {
  get(key) {
    granted("key-value");
    return copy(state.kv.get(key));
  },
  set(key, value) {
    granted("key-value");
    state.kv.set(key, Uint8Array.from(value));
  },
  remove(key) {
    granted("key-value");
    state.kv.delete(key);
  },
  listKeys(prefix) {
    granted("key-value");
    return [...state.kv.keys()].filter((key) => key.startsWith(prefix)).sort();
  },
};

export const sessionMemory = {
  get(key) {
    granted("session-memory");
    return state.sessionMemory.get(key);
  },
  set(key, value) {
    granted("session-memory");
    state.sessionMemory.set(key, value);
  },
  remove(key) {
    granted("session-memory");
    state.sessionMemory.delete(key);
  },
  snapshot() {
    granted("session-memory");
    return [...state.sessionMemory].map(([key, value]) => `${key}: ${value}`).join("\n");
  },
};

export const process = {
  run(command) {
    granted("process");
    if (state.process === undefined) throw refused("denied", `the capability \`process\` is not granted for ${command.program}`);
    state.recorded.processes.push(copy(command));
    return state.process(command);
  },
};

export const model = {
  complete(messages, maxTokens) {
    granted("model");
    if (state.model === undefined) throw refused("denied", "the capability `model` is not granted");
    state.recorded.modelCalls.push({ messages: copy(messages), maxTokens });
    return state.model(messages, maxTokens);
  },
};
