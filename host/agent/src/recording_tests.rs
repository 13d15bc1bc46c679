//! Ports of seed 003 that write down in one list what happens to them, and a hook for every stage.

use crate::observers::Observers;
use crate::scripted_tests::short;
use async_trait::async_trait;
use capstan_ports::hook::HookContext;
use capstan_ports::tool::ToolContext;
use capstan_ports::*;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// One list for all. Observers work beside the turn, so whoever writes first lets them catch up.
#[derive(Default)]
pub(crate) struct Notes {
    lines: Mutex<Vec<String>>,
    pub(crate) observers: OnceLock<Arc<Observers>>,
}

impl Notes {
    pub(crate) async fn note(&self, line: impl Into<String>) {
        self.settle().await;
        self.lines.lock().unwrap().push(line.into());
    }

    async fn settle(&self) {
        if let Some(observers) = self.observers.get() {
            observers.flush(Duration::from_secs(5)).await;
        }
    }

    pub(crate) async fn take(&self) -> Vec<String> {
        self.settle().await;
        std::mem::take(&mut self.lines.lock().unwrap())
    }
}

/// `O(…)` lines.
pub(crate) struct NotingObserver(pub(crate) Arc<Notes>);

#[async_trait]
impl ObserverPort for NotingObserver {
    async fn on_event(&self, event: &TurnEvent) {
        self.0.lines.lock().unwrap().push(format!("O({event})"));
    }
}

type Rewriter<T> = Box<dyn Fn(&T) -> Result<Verdict<T>, HookError> + Send + Sync>;
type ListRewriter =
    Box<dyn Fn(&[Arc<Message>]) -> Result<Verdict<Vec<Arc<Message>>>, HookError> + Send + Sync>;
type Gate = Box<dyn Fn(&ToolCall) -> Result<GateVerdict, HookError> + Send + Sync>;
type Watcher = Box<dyn Fn(HookStage, &str) -> Result<(), HookError> + Send + Sync>;

/// Takes part in every stage; `H(…)` lines.
pub(crate) struct StageHook {
    pub(crate) name: &'static str,
    pub(crate) notes: Arc<Notes>,
    pub(crate) priority: i32,
    pub(crate) before_turn: Option<Rewriter<Message>>,
    pub(crate) before_model: Option<ListRewriter>,
    pub(crate) after_model: Option<Rewriter<AssistantMessage>>,
    pub(crate) gate: Option<Gate>,
    pub(crate) amend: Option<Amendment>,
    /// Asked at the stages that only watch.
    pub(crate) watch: Option<Watcher>,
}

impl StageHook {
    pub(crate) fn new(name: &'static str, notes: &Arc<Notes>) -> Self {
        Self {
            name,
            notes: notes.clone(),
            priority: 0,
            before_turn: None,
            before_model: None,
            after_model: None,
            gate: None,
            amend: None,
            watch: None,
        }
    }

    async fn at(&self, stage: HookStage, about: &str) -> Result<(), HookError> {
        let about = if about.is_empty() { String::new() } else { format!(" {about}") };
        let name = if self.name == "h" { String::new() } else { format!("{} ", self.name) };
        self.notes.note(format!("{name}H({stage:?}{about})")).await;
        self.watch.as_ref().map_or(Ok(()), |watch| watch(stage, &about))
    }
}

#[async_trait]
impl Hook for StageHook {
    fn name(&self) -> &str {
        self.name
    }

    fn handles(&self, _stage: HookStage, _tool: Option<&str>) -> bool {
        true
    }

    fn priority(&self, _stage: HookStage) -> i32 {
        self.priority
    }

    async fn before_turn(&self, _: &HookContext, input: &Message) -> Result<Verdict<Message>, HookError> {
        self.at(HookStage::BeforeTurn, "").await?;
        self.before_turn.as_ref().map_or(Ok(Verdict::Proceed), |f| f(input))
    }

    async fn before_model(
        &self,
        _: &HookContext,
        messages: &[Arc<Message>],
    ) -> Result<Verdict<Vec<Arc<Message>>>, HookError> {
        self.at(HookStage::BeforeModel, "").await?;
        self.before_model.as_ref().map_or(Ok(Verdict::Proceed), |f| f(messages))
    }

    async fn after_model(
        &self,
        _: &HookContext,
        answer: &AssistantMessage,
    ) -> Result<Verdict<AssistantMessage>, HookError> {
        self.at(HookStage::AfterModel, "").await?;
        self.after_model.as_ref().map_or(Ok(Verdict::Proceed), |f| f(answer))
    }

    async fn model_error(&self, _: &HookContext, failure: &Failure) -> Result<(), HookError> {
        self.at(HookStage::ModelError, &failure.message).await
    }

    async fn before_tool_call(&self, _: &HookContext, call: &ToolCall) -> Result<GateVerdict, HookError> {
        self.at(HookStage::BeforeToolCall, &call.id).await?;
        self.gate.as_ref().map_or(Ok(GateVerdict::Pass), |f| f(call))
    }

    async fn after_tool_call(
        &self,
        _: &HookContext,
        call: &ToolCall,
        outcome: &ToolOutcome,
    ) -> Result<Option<Amendment>, HookError> {
        let about = format!("{} {} {}", call.id, call.arguments, message::text_of(&outcome.content));
        self.at(HookStage::AfterToolCall, &about).await?;
        Ok(self.amend.clone())
    }

    async fn tool_error(&self, _: &HookContext, call: &ToolCall, failure: &Failure) -> Result<(), HookError> {
        self.at(HookStage::ToolError, &format!("{} {}", call.id, failure.message)).await
    }

    async fn after_turn(
        &self,
        _: &HookContext,
        answer: &Message,
        results: &[Arc<Message>],
    ) -> Result<(), HookError> {
        self.at(HookStage::AfterTurn, &format!("{} {}", short(answer), results.len())).await
    }

    async fn turn_error(&self, _: &HookContext, failure: &Failure) -> Result<(), HookError> {
        self.at(HookStage::TurnError, &format!("{:?} {}", failure.kind, failure.message)).await
    }

    async fn plan_step(&self, _: &HookContext, step: u32, status: &PlanStepStatus) -> Result<(), HookError> {
        self.at(HookStage::PlanStep, &format!("{step} {status:?}")).await
    }

    async fn session_lifecycle(&self, session: &SessionId, event: SessionLifecycle) -> Result<(), HookError> {
        self.at(HookStage::SessionLifecycle, &format!("{session} {event:?}")).await
    }
}

/// Sessions in memory that can refuse.
#[derive(Default)]
pub(crate) struct NotingStore {
    pub(crate) notes: Arc<Notes>,
    pub(crate) sessions: Mutex<HashMap<String, Session>>,
    pub(crate) fails: Mutex<Option<&'static str>>,
}

impl NotingStore {
    pub(crate) fn new(notes: &Arc<Notes>) -> Arc<Self> {
        Arc::new(Self { notes: notes.clone(), ..Self::default() })
    }

    pub(crate) fn get(&self, id: &str) -> Session {
        self.sessions.lock().unwrap().get(id).cloned().unwrap_or_default()
    }

    fn refuses(&self, what: &str) -> bool {
        *self.fails.lock().unwrap() == Some(what)
    }
}

#[async_trait]
impl SessionStore for NotingStore {
    async fn load(&self, id: &SessionId) -> Result<Session, SessionError> {
        self.notes.note("load").await;
        if self.refuses("load") {
            let source = Some("wire cut".into());
            return Err(SessionError::Load { id: id.clone(), message: "gone".into(), source });
        }
        Ok(self.get(id.as_str()))
    }

    async fn save(&self, id: &SessionId, session: &Session) -> Result<(), SessionError> {
        self.notes.note("save").await;
        if self.refuses("save") {
            return Err(SessionError::Save { id: id.clone(), message: "full".into(), source: None });
        }
        self.sessions.lock().unwrap().insert(id.to_string(), session.clone());
        Ok(())
    }
}

/// Says what it is told to, one action a call, and then nothing.
#[derive(Default)]
pub(crate) struct ScriptedCompressor {
    pub(crate) notes: Arc<Notes>,
    pub(crate) actions: Mutex<VecDeque<Result<CompressAction, CompressError>>>,
    pub(crate) contexts: Mutex<Vec<CompressContext>>,
}

impl ScriptedCompressor {
    pub(crate) fn new(notes: &Arc<Notes>, actions: impl IntoIterator<Item = CompressAction>) -> Arc<Self> {
        let actions = Mutex::new(actions.into_iter().map(Ok).collect());
        Arc::new(Self { notes: notes.clone(), actions, contexts: Mutex::default() })
    }
}

#[async_trait]
impl CompressorPort for ScriptedCompressor {
    async fn compress(
        &self,
        _messages: &[Arc<Message>],
        context: &CompressContext,
    ) -> Result<CompressAction, CompressError> {
        self.notes.note("compress").await;
        self.contexts.lock().unwrap().push(context.clone());
        self.actions.lock().unwrap().pop_front().unwrap_or(Ok(CompressAction::None))
    }
}

/// A chat model that answers what it is told to.
pub(crate) struct NotingChat {
    pub(crate) notes: Arc<Notes>,
    pub(crate) info: ModelInfo,
    pub(crate) answers: Mutex<VecDeque<Result<ModelResponse, ModelError>>>,
    pub(crate) requests: Mutex<Vec<ModelRequest>>,
}

impl NotingChat {
    pub(crate) fn new(
        notes: &Arc<Notes>,
        answers: impl IntoIterator<Item = Result<ModelResponse, ModelError>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            notes: notes.clone(),
            info: ModelInfo {
                provider: "noting".into(),
                api: "chat".into(),
                id: "one".into(),
                context_window: 8000,
                max_output_tokens: 1000,
                accepts_images: true,
            },
            answers: Mutex::new(answers.into_iter().collect()),
            requests: Mutex::default(),
        })
    }

    pub(crate) fn sent(&self) -> Vec<Vec<String>> {
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|r| crate::scripted_tests::shorts(&r.messages)).collect()
    }
}

#[async_trait]
impl ChatModel for NotingChat {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn chat(&self, request: &ModelRequest) -> Result<ModelResponse, ModelError> {
        self.notes.note("chat").await;
        self.requests.lock().unwrap().push(request.clone());
        let next = self.answers.lock().unwrap().pop_front();
        next.unwrap_or_else(|| Ok(reply("done")))
    }
}

pub(crate) fn reply(text: &str) -> ModelResponse {
    ModelResponse { content: vec![Content::text(text)], ..ModelResponse::default() }
}

pub(crate) fn wants(calls: impl IntoIterator<Item = ToolCall>) -> ModelResponse {
    let tool_calls = calls.into_iter().collect();
    ModelResponse { tool_calls, finish_reason: FinishReason::ToolCalls, ..ModelResponse::default() }
}

/// One tool, `work`, that answers with its arguments, and fails when they say so.
pub(crate) struct NotingTools(pub(crate) Arc<Notes>);

impl ToolProvider for NotingTools {
    fn list_tools(&self) -> Vec<ToolDefinition> {
        vec![
            crate::scripted_tests::TestTool::echo()
                .with_schema(serde_json::json!({"type": "object", "x-kept": 1}))
                .definition,
        ]
    }
}

#[async_trait]
impl ToolRuntime for NotingTools {
    async fn execute(
        &self,
        name: &str,
        call: &ToolCall,
        _: &ToolContext,
    ) -> Result<ToolOutcome, RuntimeError> {
        self.0.note(format!("execute {name} {} {}", call.id, call.arguments)).await;
        if call.arguments["fail"] == true {
            return Err(RuntimeError::failed("broken tool"));
        }
        Ok(ToolOutcome {
            details: Some(serde_json::json!({"kept": 1})),
            ..ToolOutcome::text(call.arguments.to_string())
        })
    }
}
