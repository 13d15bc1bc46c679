//! The sandbox: load, limit, call and cache WebAssembly components.
