// What hooks and compressors answer, in the contract's form.

import { text } from "./messages.js";

export const pass = () => ({ tag: "pass" });
export const block = (reason) => ({ tag: "block", val: String(reason) });
export const ask = (question) => ({ tag: "ask", val: String(question) });
export const defer = (reason) => ({ tag: "defer", val: String(reason) });

export const proceed = () => ({ tag: "proceed" });
export const abort = (reason) => ({ tag: "abort", val: String(reason) });

// Which of the contract's forms this is depends on the stage, so `guest.js` puts arguments into JSON text.
export const rewrite = (val) => ({ tag: "rewrite", val });

export function amend({ text: whole, content, details, isError, terminate = false }) {
  if (whole !== undefined && content !== undefined) throw new TypeError("give `text` or `content`, not both");
  return {
    content: whole === undefined ? content : [text(whole)],
    details: details === undefined ? undefined : JSON.stringify(details),
    isError,
    terminate,
  };
}

export const keep = () => ({ tag: "none" });
export const replace = (messages) => ({ tag: "replace", val: messages });
export const summarize = (firstKept, instructions = "") => ({ tag: "summarize", val: { firstKept, instructions } });
export const newSession = (messages, sessionId) => ({ tag: "new-session", val: { messages, sessionId } });
