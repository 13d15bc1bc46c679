//! What a run works with: its context, its ports and its limits.

use crate::compaction::CompactionSettings;
use crate::compaction::control::Control;
use crate::hooks::HookRegistry;
use crate::observers::Observers;
use crate::registry::ToolRegistry;
use crate::retry::{RandomSource, RetryObserver, RetryPolicy, RetryStop, RuntimeSleeper, Sleeper, random};
use async_trait::async_trait;
use capstan_ports::permission::AllowAll;
use capstan_ports::{
    CompressorPort, Message, Model, ModelCatalog, NoPrices, PermissionPort, PriceTable, SessionId,
    SessionLog, SessionMemoryPort, ThinkingLevel, ToolChoice,
};
use std::sync::Arc;
use std::time::Duration;

/// What the model is told. A run never changes the value it was given (000-090).
#[derive(Clone, Default)]
pub struct AgentContext {
    /// The system prompt, the same for all rounds of a run.
    pub system_prompt: String,
    /// What was said before the run; where there is a log, that counts instead.
    pub messages: Vec<Arc<Message>>,
    /// What the model can call.
    pub tools: Arc<ToolRegistry>,
}

/// How the calls of one answer are executed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolExecutionMode {
    /// Checked one after another, then run together, unless one of the called tools is marked sequential.
    #[default]
    Parallel,
    /// Each is checked, run and recorded before the next is looked at.
    Sequential,
}

/// Bounds of a run. Each has a symptom that names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Answers with tool calls that are executed in one run; `None` leaves it to the model. A further one ends the
    /// run with [`AgentError::ToolLoopExceeded`](crate::AgentError::ToolLoopExceeded).
    pub max_tool_rounds: Option<u32>,
    /// Calls of one answer that are looked at; further ones get an error result. A model that asks for a thousand at once
    /// is lost, and a thousand results would not fit its window.
    pub max_calls_per_answer: usize,
    /// From how many failures of one and the same call (tool and arguments equal) on its result carries a warning.
    pub warn_after_repeats: u32,
    /// How many failures of one and the same call end the run, with
    /// [`AgentError::RepeatedFailure`](crate::AgentError::RepeatedFailure). A model that has not changed its ways by then
    /// only costs money.
    pub max_repeats: u32,
    /// Calls that run at the same time; more wait their turn. At least 1. Eight keeps a laptop responsive when a
    /// model asks for fifty searches at once.
    pub max_parallel_calls: usize,
    /// Bytes of text that one result may hold; the rest is cut with a note. 256 KiB is about 64 000 tokens, beyond
    /// what any window has to spare for one result.
    pub max_result_bytes: usize,
    /// How long a call may take to notice an abort. Then it is dropped and reported as aborted. Half a second leaves
    /// room for the run to be idle within one.
    pub abort_grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_tool_rounds: None,
            max_calls_per_answer: 128,
            warn_after_repeats: 3,
            max_repeats: 10,
            max_parallel_calls: 8,
            max_result_bytes: 256 * 1024,
            abort_grace: Duration::from_millis(500),
        }
    }
}

/// Which settings count also where the session that is taken up says something else, because the user chose them for this
/// run: by a flag or a variable, not by a default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Chosen {
    /// [`AgentLoopConfig::model`].
    pub model: bool,
    /// [`AgentLoopConfig::thinking`].
    pub thinking: bool,
}

/// Where queued messages come from. Called at the drain points of the loop; an empty list means that nothing waits.
pub type MessageSource = Arc<dyn Fn() -> Vec<Arc<Message>> + Send + Sync>;

/// Prepares the messages of each request. What it returns is used for that request only; the transcript stays as it is.
#[async_trait]
pub trait ContextTransform: Send + Sync {
    /// The messages to send in place of `messages`. They are repaired afterwards, so calls and results may be cut
    /// apart.
    ///
    /// # Errors
    /// Ends the run with [`AgentError::Context`](crate::AgentError::Context).
    async fn transform(
        &self,
        messages: Vec<Arc<Message>>,
    ) -> Result<Vec<Arc<Message>>, Box<dyn std::error::Error + Send + Sync>>;
}

/// The ports and settings of a run.
#[derive(Clone)]
#[non_exhaustive]
pub struct AgentLoopConfig {
    /// The name of the agent's role, for hooks.
    pub agent_name: Option<Arc<str>>,
    /// Who answers.
    pub model: Arc<dyn Model>,
    /// What else could answer; a session that was continued with one of them goes on with that. `None` knows no other.
    pub models: Option<Arc<dyn ModelCatalog>>,
    /// Reasoning effort.
    pub thinking: ThinkingLevel,
    /// Which of these two count whatever the session says; see [`AgentSession::open`](crate::AgentSession::open).
    pub chosen: Chosen,
    /// Tokens of one answer; `None` leaves it to the model's own limit.
    pub max_output_tokens: Option<u32>,
    /// How freely the model chooses words; `None` leaves it to the model's default.
    pub temperature: Option<f32>,
    /// Which tools it has to use.
    pub tool_choice: ToolChoice,
    /// How the request should travel; see [`ModelRequest::transport`](capstan_ports::ModelRequest::transport).
    pub transport: Option<String>,
    /// The window that compressors are told; `None` means the model's own.
    pub context_window: Option<u32>,
    /// Asked before each model call what to do with the conversation. `None` leaves that to
    /// [`ThresholdCompressor`](crate::ThresholdCompressor), which also takes its place when it fails.
    pub compressor: Option<Arc<dyn CompressorPort>>,
    /// When conversations are compacted and how much of them stays.
    pub compaction: CompactionSettings,
    /// How often that failed, and what is in progress; of one conversation.
    pub(crate) compaction_control: Arc<Control>,
    /// Facts of the session, shown to the model at the end of its system prompt; `None` shows none.
    pub session_memory: Option<Arc<dyn SessionMemoryPort>>,
    /// What model calls cost.
    pub prices: Arc<dyn PriceTable>,
    /// Watch turns from beside.
    pub observers: Arc<Observers>,
    /// Hooks at every stage.
    pub hooks: Arc<HookRegistry>,
    /// Decides calls after all gates. [`AllowAll`] until replaced: whoever embeds the loop chose the tools.
    pub permissions: Arc<dyn PermissionPort>,
    /// Where the conversation is kept; what was said before the run comes from there. `None` keeps it in memory.
    pub log: Option<Arc<dyn SessionLog>>,
    /// Identifies the session to hooks, tools and the provider. Unset, the log's id counts.
    pub session_id: Option<SessionId>,
    /// Turns of this session before this run.
    pub turn: u32,
    /// Drained before the first model call and after every round.
    pub steering: Option<MessageSource>,
    /// Drained when the run would otherwise end.
    pub follow_ups: Option<MessageSource>,
    /// Prepares the messages of each request.
    pub transform: Option<Arc<dyn ContextTransform>>,
    /// How calls are executed.
    pub tool_execution: ToolExecutionMode,
    /// Bounds.
    pub limits: Limits,
    /// Retries of failed requests.
    pub retry: RetryPolicy,
    /// Told of retries.
    pub on_retry: Option<RetryObserver>,
    /// Waits between retries.
    pub sleeper: Arc<dyn Sleeper>,
    /// Ends such a wait, and the retrying with it.
    pub retry_stop: Arc<RetryStop>,
    /// Spreads the waits between retries.
    pub random: RandomSource,
}

impl AgentLoopConfig {
    /// The defaults around a model: no hooks, no log, no queues, parallel execution.
    pub fn new(model: Arc<dyn Model>) -> Self {
        Self {
            agent_name: None,
            model,
            models: None,
            thinking: ThinkingLevel::Off,
            chosen: Chosen::default(),
            max_output_tokens: None,
            temperature: None,
            tool_choice: ToolChoice::Auto,
            transport: None,
            context_window: None,
            compressor: None,
            compaction: CompactionSettings::default(),
            compaction_control: Arc::default(),
            session_memory: None,
            prices: Arc::new(NoPrices),
            observers: Arc::default(),
            hooks: Arc::new(HookRegistry::default()),
            permissions: Arc::new(AllowAll),
            log: None,
            session_id: None,
            turn: 0,
            steering: None,
            follow_ups: None,
            transform: None,
            tool_execution: ToolExecutionMode::Parallel,
            limits: Limits::default(),
            retry: RetryPolicy::default(),
            on_retry: None,
            sleeper: Arc::new(RuntimeSleeper),
            retry_stop: Arc::default(),
            random: Arc::new(random),
        }
    }

    /// The id that counts, if there is one.
    pub(crate) fn session(&self) -> Option<SessionId> {
        self.session_id.clone().or_else(|| self.log.as_ref().map(|log| log.id().clone()))
    }
}
