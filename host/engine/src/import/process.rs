//! Programs of the host: the capability `process`.

use crate::bindings::capstan::extension::process;
use crate::bindings::capstan::extension::types::HostError;
use crate::state::State;

impl process::Host for State {
    async fn run(
        &mut self,
        _command: process::Command,
    ) -> wasmtime::Result<Result<process::Outcome, HostError>> {
        super::denied("process")
    }
}
