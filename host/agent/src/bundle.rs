//! The ports of seed 003 put together: one input, one session of a store, one turn.

use crate::config::{AgentContext, AgentLoopConfig, Limits};
use crate::ending::Outcome;
use crate::error::AgentError;
use crate::hooks::{HookChain, HookRegistry};
use crate::recall::RetrieveTool;
use crate::registry::ToolRegistry;
use crate::run::{Decision, Opening, Run};
use crate::transcript::{DeferredCall, deferred_calls};
use capstan_ports::event::NoEvents;
use capstan_ports::{
    CompressorPort, EventSink, Hook, MemoryPort, Message, Model, ObserverPort, ProvidedTool, SessionId,
    SessionStore, StopReason, ThinkingLevel, Tool, ToolChoice, ToolDefinition, ToolProvider, ToolRuntime,
};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// Settings of [`RuntimeBundle::from_ports`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AgentConfig {
    /// Answers with tool calls that are executed in one turn.
    pub max_tool_rounds: u32,
    /// How freely the model chooses words.
    pub temperature: Option<f32>,
    /// Tokens of one answer.
    pub max_output_tokens: Option<u32>,
    /// Which tools the model has to use.
    pub tool_choice: ToolChoice,
    /// Reasoning effort.
    pub thinking: ThinkingLevel,
    /// The window that the compressor is told; `None` means the model's own.
    pub model_context_window: Option<u32>,
}

impl Default for AgentConfig {
    fn default() -> Self {
        Self {
            max_tool_rounds: 10,
            temperature: None,
            max_output_tokens: None,
            tool_choice: ToolChoice::Auto,
            thinking: ThinkingLevel::Off,
            model_context_window: None,
        }
    }
}

/// What a turn came to.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TurnResult {
    /// The last answer.
    pub message: Arc<Message>,
    /// The results of this turn, in the order of their calls, failed ones included.
    pub tool_results: Vec<Arc<Message>>,
    /// Where the conversation is now: another session than before after a redirect.
    pub final_session_id: SessionId,
    /// Calls that wait for a person; see [`RuntimeBundle::resume_turn`].
    pub deferred: Vec<DeferredCall>,
}

/// Ports and settings with which turns are run over the sessions of a store. Share it behind an `Arc`: turns of different
/// sessions run at the same time.
pub struct RuntimeBundle {
    config: AgentLoopConfig,
    system_prompt: String,
    provider: Arc<dyn ToolProvider>,
    runtime: Arc<dyn ToolRuntime>,
    store: Arc<dyn SessionStore>,
    memory: Option<Arc<dyn MemoryPort>>,
    events: Arc<dyn EventSink>,
    /// The tools of the latest turn. Kept as long as the provider lists the same, so that schemas compile once.
    tools: Mutex<Option<Listed>>,
    busy: Mutex<HashSet<SessionId>>,
}

struct Listed {
    definitions: Vec<ToolDefinition>,
    registry: Arc<ToolRegistry>,
}

impl RuntimeBundle {
    /// A bundle of these ports (003-001). With a memory the model gets the tool `retrieve`, unless a tool of the provider
    /// has that name.
    #[expect(clippy::too_many_arguments, reason = "the nine ports of seed 003 in its order; all are needed")]
    pub fn from_ports(
        model: Arc<dyn Model>,
        tools: Arc<dyn ToolProvider>,
        runtime: Arc<dyn ToolRuntime>,
        store: Arc<dyn SessionStore>,
        observer: Arc<dyn ObserverPort>,
        compressor: Arc<dyn CompressorPort>,
        hook: Option<Arc<dyn Hook>>,
        memory: Option<Arc<dyn MemoryPort>>,
        settings: AgentConfig,
    ) -> Self {
        let mut config = AgentLoopConfig::new(model);
        config.compressor = Some(compressor);
        config.observers.add(observer);
        config.hooks = Arc::new(HookRegistry::new(HookChain::new(hook)));
        config.limits = Limits { max_tool_rounds: Some(settings.max_tool_rounds), ..Limits::default() };
        config.temperature = settings.temperature;
        config.max_output_tokens = settings.max_output_tokens;
        config.tool_choice = settings.tool_choice;
        config.thinking = settings.thinking;
        config.context_window = settings.model_context_window;
        Self::new(config, tools, runtime, store, memory)
    }

    /// A bundle that runs with this configuration; its log, session id and queues are not used.
    pub fn new(
        config: AgentLoopConfig,
        tools: Arc<dyn ToolProvider>,
        runtime: Arc<dyn ToolRuntime>,
        store: Arc<dyn SessionStore>,
        memory: Option<Arc<dyn MemoryPort>>,
    ) -> Self {
        Self {
            config,
            system_prompt: String::new(),
            provider: tools,
            runtime,
            store,
            memory,
            events: Arc::new(NoEvents),
            tools: Mutex::default(),
            busy: Mutex::default(),
        }
    }

    /// Sets the system prompt.
    #[must_use]
    pub fn with_system_prompt(mut self, text: impl Into<String>) -> Self {
        self.system_prompt = text.into();
        self
    }

    /// Tells `events` what a screen shows of each turn.
    #[must_use]
    pub fn with_events(mut self, events: Arc<dyn EventSink>) -> Self {
        self.events = events;
        self
    }

    /// The configuration of every turn, for its hooks and observers.
    pub fn config(&self) -> &AgentLoopConfig {
        &self.config
    }

    /// Runs one input to the model's final answer. Dropping the future ends the turn; nothing of it is saved then.
    ///
    /// # Errors
    /// When the turn failed, for whatever reason; the model's failure is [`AgentError::Model`] here. What was finished is
    /// saved nevertheless, unless the turn never began or the session could not be loaded.
    /// [`AgentError::AlreadyRunning`] while another turn of the same session runs (003-013).
    pub async fn run_turn(&self, input: Message, session_id: &str) -> Result<TurnResult, AgentError> {
        self.run_turn_until(input, session_id, &CancellationToken::new()).await
    }

    /// As [`RuntimeBundle::run_turn`], and ends the turn within a moment when `cancel` fires, with
    /// [`AgentError::Aborted`].
    ///
    /// # Errors
    /// Those of [`RuntimeBundle::run_turn`].
    pub async fn run_turn_until(
        &self,
        input: Message,
        session_id: &str,
        cancel: &CancellationToken,
    ) -> Result<TurnResult, AgentError> {
        self.drive(Opening::Prompts(vec![Arc::new(input)]), session_id, cancel).await
    }

    /// Does what a person decided about a call that was put off, and lets the model go on (003-128).
    ///
    /// # Errors
    /// [`AgentError::NotDeferred`] when no such call waits; then nothing happened. Otherwise those of
    /// [`RuntimeBundle::run_turn`].
    pub async fn resume_turn(
        &self,
        session_id: &str,
        call_id: &str,
        decision: Decision,
    ) -> Result<TurnResult, AgentError> {
        let session = self.store.load(&SessionId::new(session_id)).await?;
        let call_id = call_id.to_owned();
        if deferred_calls(&session.messages).iter().all(|waiting| waiting.call.id != call_id) {
            return Err(AgentError::NotDeferred { call_id });
        }
        self.drive(Opening::Decided { call_id, decision }, session_id, &CancellationToken::new()).await
    }

    async fn drive(
        &self,
        opening: Opening,
        session_id: &str,
        cancel: &CancellationToken,
    ) -> Result<TurnResult, AgentError> {
        let id = SessionId::new(session_id);
        let _busy = Busy::claim(&self.busy, &id)?;
        let mut config = self.config.clone();
        config.session_id = Some(id);
        (config.log, config.steering, config.follow_ups) = (None, None, None);
        // Failures are counted for one conversation; here each turn may be another one's.
        config.compaction_control = Arc::default();
        let context = AgentContext {
            system_prompt: self.system_prompt.clone(),
            messages: Vec::new(),
            tools: self.listed(),
        };
        // Ends tools and hooks, too, when this future is dropped.
        let cancel = cancel.child_token();
        let _ended = cancel.clone().drop_guard();
        let run = Run::new(&context, &config, self.events.as_ref(), &cancel).over(self.store.clone());
        TurnResult::of(run.run(opening).await)
    }

    /// The provider's tools as of now.
    fn listed(&self) -> Arc<ToolRegistry> {
        let definitions = self.provider.list_tools();
        let mut latest = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listed) = latest.as_ref().filter(|listed| listed.definitions == definitions) {
            return listed.registry.clone();
        }
        let registry = ToolRegistry::default();
        let provided = definitions.iter().map(|definition| -> Arc<dyn Tool> {
            Arc::new(ProvidedTool::new(definition.clone(), self.runtime.clone()))
        });
        let retrieve =
            self.memory.iter().map(|memory| -> Arc<dyn Tool> { Arc::new(RetrieveTool::new(memory.clone())) });
        for tool in provided.chain(retrieve) {
            if let Err(error) = registry.register(tool) {
                tracing::warn!(%error, "of two tools with one name the first counts");
            }
        }
        let registry = Arc::new(registry);
        *latest = Some(Listed { definitions, registry: registry.clone() });
        registry
    }
}

/// One turn at a time for each session.
struct Busy<'a> {
    sessions: &'a Mutex<HashSet<SessionId>>,
    id: SessionId,
}

impl<'a> Busy<'a> {
    fn claim(sessions: &'a Mutex<HashSet<SessionId>>, id: &SessionId) -> Result<Self, AgentError> {
        let is_new = sessions.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone());
        if is_new { Ok(Self { sessions, id: id.clone() }) } else { Err(AgentError::AlreadyRunning) }
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

impl TurnResult {
    /// A failed model is an error here.
    pub(crate) fn of(outcome: Outcome) -> Result<Self, AgentError> {
        let Outcome { added, tool_results, session_id, error, model_failure } = outcome;
        if let Some(error) = error {
            return Err(error);
        }
        if let Some(failure) = model_failure {
            return Err(AgentError::Model(failure));
        }
        let answers = added.iter().rev();
        let answer = answers.into_iter().find_map(|message| match message.as_ref() {
            Message::Assistant(answer) => Some((message.clone(), answer.stop_reason)),
            Message::User(_) | Message::ToolResult(_) | Message::Custom(_) => None,
        });
        match answer {
            None | Some((_, StopReason::Error | StopReason::Aborted)) => Err(AgentError::Aborted),
            Some((message, StopReason::Stop | StopReason::Length | StopReason::ToolUse)) => {
                let deferred = deferred_calls(&added);
                Ok(Self { message, tool_results, final_session_id: session_id, deferred })
            }
        }
    }
}

#[cfg(test)]
#[path = "bundle_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "bundle_flow_tests.rs"]
mod flow_tests;
