//! One hook of an extension, asked by hand: its question and its verdict as JSON.

use super::trial::{Failure, turn};
use anyhow::{Context, Result, bail};
use capstan_engine::Extension;
use capstan_ports::hook::{HookContext, HookError, PlanStepStatus, SessionLifecycle, Verdict};
use capstan_ports::message::{AssistantMessage, Content, Message, ToolCall};
use capstan_ports::{Amendment, FailureKind, GateVerdict, Hook, HookStage, ToolOutcome};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What a hook is asked about. Each stage reads the fields that it needs.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Question {
    /// Around a tool call: the tool's name.
    tool: String,
    /// Around a tool call: the arguments.
    arguments: Map<String, Value>,
    /// After a tool call: the result's text, or all of it.
    result: Option<Said>,
    /// Before and after a turn, after a model call: the message's text, or all of it in the form of session files.
    message: Option<Value>,
    /// Before a model call: the messages, each as text or whole.
    messages: Vec<Value>,
    /// At the stages that tell of a failure.
    failure: String,
    /// At `session-lifecycle`: `start`, `resume`, `switched`, `compacted` or `end`.
    event: Option<SessionLifecycle>,
    /// At `plan-step`: its number; it is told as completed with the text of `message`.
    step: u32,
}

/// A result as text or as fields.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Said {
    Text(String),
    Whole(ToolOutcome),
}

/// The stage of this name.
pub(super) fn stage(name: &str) -> Result<HookStage> {
    serde_json::from_value(json!(name)).with_context(|| format!("`{name}` is no stage of a turn"))
}

/// Asks the extension's hook. A hook that fails gives a [`Failure`].
///
/// # Errors
/// When the extension has no hook at this stage, or the question lacks what the stage is about.
pub(super) async fn ask(
    extension: &Extension,
    stage: HookStage,
    question: Question,
    cancel: &CancellationToken,
) -> Result<Result<Value, Failure>> {
    let hook = extension.hook().filter(|hook| hook.handles(stage, None));
    let hook = hook.with_context(|| {
        let stages: Vec<_> =
            extension.descriptor().hooks.iter().map(|hook| super::show::stage_name(&hook.stage)).collect();
        let has = if stages.is_empty() { "no hooks at all".to_owned() } else { stages.join(", ") };
        format!("{} has no hook {}; it has {has}", extension.id(), super::show::stage_name(&stage))
    })?;
    let is_about_tool =
        matches!(stage, HookStage::BeforeToolCall | HookStage::AfterToolCall | HookStage::ToolError);
    if is_about_tool && question.tool.is_empty() {
        bail!("the question lacks `tool`, the name of the called tool");
    }
    if is_about_tool && !hook.handles(stage, Some(&question.tool)) {
        return Ok(Ok(json!({"verdict": "not-asked"})));
    }
    let context = HookContext::new(turn(), cancel.clone());
    let answer = answer(hook.as_ref(), stage, &context, question).await?;
    // A hook that only watches, or whose failure changes nothing, does not answer with it.
    Ok(match (answer, hook.switched_off(stage)) {
        (_, Some(reason)) => Err(Failure(reason.to_owned())),
        (Ok(value), None) => Ok(value),
        (Err(HookError::Aborted { reason }), None) => Ok(json!({"verdict": "abort", "reason": reason})),
        (Err(error), None) => Err(Failure(error.to_string())),
    })
}

async fn answer(
    hook: &dyn Hook,
    stage: HookStage,
    context: &HookContext,
    question: Question,
) -> Result<Result<Value, HookError>> {
    let call = ToolCall {
        id: "trial".to_owned(),
        name: question.tool,
        arguments: Value::Object(question.arguments),
        malformed: None,
    };
    let failure = |kind| capstan_ports::Failure::new(kind, question.failure.clone());
    let told = |told: Result<(), HookError>| told.map(|()| json!({"verdict": "told"}));
    Ok(match stage {
        HookStage::BeforeToolCall => hook.before_tool_call(context, &call).await.map(gate),
        HookStage::AfterToolCall => {
            let outcome = match question.result.context("the question lacks `result`")? {
                Said::Text(text) => ToolOutcome::text(text),
                Said::Whole(outcome) => outcome,
            };
            hook.after_tool_call(context, &call, &outcome).await.map(amendment)
        }
        HookStage::ToolError => told(hook.tool_error(context, &call, &failure(FailureKind::Tool)).await),
        HookStage::BeforeTurn => {
            let input = message(question.message.context("the question lacks `message`")?)?;
            hook.before_turn(context, &input).await.map(|verdict| rewriter(verdict, "message"))
        }
        HookStage::BeforeModel => {
            let messages = question.messages.into_iter().map(|value| message(value).map(Arc::new));
            let messages = messages.collect::<Result<Vec<_>>>()?;
            let verdict = hook.before_model(context, &messages).await;
            verdict.map(|verdict| rewriter(verdict, "messages"))
        }
        HookStage::AfterModel => {
            let answer = assistant(question.message.context("the question lacks `message`")?)?;
            hook.after_model(context, &answer).await.map(|verdict| rewriter(verdict, "message"))
        }
        HookStage::ModelError => told(hook.model_error(context, &failure(FailureKind::Model)).await),
        HookStage::TurnError => told(hook.turn_error(context, &failure(FailureKind::Other)).await),
        HookStage::AfterTurn => {
            let answer = assistant(question.message.context("the question lacks `message`")?)?;
            told(hook.after_turn(context, &Message::Assistant(answer), &[]).await)
        }
        HookStage::PlanStep => {
            let text = question.message.as_ref().and_then(Value::as_str).unwrap_or_default();
            let status = PlanStepStatus::Completed(text.to_owned());
            told(hook.plan_step(context, question.step, &status).await)
        }
        HookStage::SessionLifecycle => {
            let event = question.event.context("the question lacks `event`")?;
            told(hook.session_lifecycle(&context.turn.session_id, event).await)
        }
    })
}

/// A message by hand: a text is a person's, and what can be left out of one with a role is what nobody wants to write each time.
pub(super) fn message(mut value: Value) -> Result<Message> {
    if let Value::String(text) = value {
        return Ok(Message::user(text));
    }
    if let Some(fields) = value.as_object_mut() {
        if let Some(Value::String(text)) = fields.get("content") {
            let piece = json!([{"type": "text", "text": text}]);
            fields.insert("content".to_owned(), piece);
        }
        match fields.get("role").and_then(Value::as_str) {
            Some("assistant") => {
                let pieces = fields.get("content").and_then(Value::as_array);
                let calls = pieces.is_some_and(|all| all.iter().any(|piece| piece["type"] == "toolCall"));
                fields.entry("stopReason").or_insert_with(|| json!(if calls { "toolUse" } else { "stop" }));
            }
            Some("toolResult") => {
                fields.entry("isError").or_insert(Value::Bool(false));
            }
            Some("custom") => {
                fields.entry("display").or_insert(Value::Bool(true));
            }
            _ => {}
        }
    }
    serde_json::from_value(value).context("a message is a text, or has `role` and `content`")
}

/// A text is a model's whole answer.
fn assistant(value: Value) -> Result<AssistantMessage> {
    match value {
        Value::String(text) => {
            Ok(AssistantMessage { content: vec![Content::text(text)], ..AssistantMessage::default() })
        }
        value => match message(value)? {
            Message::Assistant(answer) => Ok(answer),
            other => bail!("this stage is about an assistant's message, not a {}", other.role()),
        },
    }
}

fn gate(verdict: GateVerdict) -> Value {
    match verdict {
        GateVerdict::Pass => json!({"verdict": "pass"}),
        GateVerdict::Rewrite(arguments) => json!({"verdict": "rewrite", "arguments": arguments}),
        GateVerdict::Block(reason) => json!({"verdict": "block", "reason": reason}),
        GateVerdict::Defer(reason) => json!({"verdict": "defer", "reason": reason}),
        GateVerdict::Ask(question) => json!({"verdict": "ask", "reason": question}),
        // Only native hooks answer so; a component asks or rewrites.
        GateVerdict::RewriteAndAsk { arguments, question } => {
            json!({"verdict": "rewrite-and-ask", "arguments": arguments, "reason": question})
        }
    }
}

fn rewriter(verdict: Verdict<impl serde::Serialize>, field: &str) -> Value {
    match verdict {
        Verdict::Proceed => json!({"verdict": "proceed"}),
        Verdict::Rewrite(rewritten) => json!({"verdict": "rewrite", field: rewritten}),
        Verdict::Abort(reason) => json!({"verdict": "abort", "reason": reason}),
    }
}

fn amendment(amendment: Option<Amendment>) -> Value {
    let Some(Amendment { content, details, is_error, terminate }) = amendment else {
        return json!({"verdict": "proceed"});
    };
    let mut value = json!({"verdict": "amend"});
    let fields = [
        ("content", content.map(|content| json!(content))),
        ("details", details),
        ("isError", is_error.map(Value::Bool)),
        ("terminate", terminate.then_some(Value::Bool(true))),
    ];
    for (name, field) in fields {
        if let Some(field) = field {
            value[name] = field;
        }
    }
    value
}

#[cfg(test)]
#[path = "asked_tests.rs"]
mod tests;
