//! Host bindings of the whole contract. Only the union world is bound; which exports a component really has is found out
//! interface by interface, so that each one is optional.

wasmtime::component::bindgen!({
    path: "../../wit/v0.1",
    world: "everything",
    imports: { default: trappable },
    exports: { default: async },
    additional_derives: [PartialEq],
});
