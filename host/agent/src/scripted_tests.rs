//! What the tests of this crate share: a model that follows a script, tools and hooks made of closures, a sink that
//! records, and a log in memory.

use crate::queue::PendingMessageQueue;
use crate::registry::ToolRegistry;
use crate::{AgentContext, AgentError, AgentLoopConfig, MessageSource, run_agent_loop};
use async_trait::async_trait;
use capstan_ports::hook::HookContext;
use capstan_ports::tool::ToolContext;
use capstan_ports::*;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// One answer of the scripted model.
pub(crate) enum Answer {
    Events(Vec<ModelEvent>),
    /// These events, and then silence.
    Hangs(Vec<ModelEvent>),
    Panics,
}

pub(crate) struct ScriptedModel {
    info: ModelInfo,
    answers: Mutex<VecDeque<Answer>>,
    pub(crate) requests: Mutex<Vec<ModelRequest>>,
}

impl ScriptedModel {
    pub(crate) fn new(answers: impl IntoIterator<Item = Answer>) -> Arc<Self> {
        Self::named("one", answers)
    }

    pub(crate) fn named(id: &str, answers: impl IntoIterator<Item = Answer>) -> Arc<Self> {
        Arc::new(Self {
            info: ModelInfo {
                provider: "scripted".into(),
                api: "script".into(),
                id: id.into(),
                context_window: 100_000,
                max_output_tokens: 1000,
                accepts_images: true,
            },
            answers: Mutex::new(answers.into_iter().collect()),
            requests: Mutex::default(),
        })
    }

    /// What was sent, as short texts.
    pub(crate) fn sent(&self) -> Vec<Vec<String>> {
        self.requests.lock().unwrap().iter().map(|request| shorts(&request.messages)).collect()
    }

    /// Forgets the answers that nobody asked for.
    pub(crate) fn forget(&self) {
        self.answers.lock().unwrap().clear();
    }

    pub(crate) fn push(&self, answer: Answer) {
        self.answers.lock().unwrap().push_back(answer);
    }
}

impl Model for ScriptedModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        self.requests.lock().unwrap().push(request);
        match self.answers.lock().unwrap().pop_front().unwrap_or_else(|| says("")) {
            Answer::Events(events) => stream::iter(events).boxed(),
            Answer::Hangs(events) => stream::iter(events).chain(stream::pending()).boxed(),
            Answer::Panics => panic!("scripted panic"),
        }
    }
}

pub(crate) fn assistant(content: Vec<Content>, stop_reason: StopReason) -> AssistantMessage {
    AssistantMessage { content, stop_reason, timestamp: 1, ..AssistantMessage::default() }
}

/// A text, streamed in two pieces.
pub(crate) fn says(text: &str) -> Answer {
    let mut events = text_events(text);
    events.push(ModelEvent::Done(Box::new(assistant(vec![Content::text(text)], StopReason::Stop))));
    Answer::Events(events)
}

/// A text for which the provider counted so many tokens, question and answer together.
pub(crate) fn says_counted(text: &str, total_tokens: u64) -> Answer {
    let usage = Usage { total_tokens, ..Usage::default() };
    let answer = AssistantMessage { usage, ..assistant(vec![Content::text(text)], StopReason::Stop) };
    Answer::Events(vec![ModelEvent::Done(Box::new(answer))])
}

pub(crate) fn text_events(text: &str) -> Vec<ModelEvent> {
    vec![
        ModelEvent::Update(AssistantEvent::TextStart { content_index: 0 }),
        ModelEvent::Update(AssistantEvent::TextDelta { content_index: 0, delta: text.into() }),
    ]
}

pub(crate) fn call(id: &str, name: &str, arguments: Value) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), arguments, malformed: None }
}

/// Tool calls, sent without any event before the end.
pub(crate) fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Answer {
    stops(StopReason::ToolUse, calls)
}

pub(crate) fn stops(reason: StopReason, calls: impl IntoIterator<Item = ToolCall>) -> Answer {
    let content = calls.into_iter().map(Content::ToolCall).collect();
    Answer::Events(vec![ModelEvent::Done(Box::new(assistant(content, reason)))])
}

pub(crate) fn fails(kind: ModelErrorKind, text: &str) -> Answer {
    Answer::Events(vec![ModelEvent::Failed(ModelError::new(kind, text))])
}

type Execute =
    Arc<dyn Fn(ToolCall, ToolContext) -> BoxFuture<'static, Result<ToolOutcome, ToolError>> + Send + Sync>;

#[derive(Clone)]
pub(crate) struct TestTool {
    pub(crate) definition: ToolDefinition,
    pub(crate) prepare: fn(Value) -> Result<Value, ToolError>,
    execute: Execute,
}

impl TestTool {
    pub(crate) fn new<F, R>(name: &str, execute: F) -> Self
    where
        F: Fn(ToolCall, ToolContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ToolOutcome, ToolError>> + Send + 'static,
    {
        Self {
            definition: ToolDefinition {
                name: name.into(),
                label: name.to_uppercase(),
                description: format!("does {name}"),
                parameters: json!({"type": "object"}),
                execution: Execution::Parallel,
            },
            prepare: Ok,
            execute: Arc::new(move |call, context| execute(call, context).boxed()),
        }
    }

    /// Answers with its arguments.
    pub(crate) fn echo() -> Self {
        Self::new("echo", |call, _| async move { Ok(ToolOutcome::text(call.arguments.to_string())) })
    }

    pub(crate) fn sequential(mut self) -> Self {
        self.definition.execution = Execution::Sequential;
        self
    }

    pub(crate) fn with_schema(mut self, schema: Value) -> Self {
        self.definition.parameters = schema;
        self
    }
}

#[async_trait]
impl Tool for TestTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn prepare(&self, arguments: Value) -> Result<Value, ToolError> {
        (self.prepare)(arguments)
    }

    fn access(&self, _arguments: &Value) -> CallAccess {
        CallAccess::Nothing
    }

    async fn execute(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolOutcome, ToolError> {
        (self.execute)(call.clone(), context.clone()).await
    }
}

pub(crate) fn registry(tools: impl IntoIterator<Item = TestTool>) -> Arc<ToolRegistry> {
    Arc::new(ToolRegistry::with_tools(tools.into_iter().map(|tool| Arc::new(tool) as Arc<dyn Tool>)).unwrap())
}

pub(crate) fn context(tools: impl IntoIterator<Item = TestTool>) -> AgentContext {
    AgentContext { system_prompt: "be good".into(), messages: Vec::new(), tools: registry(tools) }
}

pub(crate) fn config(model: &Arc<ScriptedModel>) -> AgentLoopConfig {
    AgentLoopConfig::new(model.clone())
}

pub(crate) fn user(text: &str) -> Arc<Message> {
    Arc::new(Message::user(text))
}

type Gate = Box<dyn Fn(&ToolCall) -> Result<GateVerdict, HookError> + Send + Sync>;
type Amend = Box<dyn Fn(&ToolCall, &ToolOutcome) -> Result<Option<Amendment>, HookError> + Send + Sync>;

pub(crate) struct TestHook {
    pub(crate) name: &'static str,
    pub(crate) priority: i32,
    gate: Option<Gate>,
    amend: Option<Amend>,
}

impl TestHook {
    pub(crate) fn gate(
        name: &'static str,
        gate: impl Fn(&ToolCall) -> Result<GateVerdict, HookError> + Send + Sync + 'static,
    ) -> Self {
        Self { name, priority: 0, gate: Some(Box::new(gate)), amend: None }
    }

    pub(crate) fn amend(
        name: &'static str,
        amend: impl Fn(&ToolCall, &ToolOutcome) -> Result<Option<Amendment>, HookError> + Send + Sync + 'static,
    ) -> Self {
        Self { name, priority: 0, gate: None, amend: Some(Box::new(amend)) }
    }

    pub(crate) fn at(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }
}

#[async_trait]
impl Hook for TestHook {
    fn name(&self) -> &str {
        self.name
    }

    fn handles(&self, stage: HookStage, _tool: Option<&str>) -> bool {
        match stage {
            HookStage::BeforeToolCall => self.gate.is_some(),
            HookStage::AfterToolCall => self.amend.is_some(),
            _ => false,
        }
    }

    fn priority(&self, _stage: HookStage) -> i32 {
        self.priority
    }

    async fn before_tool_call(
        &self,
        _context: &HookContext,
        call: &ToolCall,
    ) -> Result<GateVerdict, HookError> {
        self.gate.as_ref().map_or(Ok(GateVerdict::Pass), |gate| gate(call))
    }

    async fn after_tool_call(
        &self,
        _context: &HookContext,
        call: &ToolCall,
        outcome: &ToolOutcome,
    ) -> Result<Option<Amendment>, HookError> {
        self.amend.as_ref().map_or(Ok(None), |amend| amend(call, outcome))
    }
}

pub(crate) fn hooks(hooks: impl IntoIterator<Item = TestHook>) -> crate::hooks::HookChain {
    crate::hooks::HookChain::new(hooks.into_iter().map(|hook| Arc::new(hook) as Arc<dyn Hook>))
}

/// Records events and can look at each as it comes.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) events: Mutex<Vec<AgentEvent>>,
}

impl Recorder {
    pub(crate) fn trace(&self) -> Vec<String> {
        self.events.lock().unwrap().iter().map(short_event).collect()
    }

    pub(crate) fn count(&self, wanted: &str) -> usize {
        self.trace().iter().filter(|event| event.starts_with(wanted)).count()
    }
}

#[async_trait]
impl EventSink for Recorder {
    async fn emit(&self, event: AgentEvent) {
        self.events.lock().unwrap().push(event);
    }
}

/// A message in a few characters: `user hi`, `asst done`, `asst +a+b` (calls), `asst! why` (failed), `result a ok`.
pub(crate) fn short(message: &Message) -> String {
    let text = message.text();
    match message {
        Message::User(_) => format!("user {text}"),
        Message::Assistant(answer) => {
            let mark = if answer.error_message.is_some() { "!" } else { "" };
            let calls: String = answer.tool_calls().map(|call| format!("+{}", call.id)).collect();
            let error = answer.error_message.clone().unwrap_or_default();
            format!("asst{mark} {text}{calls}{error}")
        }
        Message::ToolResult(result) => {
            format!("result{} {} {text}", if result.is_error { "!" } else { "" }, result.tool_call_id)
        }
        Message::Custom(custom) => format!("custom {} {text}", custom.custom_type),
    }
}

pub(crate) fn shorts(messages: &[Arc<Message>]) -> Vec<String> {
    messages.iter().map(|message| short(message)).collect()
}

fn short_event(event: &AgentEvent) -> String {
    match event {
        AgentEvent::AgentStart => "agent_start".into(),
        AgentEvent::AgentEnd { messages } => format!("agent_end {}", messages.len()),
        AgentEvent::TurnStart => "turn_start".into(),
        AgentEvent::TurnEnd { message, tool_results } => {
            let ids: Vec<String> =
                shorts(tool_results).iter().map(|s| s.split(' ').nth(1).unwrap().into()).collect();
            format!("turn_end ({}) [{}]", short(message), ids.join(","))
        }
        AgentEvent::MessageStart { message } => format!("message_start ({})", short(message)),
        AgentEvent::MessageUpdate { message, .. } => format!("message_update ({})", short(message)),
        AgentEvent::MessageEnd { message } => format!("message_end ({})", short(message)),
        AgentEvent::CompactionStart { reason } => format!("compaction_start {reason:?}"),
        AgentEvent::CompactionEnd { result, will_retry, .. } => {
            let what = if result.is_some() { "compacted" } else { "unchanged" };
            format!("compaction_end {what}{}", if *will_retry { ", retry" } else { "" })
        }
        AgentEvent::ToolExecutionStart { tool_call_id, .. } => format!("start {tool_call_id}"),
        AgentEvent::ToolExecutionUpdate { tool_call_id, partial_result, .. } => {
            format!("update {tool_call_id} {}", message::text_of(&partial_result.content))
        }
        AgentEvent::ToolExecutionEnd { tool_call_id, is_error, .. } => {
            format!("end{} {tool_call_id}", if *is_error { "!" } else { "" })
        }
    }
}

/// Keeps messages and the order of operations; can refuse to write.
pub(crate) struct MemoryLog {
    id: SessionId,
    entries: Mutex<Vec<Arc<Entry>>>,
    leaf: Mutex<Option<EntryId>>,
    pub(crate) operations: Mutex<Vec<String>>,
    /// Appends that succeed before all others fail.
    pub(crate) room: Mutex<usize>,
}

impl MemoryLog {
    pub(crate) fn new() -> Arc<Self> {
        Self::named("s1")
    }

    pub(crate) fn named(id: &str) -> Arc<Self> {
        Arc::new(Self {
            id: SessionId::new(id),
            entries: Mutex::default(),
            leaf: Mutex::default(),
            operations: Mutex::default(),
            room: Mutex::new(usize::MAX),
        })
    }

    pub(crate) fn note(&self, operation: impl Into<String>) {
        self.operations.lock().unwrap().push(operation.into());
    }

    /// An entry as a file may hold it. It does not become the leaf.
    pub(crate) fn push(&self, entry: Entry) {
        self.entries.lock().unwrap().push(Arc::new(entry));
    }

    pub(crate) fn operations(&self) -> Vec<String> {
        self.operations.lock().unwrap().clone()
    }
}

impl MemoryLog {
    async fn append_made_at(&self, mut kind: EntryKind, timestamp: String) -> Result<EntryId, SessionError> {
        tokio::task::yield_now().await;
        if let EntryKind::Compaction(compaction) = &mut kind {
            let kept = &mut compaction.first_kept_entry_id;
            if *kept == entry::Compaction::keeps_nothing() {
                *kept = EntryId::new(format!("e{}", self.entries().len() + 1));
            } else if self.entry(kept).is_none() {
                let (session, entry) = (self.id.clone(), kept.clone());
                return Err(SessionError::UnknownEntry { session, entry });
            }
        }
        {
            let mut room = self.room.lock().unwrap();
            if *room == 0 {
                let (path, reason) = (PathBuf::from("s1.jsonl"), "the disk is full".to_owned());
                return Err(SessionError::ReadOnly { path, reason });
            }
            *room -= 1;
        }
        let mut entries = self.entries.lock().unwrap();
        let id = EntryId::new(format!("e{}", entries.len() + 1));
        let entry = Entry { id: id.clone(), parent_id: self.leaf(), timestamp, kind };
        match entry.message() {
            Some(message) => self.note(format!("append {}", short(&message))),
            None => self.note(format!("append {}", entry.kind.type_name())),
        }
        entries.push(Arc::new(entry));
        *self.leaf.lock().unwrap() = Some(id.clone());
        Ok(id)
    }
}

#[async_trait]
impl SessionLog for MemoryLog {
    fn id(&self) -> &SessionId {
        &self.id
    }

    fn context(&self) -> Result<SessionContext, SessionError> {
        let path = self.path(None)?;
        Ok(SessionContext::of_branch(&path.iter().collect::<Vec<_>>()))
    }

    fn transcript(&self) -> Result<Vec<Arc<Message>>, SessionError> {
        let said = self.path(None)?.into_iter().filter_map(|entry| entry.message());
        Ok(said.filter(|message| !matches!(message.as_ref(), Message::Custom(_))).collect())
    }

    fn leaf(&self) -> Option<EntryId> {
        self.leaf.lock().unwrap().clone()
    }

    fn entry(&self, id: &EntryId) -> Option<Arc<Entry>> {
        self.entries.lock().unwrap().iter().find(|entry| entry.id == *id).cloned()
    }

    fn entries(&self) -> Vec<Arc<Entry>> {
        self.entries.lock().unwrap().clone()
    }

    fn path(&self, to: Option<&EntryId>) -> Result<Vec<Arc<Entry>>, SessionError> {
        let mut at = to.cloned().or_else(|| self.leaf());
        let mut path = Vec::new();
        while let Some(id) = at {
            let unknown = || SessionError::UnknownEntry { session: self.id.clone(), entry: id.clone() };
            let entry = self.entry(&id).ok_or_else(unknown)?;
            at = entry.parent_id.clone();
            path.push(entry);
        }
        path.reverse();
        Ok(path)
    }

    fn branch(&self, to: Option<&EntryId>) -> Result<(), SessionError> {
        if let Some(id) = to {
            self.path(Some(id))?;
        }
        *self.leaf.lock().unwrap() = to.cloned();
        Ok(())
    }

    async fn append(&self, kind: EntryKind) -> Result<EntryId, SessionError> {
        self.append_made_at(kind, "2026-01-01T00:00:00.000Z".to_owned()).await
    }

    async fn append_message(&self, message: Arc<Message>) -> Result<EntryId, SessionError> {
        let Message::Custom(custom) = message.as_ref() else {
            return self.append(EntryKind::message(message)).await;
        };
        let at = std::time::UNIX_EPOCH + std::time::Duration::from_millis(custom.timestamp);
        let at = humantime::format_rfc3339_millis(at).to_string();
        self.append_made_at(EntryKind::message(message), at).await
    }

    async fn commit(&self) -> Result<(), SessionError> {
        tokio::task::yield_now().await;
        self.note("commit");
        Ok(())
    }
}

/// What a run of the prompt `hi` came to.
pub(crate) struct Ran {
    pub(crate) trace: Vec<String>,
    pub(crate) result: Result<Vec<Arc<Message>>, AgentError>,
    pub(crate) sink: Recorder,
}

pub(crate) async fn run(context: &AgentContext, config: &AgentLoopConfig) -> Ran {
    let sink = Recorder::default();
    let result = run_agent_loop(vec![user("hi")], context, config, &sink, &CancellationToken::new()).await;
    Ran { trace: sink.trace(), result, sink }
}

pub(crate) fn drains(queue: &Arc<PendingMessageQueue>) -> Option<MessageSource> {
    let queue = queue.clone();
    Some(Arc::new(move || queue.drain()))
}

/// A shell command that the user ran.
pub(crate) fn ran_bash(command: &str, output: &str) -> BashExecution {
    BashExecution {
        command: command.into(),
        output: output.into(),
        exit_code: Some(0),
        cancelled: false,
        truncated: false,
        full_output_path: None,
        exclude_from_context: false,
        timestamp: 1,
    }
}
