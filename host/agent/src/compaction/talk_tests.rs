//! Conversations for the tests of compaction.

use crate::compaction::CompactionSettings;
use crate::config::AgentLoopConfig;
use crate::scripted_tests::{ScriptedModel, assistant, call, config, user};
use capstan_ports::{
    Content, Message, StopReason, ToolCall, ToolOutcome, ToolResultMessage, build_tool_result_message,
};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;

/// So many tokens of text that begins with `mark`.
pub(crate) fn text(mark: &str, tokens: usize) -> String {
    let mut text = mark.to_owned();
    text.extend(std::iter::repeat_n('x', (4 * tokens).saturating_sub(mark.len())));
    text
}

pub(crate) fn asks(mark: &str, tokens: usize) -> Arc<Message> {
    user(&text(mark, tokens))
}

pub(crate) fn answers(mark: &str, tokens: usize) -> Arc<Message> {
    Arc::new(assistant(vec![Content::text(text(mark, tokens))], StopReason::Stop).into())
}

pub(crate) fn wants(calls: impl IntoIterator<Item = ToolCall>) -> Arc<Message> {
    let content = calls.into_iter().map(Content::ToolCall).collect();
    Arc::new(assistant(content, StopReason::ToolUse).into())
}

pub(crate) fn result(id: &str, text: String) -> Arc<Message> {
    Arc::new(build_tool_result_message(&call(id, "work", json!({})), &ToolOutcome::text(text)))
}

/// A call and its result of so many tokens.
pub(crate) fn round(id: &str, tokens: usize) -> [Arc<Message>; 2] {
    [wants([call(id, "work", json!({}))]), result(id, text(id, tokens))]
}

pub(crate) fn calling(id: &str, name: &str, arguments: Value) -> [Arc<Message>; 2] {
    [wants([call(id, name, arguments)]), result(id, "ok".into())]
}

/// Small numbers: a window of 2000 tokens, 200 of them reserved, and 100 kept.
pub(crate) fn small(model: &Arc<ScriptedModel>) -> AgentLoopConfig {
    let mut config = config(model);
    config.context_window = Some(2000);
    config.compaction = SMALL;
    config
}

pub(crate) const SMALL: CompactionSettings =
    CompactionSettings { enabled: true, reserve_tokens: 200, keep_recent_tokens: 100 };

/// Each call has one result after it and each result its call before it.
pub(crate) fn assert_paired(messages: &[Arc<Message>]) {
    let mut open: HashSet<String> = HashSet::new();
    for message in messages {
        match message.as_ref() {
            Message::Assistant(answer) => {
                assert!(open.is_empty(), "calls without results: {open:?}");
                open = answer.tool_calls().map(|call| call.id.clone()).collect();
            }
            Message::ToolResult(ToolResultMessage { tool_call_id, .. }) => {
                assert!(open.remove(tool_call_id), "a result without a call: {tool_call_id}");
            }
            Message::User(_) | Message::Custom(_) => {
                assert!(open.is_empty(), "calls without results: {open:?}");
            }
        }
    }
    assert!(open.is_empty(), "calls without results: {open:?}");
}
