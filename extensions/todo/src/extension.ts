// A list of things to do. The model keeps it with the tool `todo`, the person with `/todo`; both see the same one.

import { config, defineExtension, defineTool, kv, request } from "capstan-sdk";
import { EMPTY, type List, add, mark, remove, shown, withoutDone } from "./list.ts";

const settings = {
  type: "object",
  properties: {
    list: {
      type: "string",
      pattern: "^[A-Za-z0-9._-]{1,64}$",
      description: "Which list this is about. Without it: `default`.",
    },
  },
  additionalProperties: false,
} as const;

const key = (): string => `list:${config(settings).list ?? "default"}`;

const load = (): List => kv.getJson<List>(key()) ?? EMPTY;

function keep(list: List): string {
  kv.setJson(key(), list);
  return shown(list);
}

const todo = defineTool({
  name: "todo",
  label: "to-do list",
  description:
    "Keeps a list of things to do that stays over sessions and that the user sees as well. Use it for work of several steps: add the " +
    "steps first, mark each as done right after it is done, and remove what is no longer wanted. Every answer is the whole list.",
  parameters: {
    type: "object",
    properties: {
      action: { enum: ["list", "add", "done", "reopen", "remove"], description: "What to do." },
      items: { type: "array", items: { type: "string" }, description: "With `add`: one line for each thing to do." },
      ids: { type: "array", items: { type: "integer" }, description: "With `done`, `reopen` and `remove`: numbers of items." },
    },
    required: ["action"],
    additionalProperties: false,
  },
  // Each call reads the list and writes it back; two at once would lose one of the changes.
  execution: "sequential",
  run({ action, items = [], ids = [] }) {
    switch (action) {
      case "list":
        return shown(load());
      case "add":
        return keep(add(load(), items));
      case "done":
      case "reopen":
        return keep(mark(load(), ids, action === "done"));
      case "remove":
        return keep(remove(load(), ids));
    }
  },
});

const HELP = "/todo, /todo add TEXT, /todo done N…, /todo reopen N…, /todo remove N…, /todo clear (removes what is done)";

function numbers(line: string): number[] {
  return line.split(/[\s,]+/).map((word) => {
    if (!/^\d+$/.test(word)) throw new Error(`\`${word}\` is no number of an item. ${HELP}`);
    return Number(word);
  });
}

function command(line: string): string {
  const [verb = "", rest = ""] = line.trim().split(/\s+(.*)/s);
  switch (verb) {
    case "":
    case "list":
      return shown(load());
    case "add":
      return keep(add(load(), [rest]));
    case "done":
    case "reopen":
      return keep(mark(load(), numbers(rest), verb === "done"));
    case "remove":
      return keep(remove(load(), numbers(rest)));
    case "clear":
      return keep(withoutDone(load()));
    default:
      throw new Error(`\`${verb}\` is nothing that can be done here. ${HELP}`);
  }
}

export default defineExtension({
  summary: "A list of things to do, for the model and for you.",
  requests: [request.keyValue(256 * 1024, "The list is kept there, so that it outlives the session.")],
  configSchema: settings,
  tools: [todo],
  commands: { todo: { description: "Shows the list of things to do, or changes it: add, done, reopen, remove, clear", run: command } },
});
