// `console` for an engine without one: its lines go to the log.

import { log } from "#host";

const line =
  (level) =>
  (...values) =>
    log.write(level, values.map((value) => (typeof value === "string" ? value : (JSON.stringify(value) ?? String(value)))).join(" "));

globalThis.console ??= {
  debug: line("debug"),
  log: line("info"),
  info: line("info"),
  warn: line("warn"),
  error: line("error"),
};
