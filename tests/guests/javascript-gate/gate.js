// A gate in JavaScript: blocks a marked command, answers nonsense to another, lets every other pass.

import { block, defineExtension, pass } from "capstan-sdk";

export default defineExtension({
  summary: "A gate in JavaScript.",
  hooks: {
    beforeToolCall: {
      tools: ["bash"],
      run({ args: { command } }) {
        if (command.includes("answer-nonsense")) return { tag: "nonsense" };
        return command.includes("must-block-this") ? block("marked") : pass();
      },
    },
  },
});
