// Programs on the host.

import { process } from "#host";
import { decodeUtf8, encodeUtf8 } from "../utf8.js";
import { asked } from "./ask.js";

export function run(program, args = [], { stdin = "", environment = {}, directory, timeoutMs = 0 } = {}) {
  const command = {
    program,
    arguments: args,
    stdin: typeof stdin === "string" ? encodeUtf8(stdin) : stdin,
    environment: Object.entries(environment),
    directory,
    timeoutMs,
  };
  const outcome = asked(() => process.run(command));
  const exitCode = outcome.exitCode ?? undefined;
  return {
    exitCode,
    ok: exitCode === 0 && !outcome.timedOut,
    stdout: decodeUtf8(outcome.stdout),
    stderr: decodeUtf8(outcome.stderr),
    stdoutBytes: outcome.stdout,
    stderrBytes: outcome.stderr,
    truncated: outcome.truncated,
    timedOut: outcome.timedOut,
  };
}
