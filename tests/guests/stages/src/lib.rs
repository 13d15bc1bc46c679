//! Takes part in every stage that is not about a tool call's verdict. Words in the user's message say what to do, so that
//! one component serves all tests of the stages.

use capstan_sdk::prelude::*;
use capstan_sdk::types::{Content, Failure, ModelResponse};
use capstan_sdk::{AfterModel, BeforeModel, BeforeTurn, Power, SessionEvent, StepStatus};

/// What the model may not say.
const SECRET: &str = "hunter2";

fn before_turn(input: Message, _context: &Context) -> BeforeTurn {
    let text = input.text();
    if text.contains("[refuse]") {
        return BeforeTurn::Abort("this turn is not wanted".to_owned());
    }
    assert!(!text.contains("[trap]"), "asked to trap");
    if text.contains("[keep]") {
        return BeforeTurn::Proceed;
    }
    BeforeTurn::Rewrite(Message::user(format!("{text} (seen before the turn)")))
}

fn before_model(mut messages: Vec<Message>, context: &Context) -> BeforeModel {
    if messages.iter().any(|message| message.text().contains("[orphan]")) {
        // A result without its call: the host must not send this.
        messages.retain(|message| message.tool_calls.is_empty());
        return BeforeModel::Rewrite(messages);
    }
    if messages.iter().any(|message| message.text().contains("[keep]")) {
        return BeforeModel::Proceed;
    }
    messages.push(Message::user(format!("(added for round {})", context.round)));
    BeforeModel::Rewrite(messages)
}

fn after_model(mut response: ModelResponse, _context: &Context) -> AfterModel {
    let mut found = false;
    for piece in &mut response.message.content {
        if let Content::Text(text) = piece
            && text.contains(SECRET)
        {
            *text = text.replace(SECRET, "[redacted]");
            found = true;
        }
    }
    if found { AfterModel::Rewrite(response) } else { AfterModel::Proceed }
}

fn model_error(failure: &Failure, _context: &Context) {
    log::info!("model-error: {}", failure.message);
}

fn tool_error(call: &ToolCall, failure: &Failure, _context: &Context) {
    log::info!("tool-error: {}: {}", call.name, failure.message);
}

fn after_turn(answer: &Message, results: &[ToolResult], _context: &Context) {
    log::info!("after-turn: {} after {} results", answer.text(), results.len());
}

fn turn_error(failure: &Failure, _context: &Context) {
    log::info!("turn-error: {}", failure.message);
}

fn plan_step(step: u32, status: &StepStatus, _context: &Context) {
    log::info!("plan-step: {step} {status:?}");
}

fn session_lifecycle(session: &str, event: SessionEvent) {
    log::info!("session-lifecycle: {session} {event:?}");
}

capstan_sdk::extension! {
    summary: "Takes part in every stage of a turn.",
    requests: [Request::power(Power::RewriteContext, "It rewrites what is said, to be seen doing it.")],
    before_turn: hook(before_turn),
    before_model: hook(before_model),
    after_model: hook(after_model),
    model_error: hook(model_error),
    tool_error: hook(tool_error),
    after_turn: hook(after_turn),
    turn_error: hook(turn_error),
    plan_step: hook(plan_step),
    session_lifecycle: hook(session_lifecycle),
}
