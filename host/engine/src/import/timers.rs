//! Timers of `wasi:clocks` in a version of our own; the clocks themselves are set in [`crate::wasi`].
//!
//! While a guest describes itself, or plays a part in which it only computes, time stands still. A timer would tell it otherwise: counting how far one gets before it
//! fires is a clock, and with a clock it could answer in another way each time.

use crate::state::State;
use wasmtime::StoreContextMut;
use wasmtime::component::Linker;
use wasmtime_wasi::clocks::WasiClocksView;
use wasmtime_wasi::p2::bindings::clocks::monotonic_clock::Host;

/// Replaces the two functions in a linker that has all of WASI.
pub(crate) fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    let mut clock = linker.instance(wasi!("clocks/monotonic-clock"))?;
    clock.func_wrap("subscribe-duration", |mut store: StoreContextMut<'_, State>, (duration,): (u64,)| {
        let state = store.data_mut();
        let duration = if state.time_stands_still() { 0 } else { duration };
        Ok((state.clocks().subscribe_duration(duration)?,))
    })?;
    clock.func_wrap("subscribe-instant", |mut store: StoreContextMut<'_, State>, (when,): (u64,)| {
        let state = store.data_mut();
        let when = if state.time_stands_still() { 0 } else { when };
        Ok((state.clocks().subscribe_instant(when)?,))
    })?;
    linker.allow_shadowing(false);
    Ok(())
}
