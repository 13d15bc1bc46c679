// Values against the author's schema. A plain JSON Schema was already enforced by the host; schemas of a library (zod and others that
// follow the Standard Schema convention) are run here, because they can also fill in defaults and transform.

export function parseWith(schema, value, what) {
  const standard = schema?.["~standard"];
  if (standard === undefined) return value;
  const outcome = standard.validate(value);
  if (typeof outcome.then === "function") throw new TypeError(`the schema of ${what} answers a promise, which is not possible here`);
  if (outcome.issues) throw new Error(outcome.issues.map((issue) => `${what}${place(issue.path)}: ${issue.message}`).join("\n"));
  return outcome.value;
}

function place(path = []) {
  const keys = path.map((part) => (typeof part === "object" ? part.key : part));
  return keys.length === 0 ? "" : ` at \`${keys.join(".")}\``;
}
