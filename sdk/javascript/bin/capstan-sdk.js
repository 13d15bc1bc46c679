#!/usr/bin/env node
// `capstan-sdk build --wit FOLDER --out FILE`: makes the component of the project in the working folder. `capstan ext build` calls it.

import { parseArgs } from "node:util";
import { build } from "../src/build/build.js";

const USAGE = "capstan-sdk build --wit FOLDER --out FILE   (`capstan ext build` is the command for people)";

async function main() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { wit: { type: "string" }, out: { type: "string" } },
  });
  if (positionals.join(" ") !== "build" || !values.wit || !values.out) throw new Error(`usage: ${USAGE}`);
  await build({ project: process.cwd(), wit: values.wit, out: values.out });
}

try {
  await main();
} catch (error) {
  // The stack of this program says nothing to an author, whose own errors are in the text.
  console.error(`error: ${error.message}`);
  process.exitCode = 1;
}
