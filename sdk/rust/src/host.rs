//! The imports: those of the sandbox, or on a native target the stand-ins of [`testing`](crate::testing).

#[cfg(target_arch = "wasm32")]
pub(crate) use crate::bindings::contract::capstan::extension::{
    cancellation, config, events, key_value, log, model, process, progress, session_memory,
};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use crate::native::{
    cancellation, config, events, key_value, log, model, process, progress, session_memory,
};

#[cfg(all(feature = "http", target_arch = "wasm32"))]
pub(crate) use crate::http::wasi as http;
#[cfg(all(feature = "http", not(target_arch = "wasm32")))]
pub(crate) use crate::native::http;
