// The running call.

import { cancellation, config as table, progress as reports } from "#host";
import { parseWith } from "../schema.js";

export const progress = (text) => reports.report(String(text));

export const isCancelled = () => cancellation.isCancelled();

export const config = (schema) => parseWith(schema, JSON.parse(table.get()), "the configuration");
