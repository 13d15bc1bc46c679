// The host inside of a component: the imports of the contract. The bundler takes this file for `#host` and gives each of these names
// the contract's interface; what an extension does not use falls out of the bundle, and so out of the component's imports.

export { default as cancellation } from "capstan:cancellation";
export { default as config } from "capstan:config";
export { default as events } from "capstan:events";
export { default as keyValue } from "capstan:key-value";
export { default as log } from "capstan:log";
export { default as model } from "capstan:model";
export { default as process } from "capstan:process";
export { default as progress } from "capstan:progress";
export { default as sessionMemory } from "capstan:session-memory";
