//! An extension in force: inspected bytes, what they were granted, and calls into them.

use crate::abi::Interface;
use crate::call::{Code, Guest, bounded, failure};
use crate::configuration;
use crate::error::{CallError, LoadError};
use crate::hook::{ComponentHook, Subscription};
use crate::inspect::Inspected;
use crate::limits::{LimitTable, Limits, MAX_CALLS_OF_ONE, MAX_KEPT, Role};
use crate::rights::Rights;
use crate::sandbox::Sandbox;
use crate::services::Services;
use crate::state::{Identities, Identity, Scope, State};
use crate::tool::ComponentTool;
use crate::usage::{Meter, Metered, Usage};
use crate::wasi::{Captured, World, deterministic_context};
use capstan_policy::{Effective, Places};
use capstan_ports::extension::{Descriptor, Digest, ExtensionId, Lifetime, Power};
use capstan_ports::hook::Hook;
use capstan_ports::session::SessionId;
use capstan_ports::tool::{Progress, Tool};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::{AcquireError, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use wasmtime::Store;
use wasmtime::component::Instance;

/// What an extension gets besides its grants.
#[derive(Debug, Clone)]
pub struct ExtensionSettings {
    /// The user's configuration table for it; an object.
    pub config: Value,
    /// What its directory grants are relative to.
    pub places: Places,
    /// What the host lends it.
    pub services: Services,
    /// What its calls may use.
    pub limits: Arc<LimitTable>,
}

impl ExtensionSettings {
    /// Nothing but places: no configuration, nothing lent, the usual limits.
    pub fn new(places: Places) -> Self {
        let config = Value::Object(serde_json::Map::new());
        Self { config, places, services: Services::default(), limits: Arc::default() }
    }
}

/// An extension in force. Cloning gives another handle to the same one.
#[derive(Clone)]
pub struct Extension {
    shared: Arc<Shared>,
}

struct Shared {
    sandbox: Sandbox,
    inspected: Arc<Inspected>,
    effective: Effective,
    world: World,
    identities: Identities,
    /// What became of its hooks; here and not in the hook object, so that a gate that closed stays closed as long as the
    /// extension lives.
    subscriptions: Arc<[Subscription]>,
    /// The hook object, while anybody holds it. It holds the extension, so the extension must not hold it.
    hook: Mutex<Weak<ComponentHook>>,
    retired: AtomicBool,
    limits: Arc<LimitTable>,
    /// Its share of the calls that run at the same time.
    permits: Semaphore,
    /// Instances that outlive a call, only with `lifetime: session`.
    kept: Mutex<HashMap<KeptFor, KeptGuest>>,
}

/// One a session, and one more for its observer: calls of one instance wait for each other, and nothing waits for an
/// observer.
type KeptFor = (SessionId, bool);

type KeptGuest = Arc<tokio::sync::Mutex<Option<Kept>>>;

/// An instance between two calls, and the room that it takes.
struct Kept {
    guest: Guest,
    _room: OwnedSemaphorePermit,
}

impl Sandbox {
    /// Puts an extension into force with exactly these capabilities.
    ///
    /// # Errors
    /// When a granted directory does not exist or would reach the host's own files, when another grant is out of form, and when
    /// the configuration does not fit the extension's schema.
    pub fn extension(
        &self,
        inspected: impl Into<Arc<Inspected>>,
        effective: Effective,
        settings: &ExtensionSettings,
    ) -> Result<Extension, LoadError> {
        let inspected = inspected.into();
        let unusable = |problem| LoadError { file: inspected.path.clone(), problem };
        let descriptor = &inspected.surface.descriptor;
        configuration::check(descriptor.id.as_str(), descriptor.config_schema.as_ref(), &settings.config)
            .map_err(unusable)?;
        let world = World::of(&effective, &settings.places).map_err(unusable)?;
        let shared = Shared {
            sandbox: self.clone(),
            identities: Identities::of(Identity {
                extension: Arc::from(inspected.surface.descriptor.id.as_str()),
                config: Arc::from(settings.config.to_string()),
                rights: Arc::new(Rights::of(&effective, &world).map_err(unusable)?),
                services: Arc::new(settings.services.clone()),
                accounts: Arc::default(),
                meter: Arc::default(),
            }),
            subscriptions: Subscription::of(&inspected.surface.descriptor),
            hook: Mutex::default(),
            retired: AtomicBool::new(false),
            limits: settings.limits.clone(),
            permits: Semaphore::new(MAX_CALLS_OF_ONE),
            inspected,
            effective,
            world,
            kept: Mutex::new(HashMap::new()),
        };
        Ok(Extension { shared: Arc::new(shared) })
    }
}

impl Extension {
    /// What the user calls it.
    pub fn id(&self) -> &ExtensionId {
        &self.descriptor().id
    }

    /// Its own words, checked.
    pub fn descriptor(&self) -> &Descriptor {
        &self.shared.inspected.surface.descriptor
    }

    /// The file it came from, its digest and its exports.
    pub fn inspected(&self) -> &Inspected {
        &self.shared.inspected
    }

    /// What is in force.
    pub fn effective(&self) -> &Effective {
        &self.shared.effective
    }

    /// Its tools, as the agent sees them.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let tools = self.descriptor().tools.iter();
        tools.map(|tool| Arc::new(ComponentTool::new(self.clone(), tool.clone())) as Arc<dyn Tool>).collect()
    }

    /// Its hooks in one object, if it has any: always the same one, and always in the state in which it was. A gate that
    /// failed stays closed in every chain that it is put into.
    pub fn hook(&self) -> Option<Arc<dyn Hook>> {
        if self.descriptor().hooks.is_empty() {
            return None;
        }
        let mut held = self.shared.hook.lock().unwrap_or_else(PoisonError::into_inner);
        let hook = held.upgrade().unwrap_or_else(|| {
            let hook = Arc::new(ComponentHook::new(self.clone(), self.shared.subscriptions.clone()));
            *held = Arc::downgrade(&hook);
            hook
        });
        Some(hook)
    }

    /// Whether this is the very thing that [`Sandbox::extension`] would make of these bytes, grants and settings, so that it
    /// can stay in force over a reload.
    pub fn is_made_of(
        &self,
        digest: &Digest,
        effective: &Effective,
        config: &Value,
        limits: &LimitTable,
    ) -> bool {
        self.shared.inspected.digest == *digest
            && self.shared.effective == *effective
            && *self.shared.limits == *limits
            && *self.shared.identities.usual.config == *config.to_string()
    }

    /// Whether both are handles to one and the same extension in force.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Takes it out of force: calls in progress end, every further call through a tool or hook that somebody still holds
    /// fails with [`CallError::Retired`]. For a gate that is a denial.
    pub fn retire(&self) {
        self.shared.retired.store(true, Ordering::Relaxed);
    }

    /// What it has used since it was put into force.
    pub fn usage(&self) -> Usage {
        self.shared.identities.usual.meter.read()
    }

    pub(crate) fn exports(&self, interface: Interface) -> bool {
        self.shared.inspected.surface.exports.contains(&interface)
    }

    pub(crate) fn has_power(&self, power: Power) -> bool {
        self.shared.effective.has_power(power)
    }

    /// What it may use in a role.
    pub(crate) fn limits(&self, role: Role) -> &Limits {
        self.shared.limits.of(role)
    }

    /// Begins a new budget of what is counted by turn.
    pub(crate) fn begin_budget(&self, session: &SessionId) {
        self.shared.identities.usual.accounts.close(session);
    }

    /// Loads the code ahead of the first call, so that this call does not pay for it.
    ///
    /// # Errors
    /// When the code can be neither loaded nor compiled.
    pub async fn prepare(&self) -> Result<(), CallError> {
        self.code().await.map(drop)
    }

    async fn code(&self) -> Result<Arc<Code>, CallError> {
        self.shared
            .sandbox
            .code(&self.shared.inspected)
            .await
            .map_err(|problem| CallError::NotStarted { reason: problem.to_string() })
    }

    /// One call: an instance, the work, and everything that can stop it.
    pub(crate) async fn call<R, F>(&self, role: Role, caller: Caller<'_>, work: F) -> Result<R, CallError>
    where
        F: for<'g> FnOnce(&'g mut Store<State>, &'g Instance, &'g Code) -> BoxFuture<'g, wasmtime::Result<R>>
            + Send,
    {
        let shared = &*self.shared;
        if shared.retired.load(Ordering::Relaxed) {
            return Err(CallError::Retired);
        }
        let meter = &*shared.identities.usual.meter;
        Meter::count(&meter.calls, 1);
        let answer = self.call_within(role, caller, work).await;
        Meter::count(&meter.failures, answer.is_err().into());
        answer
    }

    async fn call_within<R, F>(&self, role: Role, caller: Caller<'_>, work: F) -> Result<R, CallError>
    where
        F: for<'g> FnOnce(&'g mut Store<State>, &'g Instance, &'g Code) -> BoxFuture<'g, wasmtime::Result<R>>
            + Send,
    {
        let (shared, cancel, limits) = (&*self.shared, caller.cancel, self.limits(role));
        if caller.input_bytes > limits.input_bytes {
            return Err(CallError::Exhausted {
                resource: "input",
                limit: format!("{} MiB, the call has {} bytes", limits.input_bytes >> 20, caller.input_bytes),
            });
        }
        // Outside the deadline: loading code and waiting for a turn are no doing of the guest. An instance that serves one call
        // after another is waited for first, so that those who wait for it take no turn from others. Semaphores are fair.
        let code = self.code().await?;
        let slot = match (role.is_deterministic(), self.descriptor().lifetime) {
            (true, _) | (_, Lifetime::Call) => None,
            (false, Lifetime::Session) => {
                let kept = self.kept((caller.session.clone(), role == Role::Observer));
                Some(kept.lock_owned().await)
            }
        };
        let closed = |closed: AcquireError| CallError::NotStarted { reason: closed.to_string() };
        let _share = shared.permits.acquire().await.map_err(closed)?;
        let _turn = shared.sandbox.permits().acquire().await.map_err(closed)?;
        let mut scope = Scope::new(
            shared.identities.in_role(role).clone(),
            caller.session.clone(),
            cancel.clone(),
            limits,
        );
        scope.turn = caller.turn;
        scope.progress = caller.progress;
        Meter::count(&shared.identities.usual.meter.input_bytes, caller.input_bytes as u64);
        let run = async {
            match slot {
                None => {
                    let mut guest = self.instantiate(role, &code, scope, limits).await?;
                    self.finish(work(&mut guest.store, &guest.instance, &code).await, &mut guest)
                }
                Some(slot) => self.run_kept(role, slot, &code, scope, limits, work).await,
            }
        };
        // A host function that panics does so inside of the guest's call; the store goes with it, as after a trap.
        let guarded = AssertUnwindSafe(Metered::new(run, &shared.identities.usual.meter)).catch_unwind();
        let answered =
            guarded.map(|ended| ended.unwrap_or_else(|panic| Err(CallError::of_panic(panic.as_ref()))));
        bounded(limits.deadline, cancel, answered).await
    }

    async fn run_kept<R, F>(
        &self,
        role: Role,
        mut slot: OwnedMutexGuard<Option<Kept>>,
        code: &Code,
        scope: Scope,
        limits: &Limits,
        work: F,
    ) -> Result<R, CallError>
    where
        F: for<'g> FnOnce(&'g mut Store<State>, &'g Instance, &'g Code) -> BoxFuture<'g, wasmtime::Result<R>>
            + Send,
    {
        // Taken out while it works: whatever goes wrong, the slot is empty and the next call starts afresh.
        let mut kept = match slot.take() {
            Some(mut kept) => {
                kept.guest.store.data_mut().begin(scope, limits);
                kept.guest.store.set_epoch_deadline(1);
                kept
            }
            None => {
                let _room = self.room()?;
                Kept { guest: self.instantiate(role, code, scope, limits).await?, _room }
            }
        };
        let guest = &mut kept.guest;
        let result = self.finish(work(&mut guest.store, &guest.instance, code).await, guest);
        if result.is_ok() {
            *slot = Some(kept);
        }
        result
    }

    /// Room for one more kept instance; where there is none, this extension's idle ones make some.
    fn room(&self) -> Result<OwnedSemaphorePermit, CallError> {
        let all = self.shared.sandbox.kept();
        if let Ok(room) = all.clone().try_acquire_owned() {
            return Ok(room);
        }
        let mut kept = self.shared.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|_, slot| Arc::strong_count(slot) > 1);
        all.clone().try_acquire_owned().map_err(|_full| CallError::Exhausted {
            resource: "instances that are kept for a session",
            limit: format!("{MAX_KEPT} of all extensions"),
        })
    }

    async fn instantiate(
        &self,
        role: Role,
        code: &Code,
        scope: Scope,
        limits: &Limits,
    ) -> Result<Guest, CallError> {
        let captured = Captured::default();
        let wasi = match (code.imports_wasi, role.is_deterministic()) {
            (true, false) => Some(self.shared.world.context(&captured)?),
            (true, true) => Some(deterministic_context(&captured)),
            (false, _) => None,
        };
        code.instantiate(self.shared.sandbox.engine(), State::new(wasi, captured, scope, limits), limits)
            .await
    }

    /// Takes the answer, and what the guest printed.
    fn finish<R>(&self, result: wasmtime::Result<R>, guest: &mut Guest) -> Result<R, CallError> {
        let result = result.map_err(|reason| failure(reason, &mut guest.store));
        guest.store.data_mut().settle();
        let state = guest.store.data();
        let extension = &*self.shared.identities.usual.extension;
        for (stream, text) in
            [("stdout", state.captured.stdout.take()), ("stderr", state.captured.stderr.take())]
        {
            if !text.trim().is_empty() {
                let text = crate::import::printable(text.trim_end(), crate::limits::MAX_STDIO_BYTES);
                tracing::info!(target: "capstan::extension", extension, stream, "{text}");
            }
        }
        if let Some(used_up) = state.quota.used_up() {
            tracing::warn!(target: "capstan::extension", extension, "{used_up}; nothing more was written in this call");
        }
        if let Some(path) = &state.scope.protected_path {
            tracing::warn!(
                target: "capstan::extension", extension, path = %path.display(),
                "it tried to change a protected file, which no grant of a folder above allows"
            );
        }
        let dropped = state.scope.log_lines_dropped;
        if dropped > 0 {
            tracing::warn!(target: "capstan::extension", extension, dropped, "log lines over the limit were dropped");
        }
        result
    }

    fn kept(&self, wanted: KeptFor) -> KeptGuest {
        let mut kept = self.shared.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.entry(wanted).or_default().clone()
    }
}

/// On whose behalf a guest is called.
pub(crate) struct Caller<'a> {
    pub(crate) session: &'a SessionId,
    /// Which turn of the session; `None` where nobody knows, and outside of turns.
    pub(crate) turn: Option<u32>,
    pub(crate) cancel: &'a CancellationToken,
    pub(crate) progress: Option<Arc<dyn Progress>>,
    /// Bytes that the call hands to the guest.
    pub(crate) input_bytes: usize,
}
