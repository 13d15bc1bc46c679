//! Host bindings of the whole contract. Only the union world is bound; which exports a component really has is found out
//! interface by interface, so that each one is optional.

wasmtime::component::bindgen!({
    path: "../../wit/v0.1",
    world: "everything",
    imports: {
        // These wait: for a disk, a program, a model.
        "capstan:extension/key-value.get": async | trappable,
        "capstan:extension/key-value.set": async | trappable,
        "capstan:extension/key-value.remove": async | trappable,
        "capstan:extension/key-value.list-keys": async | trappable,
        "capstan:extension/session-memory.get": async | trappable,
        "capstan:extension/session-memory.set": async | trappable,
        "capstan:extension/session-memory.remove": async | trappable,
        "capstan:extension/session-memory.snapshot": async | trappable,
        "capstan:extension/process.run": async | trappable,
        "capstan:extension/model.complete": async | trappable,
        default: trappable,
    },
    exports: { default: async },
    additional_derives: [PartialEq],
});
