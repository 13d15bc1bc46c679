// A gate: it is asked before a tool runs, and lets the call pass, blocks it, or has a person asked. It cannot allow anything that would
// otherwise be denied.

import { block, config, defineExtension, pass } from "capstan-sdk";

// What the user can set, in the table `[extension.{{name}}]` of the configuration.
const settings = {
  type: "object",
  properties: {
    protected: {
      type: "array",
      items: { type: "string" },
      description: "Ends of file names that are not to be written.",
    },
  },
  additionalProperties: false,
} as const;

export default defineExtension({
  summary: "Keeps generated files from being written by hand.",
  configSchema: settings,
  hooks: {
    beforeToolCall: {
      tools: ["write", "edit"],
      run(call) {
        const { protected: ends = [".lock"] } = config(settings);
        const { path } = call.args as { path: string };
        const end = ends.find((end) => path.endsWith(end));
        return end ? block(`Files that end in \`${end}\` are not written by hand.`) : pass();
      },
    },
  },
});
