// Which line of the bundle comes from which line of the author's files, in the form that `errors.js` reads.

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// The numbers of one segment of a source map, which are variable-length and in base 64.
function numbers(segment) {
  const found = [];
  let value = 0;
  let shift = 0;
  for (const digit of segment) {
    const bits = DIGITS.indexOf(digit);
    value += (bits & 31) * 2 ** shift;
    shift += 5;
    if (bits & 32) continue;
    found.push(value % 2 === 1 ? -Math.floor(value / 2) : value / 2);
    value = 0;
    shift = 0;
  }
  return found;
}

// `nameOf` gives an author's file its name, and answers nothing for others.
export function authorLines({ mappings, sources }, nameOf) {
  const files = [];
  const runs = [];
  let source = 0;
  let original = 0;
  mappings.split(";").forEach((line, at) => {
    let first;
    for (const segment of line.split(",").filter(Boolean)) {
      const [, toSource = 0, toLine = 0] = numbers(segment);
      source += toSource;
      original += toLine;
      first ??= [source, original];
    }
    const file = first && nameOf(sources[first[0]]);
    if (!file) return;
    if (!files.includes(file)) files.push(file);
    const [index, from, to] = [files.indexOf(file), at + 1, first[1] + 1];
    const last = runs.at(-1);
    if (last && last[2] === index && last[0] + last[1] === from && last[3] + last[1] === to) last[1] += 1;
    else runs.push([from, 1, index, to]);
  });
  return { files, runs };
}
