// Lines for the log.

import { log } from "#host";

function write(level, message) {
  log.write(level, typeof message === "string" ? message : shown(message));
}

function shown(value) {
  if (value instanceof Error) return value.message;
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
}

export const trace = (message) => write("trace", message);
export const debug = (message) => write("debug", message);
export const info = (message) => write("info", message);
export const warn = (message) => write("warn", message);
export const error = (message) => write("error", message);
