// What authors import. Documented in ../types/index.d.ts. Each group of functions is a module, so that the bundler leaves out those
// that an extension does not use.

export { defineExtension, defineHook, defineTool } from "./define.js";
export { assistantMessage, image, systemMessage, text, textOf, userMessage } from "./messages.js";
export * as request from "./request.js";
export { HostError } from "./services/ask.js";
export { config, isCancelled, progress } from "./services/call.js";
export * as events from "./services/events.js";
export * as kv from "./services/kv.js";
export * as log from "./services/log.js";
export * as model from "./services/model.js";
export * as process from "./services/process.js";
export * as sessionMemory from "./services/session-memory.js";
export { decodeUtf8, encodeUtf8 } from "./utf8.js";
export {
  abort,
  amend,
  ask,
  block,
  defer,
  keep,
  newSession,
  pass,
  proceed,
  replace,
  rewrite,
  summarize,
} from "./verdicts.js";
