// A compressor: it is shown the conversation before each model call and says what is to be done so that it fits. It computes its answer
// from the conversation alone, so it is called without any grant.

import { defineExtension, keep, request, summarize } from "capstan-sdk";

// Messages at the end that stay as they are.
const KEPT = 6;

export default defineExtension({
  summary: "Has old messages summarized before the window is full.",
  requests: [request.power("compress", "to shorten conversations that grow too long")],
  compressors: {
    // Has the older part summarized once less than a quarter of the window is left.
    "three-quarters"(messages, { windowTokens, usedTokens, reserveTokens, instructions }) {
      const room = windowTokens - reserveTokens;
      if (windowTokens === 0 || usedTokens < room * 0.75 || messages.length <= KEPT) return keep();
      const wishes = ["Keep decisions, names of files, and what is still to be done.", instructions ?? ""];
      // The host moves the cut where it would separate a call from its result.
      return summarize(messages.length - KEPT, wishes.join(" ").trim());
    },
  },
});
