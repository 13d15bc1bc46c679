// The author's modules and what they import as one file, in two forms: for Node, to look at the definition, and for the component.

import { join, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import * as esbuild from "esbuild";
import { authorLines } from "./lines.js";

// esbuild shows what is wrong itself, with the place in the author's file.
const run = (options) =>
  esbuild.build({ bundle: true, format: "esm", logLevel: "warning", legalComments: "none", ...options }).catch((error) => {
    throw new Error(`the extension does not bundle (${error.errors?.length ?? 1} errors, above)`);
  });

export async function loadNatively(project, work) {
  const outfile = join(work, "native.mjs");
  await run({ entryPoints: [project.entry], absWorkingDir: project.folder, platform: "node", outfile, sourcemap: "inline" });
  process.setSourceMapsEnabled(true);
  let loaded;
  try {
    loaded = await import(pathToFileURL(outfile));
  } catch (error) {
    throw new Error(`${relative(project.folder, project.entry)} fails while it is loaded:\n${error.stack}`);
  }
  return loaded.default;
}

// The contract's interfaces stay imports. Each has a module of its own around it, because a bundler drops a module of which nothing is
// used, and keeps an import.
const contract = {
  name: "contract",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^capstan:extension\// }, ({ path }) => ({ path, external: true }));
    onResolve({ filter: /^capstan:[a-z-]+$/ }, ({ path }) => ({
      path: path.replace("capstan:", ""),
      namespace: "contract",
      sideEffects: false,
    }));
    onLoad({ filter: /.*/, namespace: "contract" }, ({ path }) => ({
      contents: `import * as interface_ from "capstan:extension/${path}@0.1.0"; export default interface_;`,
    }));
  },
};

// The bundle is not minified: its size in the component is that of its objects rather than of its text, and in this form each of
// its lines belongs to one line of a source file.
export async function bundle(project, entry) {
  const bundled = await bundleOnce(project, entry([]));
  // A global that QuickJS lacks and that costs some kilobytes, so only those pay who write to it.
  const needsConsole = project.engine === "quickjs" && /\bconsole\b/.test(bundled.code);
  return needsConsole ? bundleOnce(project, entry(["../host/console.js"])) : bundled;
}

async function bundleOnce(project, entry) {
  const outfile = join(project.folder, "extension.js");
  const built = await run({
    stdin: { contents: entry, resolveDir: project.folder, sourcefile: "capstan-entry.js" },
    absWorkingDir: project.folder,
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["capstan-component", "module"],
    target: "es2022",
    plugins: [contract],
    metafile: true,
    sourcemap: "external",
    write: false,
    outfile,
  });
  const [map, code] = ["extension.js.map", "extension.js"].map(
    (name) => built.outputFiles.find((file) => file.path.endsWith(name)).text,
  );
  const imports = Object.values(built.metafile.outputs)
    .flatMap((output) => output.imports)
    .filter(({ external, path }) => external && path.startsWith("capstan:"))
    .map(({ path }) => /\/(.*)@/.exec(path)[1]);
  const lines = authorLines(JSON.parse(map), (source) => {
    const path = relative(project.folder, resolve(project.folder, source));
    const isTheirs = !path.startsWith("..") && !path.split(sep).includes("node_modules") && !/^(capstan-entry.js|contract:.*)$/.test(path);
    return isTheirs ? path : undefined;
  });
  return { code: `${code}\nglobalThis.__capstanLines = ${JSON.stringify(lines)};\n`, imports: [...new Set(imports)].sort() };
}
