// Calls to the host that it may refuse.

const MEANINGS = { "timed-out": "the deadline passed" };

export class HostError extends Error {
  constructor(kind, detail) {
    super(detail ?? MEANINGS[kind] ?? kind);
    this.name = "HostError";
    this.kind = kind;
  }
}

// The engines throw an error of their own around the contract's `host-error`.
export function asked(call) {
  try {
    return call();
  } catch (error) {
    const payload = error?.payload ?? error;
    if (typeof payload?.tag === "string") throw new HostError(payload.tag, payload.val);
    throw error;
  }
}
