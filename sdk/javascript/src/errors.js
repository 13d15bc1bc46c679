// Errors of author code: their text, and their place in the author's files.

export function messageOf(error) {
  if (error instanceof Error) return error.message || error.name;
  return typeof error === "string" ? error : (JSON.stringify(error) ?? String(error));
}

// The builder appends this: for each run of lines of the bundle that comes from one file of the author, where it begins in both.
const lines = () => globalThis.__capstanLines ?? { files: [], runs: [] };

// `name (file:line)` for each frame of the stack that is the author's, the innermost first.
export function placesOf(error) {
  const { files, runs } = lines();
  const places = [];
  for (const frame of String(error?.stack ?? "").split("\n")) {
    // QuickJS: `at name (file:line:column)`; StarlingMonkey: `name@file:line:column`.
    const found = /^\s*at (?:(.*?) \()?.*?:(\d+)(?::\d+)?\)?$/.exec(frame) ?? /^([^@]*)@.*?:(\d+):\d+$/.exec(frame);
    if (!found) continue;
    const line = Number(found[2]);
    const run = runs.find(([from, count]) => line >= from && line < from + count);
    if (run) places.push(`${found[1] || "(top level)"} (${files[run[2]]}:${run[3] + line - run[0]})`);
  }
  return places;
}

export function withPlaces(error) {
  const places = placesOf(error);
  const name = error instanceof Error && error.name !== "Error" ? `${error.name}: ` : "";
  return [name + messageOf(error), ...places.slice(0, 8).map((place) => `  at ${place}`)].join("\n");
}
