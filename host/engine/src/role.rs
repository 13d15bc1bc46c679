//! The parts that a component plays beside tools and hooks, each as the port that the agent sees.
//!
//! Plan parsers and compressors are called without any of the extension's rights ([`Role::is_deterministic`]): whatever was
//! granted to its other parts, these compute their answer from the question alone. Memories, observers and commands are
//! called with what was granted.
//!
//! [`Role::is_deterministic`]: crate::limits::Role::is_deterministic

mod command;
mod compressor;
mod memory;
mod observer;
mod plan_parser;

use crate::abi::Interface;
use crate::error::CallError;
use crate::extension::{Caller, Extension};
use crate::limits::Role;
use capstan_ports::session::SessionId;
use capstan_ports::{CommandPort, CompressorPort, MemoryPort, ObserverPort, PlanParser};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use tokio_util::sync::CancellationToken;

/// Bytes of a guest's own words in an error: what could not be read, and where.
const MAX_REASON_BYTES: usize = 4 << 10;

impl Extension {
    /// Its plan formats.
    pub fn plan_parsers(&self) -> Vec<Arc<dyn PlanParser>> {
        let formats = self.descriptor().plan_parsers.iter();
        formats.map(|format| Arc::new(plan_parser::ComponentPlanParser::new(self, format)) as _).collect()
    }

    /// Its compaction strategies by name. Each is left out from its first trap or time-out on, so make them anew for each
    /// session. They answer [`CallError::Powerless`] without the power `compress`.
    pub fn compressors(&self) -> BTreeMap<String, Arc<dyn CompressorPort>> {
        let strategies = self.descriptor().compressors.iter();
        strategies
            .map(|strategy| {
                let port = compressor::ComponentCompressor::new(self, strategy);
                (strategy.clone(), Arc::new(port) as Arc<dyn CompressorPort>)
            })
            .collect()
    }

    /// Its observer, if it has one, for the turns of a session. It is left out from its first failure on.
    pub fn observer(&self, session: &SessionId) -> Option<Arc<dyn ObserverPort>> {
        self.exports(Interface::Observer)
            .then(|| Arc::new(observer::ComponentObserver::new(self, session)) as Arc<dyn ObserverPort>)
    }

    /// Tells its observer of one event: the JSON text of a line of `capstan --mode json`, or of the turn's own. This is what
    /// [`Extension::observer`] does, for programs that have the text and want to hear how it went.
    ///
    /// # Errors
    /// When the call fails; nothing is left out because of it. [`CallError::NotExported`] where it has no observer.
    pub async fn observe(&self, session: &SessionId, event: String) -> Result<(), CallError> {
        let caller = of_session(session, event.len());
        let answer = self.call(Role::Observer, caller, |store, instance, code| {
            Box::pin(async move {
                let Some(indices) = &code.indices.observer else { return Ok(None) };
                indices.load(&mut *store, instance)?.call_run(store, &event).await.map(Some)
            })
        });
        answer.await?.ok_or(CallError::NotExported(Interface::Observer))
    }

    /// Its memory, if it has one, used on behalf of a session. Everything fails without the power `remember`.
    pub fn memory(&self, session: &SessionId) -> Option<Arc<dyn MemoryPort>> {
        self.exports(Interface::Memory)
            .then(|| Arc::new(memory::ComponentMemory::new(self, session)) as Arc<dyn MemoryPort>)
    }

    /// Its slash commands.
    pub fn commands(&self) -> Vec<Arc<dyn CommandPort>> {
        let commands = self.descriptor().commands.iter();
        commands.map(|command| Arc::new(command::ComponentCommand::new(self, command)) as _).collect()
    }
}

/// A call that belongs to no session and that ends when its future is dropped.
fn detached(input_bytes: usize) -> Caller<'static> {
    static NOBODY: LazyLock<SessionId> = LazyLock::new(|| SessionId::new(""));
    static NEVER: LazyLock<CancellationToken> = LazyLock::new(CancellationToken::new);
    Caller { session: &NOBODY, turn: None, cancel: &NEVER, progress: None, input_bytes }
}

/// The same for a session.
fn of_session(session: &SessionId, input_bytes: usize) -> Caller<'_> {
    Caller { session, ..detached(input_bytes) }
}
