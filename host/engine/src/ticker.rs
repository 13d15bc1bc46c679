//! Raises the epoch of an engine, so that a guest that computes without end comes to a point where it can be stopped.
//!
//! A thread and not a task: on a runtime whose only worker is inside a guest, no task would run. It holds the engine
//! weakly and ends with it, so engines do not leave threads behind.

use crate::error::EngineError;
use crate::limits::EPOCH_TICK;
use wasmtime::Engine;

/// Starts the ticker of one engine.
pub(crate) fn start(engine: &Engine) -> Result<(), EngineError> {
    let weak = engine.weak();
    std::thread::Builder::new()
        .name("capstan-epoch".to_owned())
        .spawn(move || {
            loop {
                std::thread::sleep(EPOCH_TICK);
                match weak.upgrade() {
                    Some(engine) => engine.increment_epoch(),
                    None => return,
                }
            }
        })
        .map(drop)
        .map_err(|source| EngineError { action: "starting the epoch thread", source: source.into() })
}

#[cfg(all(test, target_os = "linux"))]
#[path = "ticker_tests.rs"]
mod tests;
