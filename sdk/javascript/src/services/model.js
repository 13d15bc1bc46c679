// The host's model.

import { model } from "#host";
import { textOf, userMessage } from "../messages.js";
import { asked } from "./ask.js";

export const complete = (messages, maxTokens) => asked(() => model.complete(messages, maxTokens));

export const ask = (prompt, maxTokens) => textOf(complete([userMessage(prompt)], maxTokens).message);
