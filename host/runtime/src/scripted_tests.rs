//! What the tests of sessions and bundles share: a role, a tool and a hook that write down what happens to them.

use crate::{Agent, AgentBuilder, AgentSession, RuntimeBundle};
use async_trait::async_trait;
use capstan_agent::{HookChain, HookRegistry, RetryPolicy, ToolRegistry};
use capstan_ports::hook::HookContext;
use capstan_ports::tool::ToolContext;
use capstan_ports::*;
use capstan_provider::{Answer, ScriptedModel};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Lines in the order in which things happened.
#[derive(Default)]
pub(crate) struct Notes(Mutex<Vec<String>>);

impl Notes {
    pub(crate) fn add(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    pub(crate) fn has(&self, line: &str) -> bool {
        self.0.lock().unwrap().iter().any(|noted| noted == line)
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// A role with a prompt; with `only` it exposes these tools.
pub(crate) struct Role {
    pub(crate) name: &'static str,
    pub(crate) prompt: Option<&'static str>,
    pub(crate) only: Option<&'static [&'static str]>,
}

impl Role {
    pub(crate) fn named(name: &'static str, prompt: &'static str) -> Arc<dyn Agent> {
        Arc::new(Self { name, prompt: Some(prompt), only: None })
    }

    pub(crate) fn with_only(only: &'static [&'static str]) -> Arc<dyn Agent> {
        Arc::new(Self { name: "clerk", prompt: None, only: Some(only) })
    }
}

impl Agent for Role {
    fn name(&self) -> &str {
        self.name
    }

    fn system_prompt(&self) -> Option<&str> {
        self.prompt
    }

    fn tool_definitions(&self, bundle: &RuntimeBundle) -> Vec<ToolDefinition> {
        let all = bundle.tool_registry.list();
        let is_exposed = |tool: &&ToolDefinition| self.only.is_none_or(|only| only.contains(&&*tool.name));
        all.iter().filter(is_exposed).cloned().collect()
    }
}

/// Answers with its arguments.
pub(crate) struct NotingTool {
    definition: ToolDefinition,
    notes: Arc<Notes>,
}

#[async_trait]
impl Tool for NotingTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn access(&self, _arguments: &Value) -> CallAccess {
        CallAccess::Nothing
    }

    async fn execute(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolOutcome, ToolError> {
        self.notes.add(format!("run {}", call.name));
        if call.arguments["hang"] == json!(true) {
            let _ended = Ended(&self.notes, &call.name);
            context.cancel.cancelled().await;
            return Err(ToolError::Aborted);
        }
        Ok(ToolOutcome::text(call.arguments.to_string()))
    }
}

/// Notes that a call is over, however it ended.
struct Ended<'a>(&'a Notes, &'a str);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.add(format!("ended {}", self.1));
    }
}

pub(crate) fn tool(name: &str, notes: &Arc<Notes>) -> Arc<dyn Tool> {
    let definition = ToolDefinition {
        name: name.into(),
        label: name.into(),
        description: format!("does {name}"),
        parameters: json!({"type": "object"}),
        execution: Execution::Parallel,
    };
    Arc::new(NotingTool { definition, notes: notes.clone() })
}

pub(crate) fn tools(names: &[&str], notes: &Arc<Notes>) -> Arc<ToolRegistry> {
    Arc::new(ToolRegistry::with_tools(names.iter().map(|name| tool(name, notes))).unwrap())
}

type BeforeTurn = Box<dyn Fn() -> Result<Verdict<Message>, HookError> + Send + Sync>;

/// Notes the seven events of seed 004 and what their contexts say.
pub(crate) struct NotingHook {
    pub(crate) name: &'static str,
    pub(crate) notes: Arc<Notes>,
    pub(crate) before: BeforeTurn,
    pub(crate) fails_after: bool,
}

impl NotingHook {
    pub(crate) fn new(notes: &Arc<Notes>) -> Self {
        let before = Box::new(|| Ok(Verdict::Proceed));
        Self { name: "notes", notes: notes.clone(), before, fails_after: false }
    }

    fn note(&self, context: &HookContext, event: &str) {
        let turn = context.turn_index.map_or(String::new(), |turn| format!(" turn={turn}"));
        let step = context.plan_step_index.map_or(String::new(), |step| format!(" step={step}"));
        self.notes.add(format!("{}: {event}{turn}{step}", self.name));
    }

    pub(crate) fn failure(&self) -> HookError {
        HookError::Failed { hook: self.name.into(), message: "broken".into(), source: None }
    }
}

#[async_trait]
impl Hook for NotingHook {
    fn name(&self) -> &str {
        self.name
    }

    fn handles(&self, stage: HookStage, _tool: Option<&str>) -> bool {
        !matches!(stage, HookStage::BeforeToolCall | HookStage::AfterToolCall | HookStage::ToolError)
    }

    async fn before_turn(&self, context: &HookContext, _: &Message) -> Result<Verdict<Message>, HookError> {
        self.note(context, &format!("OnTurnStart {}", context.agent.as_deref().unwrap_or("-")));
        (self.before)()
    }

    async fn before_model(
        &self,
        context: &HookContext,
        _: &[Arc<Message>],
    ) -> Result<Verdict<Vec<Arc<Message>>>, HookError> {
        self.note(context, "PreRequest");
        Ok(Verdict::Proceed)
    }

    async fn after_model(
        &self,
        context: &HookContext,
        _: &AssistantMessage,
    ) -> Result<Verdict<AssistantMessage>, HookError> {
        self.note(context, "PostRequest");
        Ok(Verdict::Proceed)
    }

    async fn retrying(
        &self,
        context: &HookContext,
        attempt: u32,
        _: Duration,
        _: &Failure,
    ) -> Result<(), HookError> {
        self.note(context, &format!("OnRetry {attempt}"));
        Ok(())
    }

    async fn model_error(&self, context: &HookContext, _: &Failure) -> Result<(), HookError> {
        self.note(context, "OnError");
        Ok(())
    }

    async fn after_turn(
        &self,
        context: &HookContext,
        _: &Message,
        _: &[Arc<Message>],
    ) -> Result<(), HookError> {
        self.note(context, "OnTurnEnd");
        if self.fails_after { Err(self.failure()) } else { Ok(()) }
    }

    async fn turn_error(&self, context: &HookContext, failure: &Failure) -> Result<(), HookError> {
        self.note(context, &format!("turn failed ({})", failure.message));
        Ok(())
    }

    async fn plan_step(
        &self,
        context: &HookContext,
        _: u32,
        status: &PlanStepStatus,
    ) -> Result<(), HookError> {
        self.note(context, &format!("OnPlanStepComplete {status:?}"));
        Ok(())
    }
}

pub(crate) fn hooks(list: impl IntoIterator<Item = NotingHook>) -> Arc<HookRegistry> {
    let list = list.into_iter().map(|hook| Arc::new(hook) as Arc<dyn Hook>);
    Arc::new(HookRegistry::new(HookChain::in_this_order(list)))
}

/// A builder around a script, with two tools and no hooks; failed calls are made again at once.
pub(crate) fn builder(model: &ScriptedModel, notes: &Arc<Notes>) -> AgentBuilder {
    let retry = RetryPolicy { base_delay: Duration::ZERO, ..RetryPolicy::default() };
    AgentBuilder::new()
        .provider(Arc::new(model.clone()))
        .tool_registry(tools(&["add", "drop"], notes))
        .hook_executor(Arc::default())
        .retry(retry)
}

pub(crate) fn session(builder: AgentBuilder) -> AgentSession {
    AgentSession::new("s1", Role::named("clerk", "be kind"), Arc::new(builder.build().unwrap()))
}

/// Waits until something is so.
pub(crate) async fn until(is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), waiting).await.unwrap();
}

/// Who said what in a request, as `role text`; the calls of an answer stand there as `+name`.
pub(crate) fn said(messages: &[Arc<Message>]) -> Vec<String> {
    let line = |message: &Arc<Message>| {
        let calls = match message.as_ref() {
            Message::Assistant(answer) => {
                answer.tool_calls().map(|call| format!(" +{}", call.name)).collect::<String>()
            }
            _ => String::new(),
        };
        format!("{} {}{calls}", message.role(), message.text())
    };
    messages.iter().map(line).collect()
}

/// What the model was sent, request by request.
pub(crate) fn sent(model: &ScriptedModel) -> Vec<Vec<String>> {
    model.requests().iter().map(|request| said(&request.messages)).collect()
}

pub(crate) fn usage(input: u64, output: u64) -> Usage {
    Usage { input, output, total_tokens: input + output, ..Usage::default() }
}

pub(crate) fn text(text: &str) -> Answer {
    Answer::text(text).with_usage(usage(10, 5))
}

pub(crate) fn call(name: &str) -> Answer {
    Answer::call(name, json!({"n": 1})).with_usage(usage(10, 5))
}
