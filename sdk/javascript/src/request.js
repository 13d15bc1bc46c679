// What an extension can ask for.

const wish = (tag, val, reason, { optional = false } = {}) => ({
  capability: val === undefined ? { tag } : { tag, val },
  reason,
  required: !optional,
});

export const readDirectory = (path, reason, options) =>
  wish("directory", { path, access: "read-only" }, reason, options);

export const writeDirectory = (path, reason, options) =>
  wish("directory", { path, access: "read-write" }, reason, options);

export const http = (pattern, reason, { methods = [], ...options } = {}) =>
  wish("http", { pattern, methods }, reason, options);

export const secret = (name, endpoint, reason, options) => wish("secret", { name, endpoint }, reason, options);

export const environment = (name, reason, options) => wish("environment", name, reason, options);

export const process = (program, reason, options) => wish("process", program, reason, options);

export const model = (tokens, reason, options) => wish("model", tokens, reason, options);

export const keyValue = (bytes, reason, options) => wish("key-value", bytes, reason, options);

export const sessionMemory = (reason, options) => wish("session-memory", undefined, reason, options);

export const power = (power, reason, options) => wish("power", power, reason, options);
