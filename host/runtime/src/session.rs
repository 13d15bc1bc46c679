//! A conversation with an agent.

use crate::bundle::RuntimeBundle;
use crate::cost::{CostTracker, Meter, Metered};
use crate::error::AgentError;
use crate::in_memory::InMemoryStore;
use crate::role::Agent;
use crate::session_history::History;
use crate::session_memory::SessionMemory;
use crate::session_stream::TurnStream;
use crate::session_tools::expose;
use capstan_agent::{AgentContext, AgentLoopConfig, CompactionSettings, ToolRegistry, run_agent_turn};
use capstan_ports::event::NoEvents;
use capstan_ports::hook::HookContext;
use capstan_ports::{
    AssistantMessage, EventSink, Message, Model, PlanStepStatus, SessionId, SessionLog, TurnContext,
};
use futures::FutureExt;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// An answer of the model (seed 004's word for it).
pub type ChatResponse = AssistantMessage;

/// One conversation: a role, what it works with, and what was said so far. Everything that changes with turns is here, so
/// that sessions which share a role or a bundle do not notice each other.
pub struct AgentSession {
    /// Names the session to hooks, tools and the provider.
    pub session_id: String,
    /// The role. Another one put here counts from the next turn: its prompt, its tools, and the same conversation.
    pub agent: Arc<dyn Agent>,
    bundle: Arc<RuntimeBundle>,
    turn_index: u32,
    meter: Arc<Meter>,
    session_memory: SessionMemory,
    history: History,
    /// What every turn begins with: the ports of the bundle.
    settings: AgentLoopConfig,
    /// What the role exposes. One registry for all turns, so that a tool's schema is compiled once.
    tools: Arc<ToolRegistry>,
    began: Duration,
}

impl AgentSession {
    /// A new conversation, kept in memory.
    pub fn new(session_id: impl Into<String>, agent: Arc<dyn Agent>, bundle: Arc<RuntimeBundle>) -> Self {
        Self::with_history(session_id.into(), agent, bundle, History::Memory(Arc::default()), 0)
    }

    /// The conversation of a log, which may be empty; the session has the log's id. Everything is on record before anything
    /// follows from it. Turns that were had before count.
    ///
    /// # Errors
    /// [`AgentError::Other`] when the log cannot be read.
    pub fn over_log(
        agent: Arc<dyn Agent>,
        bundle: Arc<RuntimeBundle>,
        log: Arc<dyn SessionLog>,
    ) -> Result<Self, AgentError> {
        let id = log.id().to_string();
        let history = History::Log(log);
        let said = history.messages().map_err(capstan_agent::AgentError::from)?;
        let turns = said.iter().filter(|message| matches!(message.as_ref(), Message::User(_))).count();
        let turns = u32::try_from(turns).unwrap_or(u32::MAX);
        Ok(Self::with_history(id, agent, bundle, history, turns))
    }

    fn with_history(
        session_id: String,
        agent: Arc<dyn Agent>,
        bundle: Arc<RuntimeBundle>,
        history: History,
        turn_index: u32,
    ) -> Self {
        let meter = Arc::new(Meter::default());
        let store = bundle.session_memory_backend.clone();
        let store = store.unwrap_or_else(|| Arc::new(InMemoryStore::new()));
        let session_memory = SessionMemory::of_session(store, &SessionId::new(&session_id));
        let mut settings = settings(&bundle, &meter);
        settings.session_memory = Some(session_memory.port());
        settings.log = history.log();
        let began = bundle.clock.now();
        Self {
            session_id,
            agent,
            bundle,
            turn_index,
            meter,
            session_memory,
            history,
            settings,
            tools: Arc::default(),
            began,
        }
    }

    /// What it works with.
    pub fn bundle(&self) -> &Arc<RuntimeBundle> {
        &self.bundle
    }

    /// How many turns were finished; the number of the next one.
    pub fn turn_index(&self) -> u32 {
        self.turn_index
    }

    /// What all model calls cost so far, also those of turns that failed.
    pub fn cost_so_far(&self) -> CostTracker {
        self.meter.read()
    }

    /// Facts that contexts of this session tell each other. What is in it stands at the end of the system prompt of every
    /// request; see [`SessionMemory::snapshot`].
    pub fn session_memory(&self) -> &SessionMemory {
        &self.session_memory
    }

    /// What was said, oldest first. After a compaction in memory, what it left.
    ///
    /// # Errors
    /// [`AgentError::Other`] when the session's log cannot be read.
    pub fn messages(&self) -> Result<Vec<Arc<Message>>, AgentError> {
        Ok(self.history.messages().map_err(capstan_agent::AgentError::from)?)
    }

    /// Runs one turn: hooks at its start, the model and its tools to the final answer, hooks at its end.
    ///
    /// Of a turn that fails nothing stays but what it cost: the conversation and [`AgentSession::turn_index`] are as before,
    /// and the next turn works. The same when the future is dropped, which ends the model call and the tools. Nothing is
    /// written to the memory store.
    ///
    /// # Errors
    /// [`AgentError::LimitExceeded`] when the session has no turns or no time left, or the turn no tool rounds;
    /// [`AgentError::HookBlocked`] with the words of the hook that ended the turn; [`AgentError::Llm`] when the model was not
    /// answered for good; [`AgentError::Config`] when the role exposes a tool that the bundle does not have.
    pub async fn submit_turn(&mut self, input: impl Into<String>) -> Result<ChatResponse, AgentError> {
        self.turn(input.into(), &NoEvents, &CancellationToken::new()).await
    }

    /// As [`AgentSession::submit_turn`], and ends the turn within a moment when `cancel` fires.
    ///
    /// # Errors
    /// Those of [`AgentSession::submit_turn`]; [`AgentError::Other`] for a turn that was ended.
    pub async fn submit_turn_until(
        &mut self,
        input: impl Into<String>,
        cancel: &CancellationToken,
    ) -> Result<ChatResponse, AgentError> {
        self.turn(input.into(), &NoEvents, cancel).await
    }

    /// As [`AgentSession::submit_turn_until`], and tells `events` what a screen shows of the turn.
    ///
    /// # Errors
    /// Those of [`AgentSession::submit_turn_until`].
    pub async fn submit_turn_with_events(
        &mut self,
        input: impl Into<String>,
        events: &dyn EventSink,
        cancel: &CancellationToken,
    ) -> Result<ChatResponse, AgentError> {
        self.turn(input.into(), events, cancel).await
    }

    /// As [`AgentSession::submit_turn_until`], as a stream of what happens. The turn runs while the stream is read; dropping the
    /// stream ends a turn that is still waiting for something.
    pub fn submit_turn_streaming(
        &mut self,
        input: impl Into<String>,
        cancel: &CancellationToken,
    ) -> TurnStream<'_> {
        let (input, cancel) = (input.into(), cancel.clone());
        TurnStream::new(|events| async move { self.turn(input, &events, &cancel).await }.boxed())
    }

    /// Tells hooks that a step of a plan changed its status; `step` counts from 0.
    pub async fn tell_plan_step(&self, step: usize, status: &PlanStepStatus) {
        let turn = TurnContext {
            session_id: SessionId::new(&self.session_id),
            turn: self.turn_index,
            round: 0,
            model: self.bundle.provider.info().full_name().into(),
        };
        let mut context = HookContext::new(turn, CancellationToken::new());
        context.agent = Some(self.agent.name().into());
        let step = u32::try_from(step).unwrap_or(u32::MAX);
        self.bundle.hook_executor.current().plan_step(&context, step, status).await;
    }

    async fn turn(
        &mut self,
        input: String,
        events: &dyn EventSink,
        cancel: &CancellationToken,
    ) -> Result<ChatResponse, AgentError> {
        self.check_limits()?;
        expose(self.agent.as_ref(), &self.bundle, &self.tools)?;
        let context = AgentContext {
            system_prompt: self.agent.system_prompt().unwrap_or_default().to_owned(),
            messages: Vec::new(),
            tools: self.tools.clone(),
        };
        let mut config = self.settings.clone();
        config.agent_name = Some(self.agent.name().into());
        config.session_id = Some(SessionId::new(&self.session_id));
        config.turn = self.turn_index;
        let half = self.history.begin();
        let store = self.history.store();
        let done = run_agent_turn(Message::user(input), &context, &config, store, events, cancel).await?;
        let Message::Assistant(answer) = done.message.as_ref() else {
            return Err(AgentError::Other("the turn ended without an answer".to_owned()));
        };
        half.finished();
        self.turn_index = self.turn_index.saturating_add(1);
        Ok(answer.clone())
    }

    fn check_limits(&self) -> Result<(), AgentError> {
        let config = &self.bundle.config;
        let limit = config.max_turns;
        if self.turn_index >= limit {
            return Err(AgentError::LimitExceeded(format!(
                "session {} has had all of its {limit} turns; raise max_turns or begin a new session",
                self.session_id
            )));
        }
        let age = self.bundle.clock.now().saturating_sub(self.began);
        match config.session_ttl.filter(|ttl| age >= *ttl) {
            None => Ok(()),
            Some(ttl) => Err(AgentError::LimitExceeded(format!(
                "session {} is over after {ttl:?}; raise session_ttl or begin a new session",
                self.session_id
            ))),
        }
    }
}

fn settings(bundle: &RuntimeBundle, meter: &Arc<Meter>) -> AgentLoopConfig {
    let (provider, prices) = (bundle.provider.clone(), bundle.prices.clone());
    let model: Arc<dyn Model> = Arc::new(Metered::new(provider, prices.clone(), meter.clone()));
    let mut settings = AgentLoopConfig::new(model);
    settings.prices = prices;
    settings.hooks = bundle.hook_executor.clone();
    settings.retry = bundle.retry;
    settings.permissions = bundle.permissions.clone();
    settings.limits.max_tool_rounds = Some(bundle.config.max_tool_turns);
    let off = CompactionSettings { enabled: false, ..CompactionSettings::default() };
    settings.compaction = bundle.config.compact_config.unwrap_or(off);
    settings
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "session_hook_tests.rs"]
mod hook_tests;

#[cfg(test)]
#[path = "session_failure_tests.rs"]
mod failure_tests;
