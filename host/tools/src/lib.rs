//! Built-in tools over an injected workspace and command runtime.
