// Lets Node run the TypeScript of an extension and its tests: `node --import capstan-sdk/register --test src/*.test.ts`.

import { register } from "node:module";

register("./loader.js", import.meta.url);
