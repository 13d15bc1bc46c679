// Takes the types out of TypeScript modules while Node loads them. Types are checked by `tsc`, not here.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";

export async function resolve(specifier, context, next) {
  try {
    return await next(specifier, context);
  } catch (error) {
    // The other way of naming a TypeScript module: by the name that a compiler would give its output.
    if (error.code !== "ERR_MODULE_NOT_FOUND" || !/^\.{1,2}\/.*\.js$/.test(specifier)) throw error;
    return next(specifier.replace(/\.js$/, ".ts"), context);
  }
}

export async function load(url, context, next) {
  if (!/^file:.*\.m?ts$/.test(url)) return next(url, context);
  const sourcefile = fileURLToPath(url);
  const { code } = await transform(await readFile(sourcefile, "utf8"), {
    loader: "ts",
    format: "esm",
    target: "node20",
    sourcefile,
    sourcemap: "inline",
  });
  return { format: "module", source: code, shortCircuit: true };
}
