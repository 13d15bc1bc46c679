// A tool for the model. The descriptions are what the model reads; the schema is also the validation.

import { defineExtension, defineTool } from "capstan-sdk";

const countWords = defineTool({
  name: "count_words",
  description: "Counts the words and lines of a text.",
  parameters: {
    type: "object",
    properties: {
      text: { type: "string", description: "The text." },
      lines: { type: "boolean", description: "Count lines as well." },
    },
    required: ["text"],
    additionalProperties: false,
  },
  run({ text, lines = false }) {
    if (text === "") throw new Error("`text` is empty: give the text to count");
    const words = text.split(/\s+/).filter(Boolean).length;
    return lines ? `${words} words, ${text.split("\n").length} lines` : `${words} words`;
  },
});

export default defineExtension({
  summary: "Counts words.",
  tools: [countWords],
});
