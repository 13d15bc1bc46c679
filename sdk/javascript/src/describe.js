// What an extension says about itself, from its definition. Runs natively, where it is built and tested: the component carries the
// finished descriptor, so that it needs nothing of a schema library for it.

// The stages of the contract by the names that authors use, with the interface of each.
export const STAGES = {
  beforeTurn: "before-turn",
  beforeModel: "before-model",
  afterModel: "after-model",
  modelError: "model-error",
  beforeToolCall: "before-tool-call",
  afterToolCall: "after-tool-call",
  toolError: "tool-error",
  afterTurn: "after-turn",
  turnError: "turn-error",
  planStep: "plan-step",
  sessionLifecycle: "session-lifecycle",
};

const FIELDS = [
  "id",
  "version",
  "summary",
  "requests",
  "configSchema",
  "lifetime",
  "tools",
  "hooks",
  "planParsers",
  "compressors",
  "commands",
  "observer",
  "memory",
];

// `toJSONSchema` is zod's, for schemas that cannot say their JSON Schema themselves (those of zod/mini).
function jsonSchema(schema, what, toJSONSchema) {
  const standard = schema["~standard"];
  let json = schema;
  if (standard?.jsonSchema) json = standard.jsonSchema.input({ target: "draft-2020-12" });
  else if (standard?.vendor === "zod" && toJSONSchema) json = toJSONSchema(schema, { io: "input" });
  else if (standard) throw new Error(`the schema of ${what} has no JSON Schema form; use zod 4, or write JSON Schema`);
  const { $schema: _dialect, ...rest } = json;
  if (rest.type !== "object") throw new Error(`the schema of ${what} must have the type \`object\``);
  return JSON.stringify(rest);
}

function describeHook([name, hook]) {
  const stage = STAGES[name];
  if (stage === undefined) {
    throw new Error(`\`hooks\` has no stage \`${name}\`; it is one of ${Object.keys(STAGES).join(", ")}`);
  }
  const { tools = [], priority = 0, failClosed = false } = typeof hook === "function" ? {} : hook;
  return { stage, tools, priority, onFailure: failClosed ? "closed" : "standard" };
}

export function describe(definition, { id, version, toJSONSchema } = {}) {
  if (typeof definition !== "object" || definition === null) {
    throw new Error("the module's default export is no extension; write `export default defineExtension({ … })`");
  }
  const unknown = Object.keys(definition).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) {
    throw new Error(`an extension has no field \`${unknown}\`; it has ${FIELDS.join(", ")}`);
  }
  return {
    id: definition.id ?? id,
    version: definition.version ?? version,
    summary: definition.summary ?? "",
    tools: (definition.tools ?? []).map((tool) => ({
      name: tool.name,
      label: tool.label ?? "",
      description: tool.description,
      parameters: jsonSchema(tool.parameters ?? { type: "object", properties: {} }, `tool \`${tool.name}\``, toJSONSchema),
      execution: tool.execution ?? "parallel",
    })),
    hooks: Object.entries(definition.hooks ?? {}).map(describeHook),
    planParsers: Object.keys(definition.planParsers ?? {}),
    compressors: Object.keys(definition.compressors ?? {}),
    commands: Object.entries(definition.commands ?? {}).map(([name, { description }]) => ({ name, description })),
    requests: definition.requests ?? [],
    configSchema: definition.configSchema && jsonSchema(definition.configSchema, "the configuration", toJSONSchema),
    lifetime: definition.lifetime ?? "call",
  };
}

// The interfaces that a definition exports, each with the name of its function in `guest.js`.
export function interfaces(definition) {
  const has = (table) => Object.keys(table ?? {}).length > 0;
  const found = [];
  if ((definition.tools ?? []).length > 0) found.push(["tools", "tools"]);
  if ((definition.tools ?? []).some((tool) => tool.prepare)) found.push(["tool-arguments", "toolArguments"]);
  for (const name of Object.keys(definition.hooks ?? {})) found.push([STAGES[name], name]);
  if (has(definition.planParsers)) found.push(["plan-parser", "planParser"]);
  if (has(definition.compressors)) found.push(["compressor", "compressor"]);
  if (definition.observer) found.push(["observer", "observer"]);
  if (definition.memory) found.push(["memory", "memory"]);
  if (has(definition.commands)) found.push(["commands", "commands"]);
  return found;
}

// Functions that answer promises, by name: QuickJS has no event loop that would settle them.
export function asynchronous(definition) {
  const functions = [
    ...(definition.tools ?? []).flatMap((tool) => [
      [`tool \`${tool.name}\``, tool.run],
      [`\`prepare\` of tool \`${tool.name}\``, tool.prepare],
    ]),
    ...Object.entries(definition.hooks ?? {}).map(([name, hook]) => [`hook \`${name}\``, hook.run ?? hook]),
    ...Object.entries(definition.planParsers ?? {}).map(([name, parse]) => [`plan parser \`${name}\``, parse]),
    ...Object.entries(definition.compressors ?? {}).map(([name, compress]) => [`compressor \`${name}\``, compress]),
    ...Object.entries(definition.commands ?? {}).map(([name, command]) => [`command \`${name}\``, command.run]),
    ["the observer", definition.observer],
  ];
  return functions.filter(([, run]) => run?.constructor?.name === "AsyncFunction").map(([name]) => name);
}
