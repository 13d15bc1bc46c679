//! One call of a guest: instantiate under limits, run against a deadline, say what went wrong.

use crate::abi::Interface;
use crate::bindings::exports::capstan::extension as exports;
use crate::error::CallError;
use crate::import::printable;
use crate::limits::Limits;
use crate::state::{State, TooManyHostCalls};
use crate::trace;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wasmtime::component::{Component, Instance, InstancePre, Linker, ResourceTableError};
use wasmtime::{CallHook, Engine, Store, Trap, UpdateDeadline, WasmBacktrace};

/// Compiled, linked code with its exports looked up.
pub(crate) struct Code {
    pre: InstancePre<State>,
    pub(crate) indices: Indices,
    /// Whether an instance needs a WASI context at all; lean guests import none, and building one costs as much as their
    /// whole call.
    pub(crate) imports_wasi: bool,
}

macro_rules! indices {
    ($($field:ident => $interface:ident,)*) => {
        /// Where the exports are. An interface that is exported is exported whole, or the component does not load.
        pub(crate) struct Indices {
            pub(crate) extension: exports::extension::GuestIndices,
            $(pub(crate) $field: Option<exports::$field::GuestIndices>,)*
        }

        impl Indices {
            fn find(pre: &InstancePre<State>) -> wasmtime::Result<Self> {
                let exported = |interface: Interface| {
                    pre.component().get_export_index(None, &interface.export_name()).is_some()
                };
                Ok(Self {
                    extension: exports::extension::GuestIndices::new(pre)?,
                    $($field: match exported(Interface::$interface) {
                        true => Some(exports::$field::GuestIndices::new(pre)?),
                        false => None,
                    },)*
                })
            }

            /// Compares the types of all exports with the contract's. Types are only looked at in an instance, so without
            /// this a wrong one would show in the first call.
            pub(crate) fn check(&self, store: &mut Store<State>, instance: &Instance) -> wasmtime::Result<()> {
                self.extension.load(&mut *store, instance)?;
                $(if let Some(indices) = &self.$field {
                    indices.load(&mut *store, instance)?;
                })*
                Ok(())
            }
        }
    };
}

indices! {
    tools => Tools,
    tool_arguments => ToolArguments,
    before_turn => BeforeTurn,
    before_model => BeforeModel,
    after_model => AfterModel,
    model_error => ModelError,
    before_tool_call => BeforeToolCall,
    after_tool_call => AfterToolCall,
    tool_error => ToolError,
    after_turn => AfterTurn,
    turn_error => TurnError,
    plan_step => PlanStep,
    session_lifecycle => SessionLifecycle,
    plan_parser => PlanParser,
    compressor => Compressor,
    observer => Observer,
    memory => Memory,
    commands => Commands,
}

/// An instance and the store that it lives in.
pub(crate) struct Guest {
    pub(crate) store: Store<State>,
    pub(crate) instance: Instance,
}

impl Code {
    pub(crate) fn link(linker: &Linker<State>, component: &Component) -> wasmtime::Result<Self> {
        let pre = linker.instantiate_pre(component)?;
        let indices = Indices::find(&pre)?;
        let ty = component.component_type();
        let imports_wasi = ty.imports(component.engine()).any(|(name, _)| name.starts_with("wasi:"));
        Ok(Self { pre, indices, imports_wasi })
    }

    /// A fresh instance. Limits are in force before the first instruction: a start function is guest code too.
    pub(crate) async fn instantiate(
        &self,
        engine: &Engine,
        state: State,
        limits: &Limits,
    ) -> Result<Guest, CallError> {
        let mut store = Store::new(engine, state);
        store.limiter(|state| &mut state.limiter);
        store.set_hostcall_fuel(limits.hostcall_bytes);
        // Each tick hands the thread back; whether the guest may go on is decided by `bounded`.
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|mut store| {
            // To come here is a call of the host too, but none that the guest made.
            let state = store.data_mut();
            state.host_calls = state.host_calls.saturating_sub(1);
            Ok(UpdateDeadline::Yield(1))
        });
        store.call_hook(|mut store, hook| match hook {
            CallHook::CallingHost => store.data_mut().count_host_call(),
            CallHook::ReturningFromHost | CallHook::CallingWasm | CallHook::ReturningFromWasm => Ok(()),
        });
        match self.pre.instantiate_async(&mut store).await {
            Ok(instance) => Ok(Guest { store, instance }),
            Err(reason) => Err(failure(reason, &mut store)),
        }
    }
}

/// Runs guest work against a deadline and an abort. When either comes first, the work is dropped, and with it the store.
///
/// A spinning guest returns here every epoch tick, a guest that waits in a host call does so by waiting, so both are met.
pub(crate) async fn bounded<R>(
    deadline: Duration,
    cancel: &CancellationToken,
    work: impl Future<Output = Result<R, CallError>>,
) -> Result<R, CallError> {
    let end = tokio::time::Instant::now() + deadline;
    tokio::select! {
        biased;
        // A guest that fails after its time is up fails because of that: a host call that came back late broke it.
        result = work => match result {
            Err(_) if tokio::time::Instant::now() >= end => Err(CallError::TimedOut { limit: deadline }),
            result => result,
        },
        () = cancel.cancelled() => Err(CallError::Cancelled),
        () = tokio::time::sleep_until(end) => Err(CallError::TimedOut { limit: deadline }),
    }
}

/// What an engine error means, with what the guest last wrote to stderr.
pub(crate) fn failure(reason: wasmtime::Error, store: &mut Store<State>) -> CallError {
    let state = store.data();
    if let Some(resource) = state.limiter.refused {
        let limit = match resource {
            "memory" => format!("{} MiB", state.limiter.memory_limit() >> 20),
            _ => "the limit of its role".to_owned(),
        };
        return CallError::Exhausted { resource, limit };
    }
    if let Some(TooManyHostCalls { limit }) = reason.downcast_ref() {
        return CallError::Exhausted { resource: "host calls", limit: format!("{limit} in one call") };
    }
    if let Some(ResourceTableError::Full) = reason.downcast_ref() {
        let limit = format!("{} at a time", state.limiter.resource_limit());
        return CallError::Exhausted { resource: "open files, streams and timers", limit };
    }
    if let Some(used_up) = state.quota.used_up() {
        let resource = "bytes that it may write to files";
        return CallError::Exhausted { resource, limit: used_up.to_string() };
    }
    let mut text = match (reason.downcast_ref::<Trap>(), reason.downcast_ref::<wasmtime_wasi::I32Exit>()) {
        (Some(trap), _) => trap.to_string(),
        (None, Some(exit)) => format!("it called exit with status {}", exit.0),
        (None, None) => {
            // Lifting errors (a bad discriminant, text that is not UTF-8, a pointer out of bounds) are plain errors.
            return CallError::Garbage { reason: printable(&format!("{}", reason.root_cause()), 600) };
        }
    };
    if let Some(backtrace) = reason.downcast_ref::<WasmBacktrace>() {
        let places = trace::places(backtrace);
        if !places.is_empty() {
            text = format!("{text} (in {})", places.join(", called by "));
        }
    }
    let stderr = state.captured.stderr.take();
    if !stderr.trim().is_empty() {
        text = format!("{text}; it wrote: {}", stderr.trim());
    }
    CallError::Trapped { reason: printable(&text, 4 << 10) }
}

#[cfg(test)]
#[path = "call_tests.rs"]
mod tests;
