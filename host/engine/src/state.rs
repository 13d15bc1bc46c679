//! What a store holds while a guest runs: its WASI world, its limits, and the call that it serves.

use crate::import::{Accounts, HttpBudget};
use crate::limits::{Limits, Role};
use crate::quota::Quota;
use crate::reach::Reach;
use crate::rights::Rights;
use crate::services::Services;
use crate::usage::Meter;
use crate::wasi::{Captured, Time, Wasi};
use capstan_ports::session::SessionId;
use capstan_ports::tool::Progress;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use wasmtime::ResourceLimiter;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::filesystem::Dir;
use wasmtime_wasi::{WasiCtxView, WasiView};
use wasmtime_wasi_http::WasiHttpCtx;

/// One extension as it is called in its roles. Made once, so that a call copies one pointer.
pub(crate) struct Identities {
    /// With everything that it was granted and is lent.
    pub(crate) usual: Arc<Identity>,
    /// Where the answer may depend on the question alone: no right and no service.
    pure: Arc<Identity>,
    /// Without an ear for its events: observers would hear them, and answer with events for ever.
    observing: Arc<Identity>,
}

impl Identities {
    pub(crate) fn of(usual: Identity) -> Self {
        let pure = Identity { rights: Arc::default(), services: Arc::default(), ..usual.clone() };
        let deaf = Services { events: None, ..(*usual.services).clone() };
        let observing = Identity { services: Arc::new(deaf), ..usual.clone() };
        Self { usual: Arc::new(usual), pure: Arc::new(pure), observing: Arc::new(observing) }
    }

    /// As it is called in a role.
    pub(crate) fn in_role(&self, role: Role) -> &Arc<Identity> {
        match role {
            role if role.is_deterministic() => &self.pure,
            Role::Observer => &self.observing,
            _ => &self.usual,
        }
    }
}

/// Who is called.
#[derive(Clone)]
pub(crate) struct Identity {
    /// The extension's id.
    pub(crate) extension: Arc<str>,
    /// Its configuration table as JSON text.
    pub(crate) config: Arc<str>,
    /// What it may do beyond its WASI world.
    pub(crate) rights: Arc<Rights>,
    /// Who does it.
    pub(crate) services: Arc<Services>,
    /// Tokens that it had the model read and write.
    pub(crate) accounts: Arc<Accounts>,
    /// What it uses.
    pub(crate) meter: Arc<Meter>,
}

impl Identity {
    /// An extension that has not said yet what it is: nothing is granted to it and nothing lent.
    pub(crate) fn unnamed() -> Arc<Self> {
        Arc::new(Self {
            extension: Arc::from("(unnamed)"),
            config: Arc::from("{}"),
            rights: Arc::default(),
            services: Arc::default(),
            accounts: Arc::default(),
            meter: Arc::default(),
        })
    }
}

/// The call that a guest serves at the moment. An instance that lives longer than one call gets a new one for each.
pub(crate) struct Scope {
    pub(crate) identity: Arc<Identity>,
    /// On whose behalf; empty while the extension describes itself.
    pub(crate) session: SessionId,
    /// Which turn of the session, where that is known.
    pub(crate) turn: Option<u32>,
    /// When the call must be over. Host functions that wait take no longer than what is left (reliability 2.2).
    pub(crate) deadline: Instant,
    pub(crate) cancel: CancellationToken,
    /// Who hears of partial results, if anybody does.
    pub(crate) progress: Option<Arc<dyn Progress>>,
    pub(crate) log_lines_left: u32,
    pub(crate) log_line_bytes: usize,
    pub(crate) log_lines_dropped: u32,
    /// What is left of its share of the network.
    pub(crate) http: HttpBudget,
    /// The first protected path that the guest tried to change.
    pub(crate) protected_path: Option<PathBuf>,
}

impl Scope {
    /// One call for this identity, of no turn and reporting to nobody until the caller says otherwise.
    pub(crate) fn new(
        identity: Arc<Identity>,
        session: SessionId,
        cancel: CancellationToken,
        limits: &Limits,
    ) -> Self {
        Self {
            identity,
            session,
            turn: None,
            deadline: Instant::now() + limits.deadline,
            cancel,
            progress: None,
            log_lines_left: limits.log_lines,
            log_line_bytes: limits.log_line_bytes,
            log_lines_dropped: 0,
            http: HttpBudget::default(),
            protected_path: None,
        }
    }

    /// How long a host function may still wait.
    pub(crate) fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

/// The data of a store.
pub(crate) struct State {
    /// Built on first use for components that import no WASI; nothing in it is granted then.
    wasi: Option<Wasi>,
    table: ResourceTable,
    http: WasiHttpCtx,
    pub(crate) limiter: Limiter,
    pub(crate) scope: Scope,
    pub(crate) captured: Captured,
    /// What the call writes to files.
    pub(crate) quota: Arc<Quota>,
    /// Host functions that the call called. Growing a memory and moving text between a guest's own parts count as well.
    pub(crate) host_calls: u64,
    host_call_limit: u64,
}

impl State {
    pub(crate) fn new(wasi: Option<Wasi>, captured: Captured, scope: Scope, limits: &Limits) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(limits.resources);
        Self {
            wasi,
            table,
            http: WasiHttpCtx::new(),
            limiter: Limiter::new(limits),
            scope,
            captured,
            quota: Arc::new(Quota::new(limits.written_bytes)),
            host_calls: 0,
            host_call_limit: limits.host_calls,
        }
    }

    /// Starts the next call of an instance that is kept: what a call may use is counted anew.
    pub(crate) fn begin(&mut self, scope: Scope, limits: &Limits) {
        self.settle();
        self.scope = scope;
        self.quota.renew(limits.written_bytes);
        self.host_call_limit = limits.host_calls;
        self.limiter.refused = None;
    }

    /// Counts a call of a host function.
    ///
    /// # Errors
    /// When it is one too many; the guest ends with it.
    pub(crate) fn count_host_call(&mut self) -> wasmtime::Result<()> {
        self.host_calls += 1;
        if self.host_calls > self.host_call_limit {
            return Err(wasmtime::Error::new(TooManyHostCalls { limit: self.host_call_limit }));
        }
        Ok(())
    }

    /// Adds what the call used to what its extension used, once.
    pub(crate) fn settle(&mut self) {
        let meter = &self.scope.identity.meter;
        meter.memory(self.limiter.peak);
        Meter::count(&meter.host_calls, std::mem::take(&mut self.host_calls));
        Meter::count(&meter.written_bytes, self.quota.settle());
    }

    /// What of its directories the guest may change.
    pub(crate) fn reach(&self) -> Reach {
        self.wasi.as_ref().map(|wasi| wasi.reach.clone()).unwrap_or_default()
    }

    /// Whether this is the world of `describe` and of the deterministic roles.
    pub(crate) fn time_stands_still(&self) -> bool {
        self.wasi.as_ref().is_some_and(|wasi| wasi.time == Time::StandsStill)
    }

    /// What requests need: their settings, the table of resources, and the call that decides on them.
    pub(crate) fn http_parts(&mut self) -> (&mut WasiHttpCtx, &mut ResourceTable, &mut Scope) {
        (&mut self.http, &mut self.table, &mut self.scope)
    }

    /// The granted directories and their names in the guest.
    pub(crate) fn granted(&self) -> &[(Dir, String)] {
        self.wasi.as_ref().map_or(&[], |wasi| &wasi.directories)
    }
}

impl Drop for State {
    // A call that is ended from outside has used something as well.
    fn drop(&mut self) {
        self.settle();
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let wasi = self.wasi.get_or_insert_with(Wasi::nothing);
        WasiCtxView { ctx: &mut wasi.context, table: &mut self.table }
    }
}

/// A guest called the host too often in one call.
#[derive(Debug, thiserror::Error)]
#[error("it called the host more than {limit} times")]
pub(crate) struct TooManyHostCalls {
    pub(crate) limit: u64,
}

/// Counts linear memory over *all* memories of a store. wasmtime's own limiter looks at each memory alone, so a component
/// with many memories would multiply its limit.
pub(crate) struct Limiter {
    /// The most memory that there was.
    peak: usize,
    memory_limit: usize,
    memory_used: usize,
    last_growth: usize,
    table_limit: usize,
    parts: usize,
    resources: usize,
    /// What was refused first, for the error that follows.
    pub(crate) refused: Option<&'static str>,
}

impl Limiter {
    fn new(limits: &Limits) -> Self {
        Self {
            peak: 0,
            memory_limit: limits.memory_bytes,
            memory_used: 0,
            last_growth: 0,
            table_limit: limits.table_elements,
            parts: limits.parts,
            resources: limits.resources,
            refused: None,
        }
    }

    pub(crate) fn memory_limit(&self) -> usize {
        self.memory_limit
    }

    /// Kept by the resource table; only for the error.
    pub(crate) fn resource_limit(&self) -> usize {
        self.resources
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let growth = desired.saturating_sub(current);
        let wanted = self.memory_used.saturating_add(growth);
        if wanted > self.memory_limit {
            self.refused.get_or_insert("memory");
            return Ok(false);
        }
        self.memory_used = wanted;
        self.peak = self.peak.max(wanted);
        self.last_growth = growth;
        Ok(true)
    }

    fn memory_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        // The system refused what the account had booked.
        self.memory_used = self.memory_used.saturating_sub(self.last_growth);
        self.last_growth = 0;
        Ok(())
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let fits = desired <= self.table_limit;
        if !fits {
            self.refused.get_or_insert("table elements");
        }
        Ok(fits)
    }

    fn instances(&self) -> usize {
        self.parts
    }

    fn tables(&self) -> usize {
        self.parts
    }

    fn memories(&self) -> usize {
        self.parts
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
