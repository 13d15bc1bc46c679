// Events of the extension's own.

import { events } from "#host";

export const emit = (label, data) => events.emit(label, JSON.stringify(data) ?? "null");
