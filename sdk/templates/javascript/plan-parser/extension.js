// A reader of plans: it makes steps of what a model wrote. It computes its answer from the text alone, so it is called without any grant.

import { defineExtension } from "capstan-sdk";

// A numbered line, `1. Do this` or `1) Do this`.
const STEP = /^\s*\d+[.)]\s*(\S.*?)\s*$/;

export default defineExtension({
  summary: "Lines that begin with a number and a dot, one for each step.",
  planParsers: {
    numbered(raw) {
      const steps = raw.split("\n").flatMap((line) => STEP.exec(line)?.[1] ?? []);
      if (steps.length === 0) throw new Error("there are no numbered lines; write each step as `1. What to do`");
      return steps;
    },
  },
});
