// The list and what can be done to it. Plain values: where they are kept is the extension's business.

export interface Item {
  readonly id: number;
  readonly text: string;
  readonly done: boolean;
}

export interface List {
  /** The number of the next item. Numbers are not used twice, so an old number never means a new item. */
  readonly next: number;
  readonly items: readonly Item[];
}

export const EMPTY: List = { next: 1, items: [] };

const MOST_ITEMS = 200;
const LONGEST = 500;

export function add(list: List, texts: readonly string[]): List {
  const added = texts.map((text, at) => ({ id: list.next + at, text: oneLine(text), done: false }));
  if (added.length === 0) throw new Error("`items` is empty: give what is to be done");
  if (list.items.length + added.length > MOST_ITEMS) {
    throw new Error(`a list holds at most ${MOST_ITEMS} items and has ${list.items.length}; remove what is done`);
  }
  return { next: list.next + added.length, items: [...list.items, ...added] };
}

export function mark(list: List, ids: readonly number[], done: boolean): List {
  const marked = known(list, ids);
  return { ...list, items: list.items.map((item) => (marked.has(item.id) ? { ...item, done } : item)) };
}

export function remove(list: List, ids: readonly number[]): List {
  const removed = known(list, ids);
  return { ...list, items: list.items.filter((item) => !removed.has(item.id)) };
}

export function withoutDone(list: List): List {
  return { ...list, items: list.items.filter((item) => !item.done) };
}

export function shown(list: List): string {
  if (list.items.length === 0) return "Nothing to do.";
  const open = list.items.filter((item) => !item.done).length;
  const lines = list.items.map(({ id, text, done }) => `[${done ? "x" : " "}] ${id} ${text}`);
  return [`${open} open, ${list.items.length - open} done`, ...lines].join("\n");
}

function known(list: List, ids: readonly number[]): Set<number> {
  if (ids.length === 0) throw new Error("`ids` is empty: give the numbers of items");
  const unknown = ids.filter((id) => !list.items.some((item) => item.id === id));
  if (unknown.length > 0) throw new Error(`there is no item ${unknown.join(", ")}\n${shown(list)}`);
  return new Set(ids);
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  if (line === "") throw new Error("an item without text: say what is to be done");
  if (line.length > LONGEST) throw new Error(`an item has at most ${LONGEST} characters, and this one ${line.length}: ${line.slice(0, 40)}…`);
  return line;
}
