// What an extension consists of. These functions only carry types: the definition is plain data, read by `guest.js` inside of the
// component and by `describe.js` where it is built and tested.

export const defineExtension = (definition) => definition;

export const defineTool = (tool) => tool;

export const defineHook = (_stage, hook) => hook;
