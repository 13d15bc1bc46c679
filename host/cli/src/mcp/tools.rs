//! The tools of a session, for clients of `capstan mcp serve`.
//!
//! Calls go through the agent's own executor: what gates, permissions and grants say in a session they say here. Nobody can be
//! asked, so what would need an answer is denied, with a line on stderr about what the user can do.

use super::denials::{Denials, Told};
use crate::live::{AbsentNow, Live};
use async_trait::async_trait;
use capstan_agent::trace::HookRecord;
use capstan_agent::{AgentLoopConfig, ToolRegistry, run_tool_call};
use capstan_engine::Extension;
use capstan_mcp::server::{Called, ClientCall, OfferedTool, Reach, ToolHost};
use capstan_ports::extension::{Access, Capability};
use capstan_ports::message::ToolCall;
use capstan_ports::tool::Progress;
use capstan_ports::{AgentEvent, CallAccess, EventSink, Execution, Tool, ToolOutcome, TurnContext};
use serde_json::Value;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::{RwLock, Semaphore, watch};

/// Calls that run at a time; the sandbox has its own limits below.
const AT_A_TIME: usize = 16;

/// Calls that may wait. A client with more of them does not read its answers.
const MAX_WAITING: usize = 512;

/// Tools of a session for other programs.
pub(super) struct SessionTools {
    config: AgentLoopConfig,
    turn: TurnContext,
    live: Arc<Live>,
    absent: AbsentNow,
    offer: Mutex<Option<(u64, Arc<Offer>)>>,
    n_calls: AtomicU32,
    room: Semaphore,
    waiting: Semaphore,
    /// Held for reading by calls that may run beside others, alone by those that may not.
    order: RwLock<()>,
    denials: Arc<Denials>,
}

/// What is on offer at one moment.
struct Offer {
    tools: Vec<OfferedTool>,
    registry: ToolRegistry,
}

impl SessionTools {
    /// Offers what `live` has in force. `records` are those of all hooks of the session.
    pub(super) fn new(
        mut config: AgentLoopConfig,
        turn: TurnContext,
        live: Arc<Live>,
        records: Option<UnboundedReceiver<HookRecord>>,
    ) -> Self {
        let denials = Arc::new(Denials::new(records, live.clone()));
        config.permissions = Arc::new(Told::new(config.permissions.clone(), denials.clone()));
        let absent = live.absent();
        Self {
            config,
            turn,
            live,
            absent,
            offer: Mutex::default(),
            n_calls: AtomicU32::new(0),
            room: Semaphore::new(AT_A_TIME),
            waiting: Semaphore::new(MAX_WAITING),
            order: RwLock::default(),
            denials,
        }
    }

    /// What is on offer now. The same object while nothing changes, because compiled schemas are in it.
    fn offer(&self) -> Arc<Offer> {
        let mut held = lock(&self.offer);
        let generation = *self.live.changes().borrow();
        if let Some((of, offer)) = &*held
            && *of == generation
        {
            return offer.clone();
        }
        let tools = self.live.tools();
        let offered = tools.iter().map(|(tool, owner)| OfferedTool {
            definition: tool.definition().clone(),
            reach: owner.as_ref().map_or_else(|| builtin_reach(tool.as_ref()), reach),
        });
        let offered = offered.collect();
        let registry =
            ToolRegistry::with_tools(tools.into_iter().map(|(tool, _)| tool)).unwrap_or_else(|error| {
                // Names are unique in what is in force.
                tracing::error!(%error, "no tools are on offer");
                ToolRegistry::default()
            });
        let offer = Arc::new(Offer { tools: offered, registry });
        *held = Some((generation, offer.clone()));
        offer
    }

    /// Why a tool that is there is not on offer, if the user could change that.
    fn withheld(&self, tool: &str) -> Option<String> {
        let absent = lock(&self.absent);
        let of = absent.iter().find(|absent| absent.tools.iter().any(|name| name == tool))?;
        Some(of.reason.clone())
    }

    async fn run(
        &self,
        offer: &Offer,
        n: u32,
        execution: Execution,
        call: &ToolCall,
        asked: &ClientCall,
    ) -> ToolOutcome {
        let turn = TurnContext { turn: n, ..self.turn.clone() };
        let sink = Reports(asked.progress.clone());
        let Ok(_waiting) = self.waiting.try_acquire() else {
            return ToolOutcome::error(format!("Not executed: {MAX_WAITING} calls are waiting already."));
        };
        let ready = async {
            let room = self.room.acquire().await;
            let order = match execution {
                Execution::Parallel => Order::Beside(self.order.read().await),
                Execution::Sequential => Order::Alone(self.order.write().await),
            };
            (room, order)
        };
        let Some(_held) = asked.cancel.run_until_cancelled(ready).await else {
            return ToolOutcome::error("Operation aborted");
        };
        run_tool_call(call, turn, &offer.registry, &self.config, &sink, &asked.cancel).await
    }
}

/// Held while a call runs.
enum Order<'a> {
    Beside(#[expect(dead_code, reason = "it is held")] tokio::sync::RwLockReadGuard<'a, ()>),
    Alone(#[expect(dead_code, reason = "it is held")] tokio::sync::RwLockWriteGuard<'a, ()>),
}

#[async_trait]
impl ToolHost for SessionTools {
    fn tools(&self) -> Vec<OfferedTool> {
        self.offer().tools.clone()
    }

    async fn call(&self, mut asked: ClientCall) -> Option<Called> {
        let offer = self.offer();
        let Some(tool) = offer.tools.iter().find(|tool| tool.definition.name == asked.tool) else {
            let reason = self.withheld(&asked.tool)?;
            let line = self.denials.say(&asked.tool, &reason, None);
            let outcome = ToolOutcome::error(format!("Permission denied: {reason}"));
            return Some(Called { outcome, denied: vec![line] });
        };
        let n = self.n_calls.fetch_add(1, Ordering::Relaxed);
        let call = ToolCall {
            id: format!("mcp-{n}"),
            name: asked.tool.clone(),
            arguments: Value::Object(std::mem::take(&mut asked.arguments)),
            malformed: None,
        };
        let outcome = self.run(&offer, n, tool.definition.execution, &call, &asked).await;
        Some(Called { outcome: explained(outcome), denied: self.denials.of(&call.id) })
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.live.changes()
    }
}

/// A call that was put off stays undone: what a session's user could agree to later nobody can here.
fn explained(mut outcome: ToolOutcome) -> ToolOutcome {
    let is_deferred = outcome.details.as_ref().is_some_and(|details| details["deferred"] == true);
    if outcome.is_error && is_deferred {
        let text = "Nobody can approve it through this server; the user can do it in a session of capstan.";
        outcome.content.push(capstan_ports::Content::text(text));
    }
    outcome
}

/// What a component can reach with its grants.
fn reach(extension: &Extension) -> Reach {
    let mut reach = Reach::default();
    for capability in extension.effective().iter() {
        match capability {
            Capability::Directory { access: Access::ReadWrite, .. } => {
                reach.changes = true;
                reach.destroys = true;
            }
            Capability::Process { .. } => {
                reach = Reach { changes: true, destroys: true, network: true };
            }
            Capability::Http { methods, .. } => {
                reach.changes = true;
                reach.network = true;
                reach.destroys |= methods.iter().any(|method| method != "GET" && method != "HEAD");
            }
            // What it keeps for itself and what it reads change nothing that anybody else sees.
            Capability::Directory { access: Access::ReadOnly, .. }
            | Capability::Secret { .. }
            | Capability::Environment { .. }
            | Capability::Model { .. }
            | Capability::KeyValue { .. }
            | Capability::SessionMemory
            | Capability::Power { .. } => {}
        }
    }
    reach
}

/// What a built-in tool can reach, as it says of a call without arguments.
fn builtin_reach(tool: &dyn Tool) -> Reach {
    match tool.access(&Value::Object(serde_json::Map::new())) {
        CallAccess::Write(_) => Reach { changes: true, destroys: true, network: false },
        CallAccess::Execute(_) | CallAccess::Outside(_) => {
            Reach { changes: true, destroys: true, network: true }
        }
        CallAccess::Read(_) | CallAccess::Sandboxed(_) | CallAccess::Nothing => Reach::default(),
    }
}

/// Partial results on their way to the client.
struct Reports(Arc<dyn Progress>);

#[async_trait]
impl EventSink for Reports {
    async fn emit(&self, event: AgentEvent) {
        if let AgentEvent::ToolExecutionUpdate { partial_result, .. } = event {
            self.0.report(partial_result);
        }
    }

    fn wants_updates(&self) -> bool {
        false
    }
}

/// Nothing under these locks is left by halves, so a panic under one changes nothing.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
