// Facts of the session.

import { sessionMemory } from "#host";
import { asked } from "./ask.js";

export const get = (key) => asked(() => sessionMemory.get(key)) ?? undefined;
export const set = (key, value) => void asked(() => sessionMemory.set(key, value));
export const remove = (key) => void asked(() => sessionMemory.remove(key));
export const snapshot = () => asked(() => sessionMemory.snapshot());
