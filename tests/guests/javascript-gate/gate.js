// A gate in JavaScript: blocks a marked command, lets every other pass.

export const extension = {
  describe() {
    return {
      id: "javascript-gate",
      version: "0.1.0",
      summary: "A gate in JavaScript.",
      tools: [],
      hooks: [{ stage: "before-tool-call", tools: ["bash"], priority: 0, onFailure: "standard" }],
      planParsers: [],
      compressors: [],
      commands: [],
      requests: [],
      configSchema: undefined,
      lifetime: "call",
    };
  },
};

export const beforeToolCall = {
  run(_context, call) {
    const { command } = JSON.parse(call.arguments);
    return command.includes("must-block-this") ? { tag: "block", val: "marked" } : { tag: "pass" };
  },
};
