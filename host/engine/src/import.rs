//! The host functions of the contract. `log`, `progress`, `cancellation`, `config` and `events` are always there; the
//! others answer `denied` without their grant, whatever the guest imports.

/// The full name of an interface of WASI, in the version that wasmtime links. Were it another, the functions that replace
/// wasmtime's would stand beside them instead; the suite of files would notice.
macro_rules! wasi {
    ($interface:literal) => {
        concat!("wasi:", $interface, "@0.2.12")
    };
}

mod always;
mod files;
mod http;
mod key_value;
mod model;
mod process;
mod session_memory;
mod timers;

pub(crate) use always::printable;
pub(crate) use http::{BoundSecrets, HttpBudget};
pub(crate) use model::Accounts;

use crate::bindings;
use crate::bindings::capstan::extension::types::HostError;
use crate::error::EngineError;
use crate::state::State;
use wasmtime::Engine;
use wasmtime::component::{HasSelf, Linker};

/// A linker with everything that a guest may import.
pub(crate) fn linker(engine: &Engine) -> Result<Linker<State>, EngineError> {
    let failed =
        |source: wasmtime::Error| EngineError { action: "linking host functions", source: source.into() };
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker).map_err(failed)?;
    files::add_to_linker(&mut linker).map_err(failed)?;
    http::add_to_linker(&mut linker).map_err(failed)?;
    timers::add_to_linker(&mut linker).map_err(failed)?;
    bindings::Everything::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state).map_err(failed)?;
    Ok(linker)
}

/// The answer to a call without its grant: an error that the extension can handle, never a trap.
fn not_granted(capability: &str) -> HostError {
    HostError::Denied(format!("the capability `{capability}` is not granted"))
}

/// The answer where the program around the engine lends no such service.
fn not_lent(service: &str) -> HostError {
    HostError::Failed(format!("this host has no {service} for extensions"))
}
