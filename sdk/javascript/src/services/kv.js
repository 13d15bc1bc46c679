// Persistent storage.

import { keyValue } from "#host";
import { decodeUtf8, encodeUtf8 } from "../utf8.js";
import { asked } from "./ask.js";

export const getBytes = (key) => asked(() => keyValue.get(key)) ?? undefined;

export function get(key) {
  const bytes = getBytes(key);
  return bytes === undefined ? undefined : decodeUtf8(bytes);
}

export function getJson(key) {
  const text = get(key);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`the stored value of \`${key}\` is no JSON: ${cause.message}`, { cause });
  }
}

export const set = (key, value) =>
  void asked(() => keyValue.set(key, typeof value === "string" ? encodeUtf8(value) : value));

export const setJson = (key, value) => set(key, JSON.stringify(value));

export const remove = (key) => void asked(() => keyValue.remove(key));

export const keys = (prefix = "") => asked(() => keyValue.listKeys(prefix));
