//! What an entry says to people: who speaks, and what in which form. Every way of showing a session begins here, so that
//! none of them leaves something out that another shows.

use capstan_ports::entry::{BashExecution, Entry, EntryKind, MessageBody, MessageEntry};
use capstan_ports::{Content, Message, StopReason, ToolCall};
use std::borrow::Cow;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    User,
    Assistant,
    Tool,
    FailedTool,
    /// An extension, or the program around the agent.
    Extension,
    /// A command that the user ran beside the conversation.
    Shell,
    /// A summary in the place of what it stands for.
    Summary,
    /// A change of settings, or something that this version does not know.
    Note,
}

impl Who {
    /// One word for style sheets.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::FailedTool => "failed",
            Self::Extension => "extension",
            Self::Shell => "shell",
            Self::Summary => "summary",
            Self::Note => "note",
        }
    }
}

/// One piece of what is said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece<'e> {
    /// Text as people write it, line by line.
    Plain(Cow<'e, str>),
    /// Markdown.
    Prose(&'e str),
    /// Reasoning that the model showed.
    Thinking(&'e str),
    /// A picture, as Base64.
    Image { data: &'e str, mime_type: &'e str },
    /// A tool call and its arguments.
    Call { name: &'e str, arguments: String },
    /// What a tool or command printed.
    Output(Cow<'e, str>),
    /// A remark of this program.
    Remark(String),
}

/// What one entry says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Speech<'e> {
    pub(crate) who: Who,
    /// The speaker in words.
    pub(crate) title: Cow<'e, str>,
    pub(crate) pieces: Vec<Piece<'e>>,
}

/// What an entry says. `None` for what is no part of the conversation: private records, bookmarks, the session's name.
pub(crate) fn of(entry: &Entry) -> Option<Speech<'_>> {
    let speech = |who, title: Cow<'static, str>, pieces| Some(Speech { who, title, pieces });
    match &entry.kind {
        EntryKind::Message(MessageEntry { message: MessageBody::Known(message) }) => {
            Some(of_message(message))
        }
        EntryKind::Message(MessageEntry { message: MessageBody::Bash(bash) }) => Some(of_bash(bash)),
        EntryKind::Message(MessageEntry { message: MessageBody::Other(value) }) => {
            let role = value.get("role").and_then(serde_json::Value::as_str).unwrap_or("no role");
            let title = format!("message of an unknown kind ({role})").into();
            speech(Who::Note, title, vec![Piece::Output(pretty(value).into())])
        }
        EntryKind::CustomMessage(custom) => {
            let pieces = match &custom.content {
                capstan_ports::entry::TextOrPieces::Text(text) => vec![Piece::Prose(text)],
                capstan_ports::entry::TextOrPieces::Pieces(pieces) => content(pieces, Piece::Prose),
            };
            Some(Speech { who: Who::Extension, title: custom.custom_type.as_str().into(), pieces })
        }
        EntryKind::ModelChange(change) => {
            let title = format!("model: {}/{}", change.provider, change.model_id).into();
            speech(Who::Note, title, vec![])
        }
        EntryKind::ThinkingLevelChange(change) => {
            speech(Who::Note, format!("thinking: {}", change.thinking_level).into(), vec![])
        }
        EntryKind::Compaction(compaction) => {
            let mut pieces = vec![Piece::Prose(&compaction.summary)];
            if compaction.messages.is_some() {
                pieces.push(Piece::Remark("The model was told this by an extension's own messages.".into()));
            }
            let title = format!("summary of what was said before ({} tokens)", compaction.tokens_before);
            speech(Who::Summary, title.into(), pieces)
        }
        EntryKind::BranchSummary(branch) => speech(
            Who::Summary,
            "summary of a branch that was left".into(),
            vec![Piece::Prose(&branch.summary)],
        ),
        EntryKind::Unknown(value) => {
            let title = format!("entry of an unknown kind ({})", entry.kind.type_name()).into();
            speech(Who::Note, title, vec![Piece::Output(pretty(value).into())])
        }
        EntryKind::Custom(_) | EntryKind::Label(_) | EntryKind::SessionInfo(_) => None,
    }
}

fn of_message(message: &Message) -> Speech<'_> {
    match message {
        Message::User(user) => Speech {
            who: Who::User,
            title: "user".into(),
            pieces: content(&user.content, |text| Piece::Plain(text.into())),
        },
        Message::Assistant(answer) => {
            let mut pieces = content(&answer.content, Piece::Prose);
            let ended = match answer.stop_reason {
                StopReason::Stop | StopReason::ToolUse => None,
                StopReason::Length => Some("It ran into the limit of its length."),
                StopReason::Error => Some("The request failed"),
                StopReason::Aborted => Some("It was stopped"),
            };
            if let Some(ended) = ended {
                pieces.push(Piece::Remark(match &answer.error_message {
                    Some(reason) => format!("{ended}: {reason}"),
                    None => ended.trim_end_matches('.').to_owned() + ".",
                }));
            }
            let title: Cow<'_, str> = match answer.model.as_str() {
                "" => "assistant".into(),
                model => format!("assistant ({model})").into(),
            };
            Speech { who: Who::Assistant, title, pieces }
        }
        Message::ToolResult(result) => Speech {
            who: if result.is_error { Who::FailedTool } else { Who::Tool },
            title: match result.is_error {
                true => format!("{} failed", result.tool_name).into(),
                false => result.tool_name.as_str().into(),
            },
            pieces: content(&result.content, |text| Piece::Output(text.into())),
        },
        Message::Custom(custom) => Speech {
            who: Who::Extension,
            title: custom.custom_type.as_str().into(),
            pieces: content(&custom.content, Piece::Prose),
        },
    }
}

fn of_bash(bash: &BashExecution) -> Speech<'_> {
    let mut pieces = vec![Piece::Call { name: "$", arguments: bash.command.clone() }];
    if !bash.output.is_empty() {
        pieces.push(Piece::Output(bash.output.as_str().into()));
    }
    let mut remark = |text: String| pieces.push(Piece::Remark(text));
    match bash.exit_code {
        _ if bash.cancelled => remark("It was stopped.".into()),
        Some(0) | None => {}
        Some(code) => remark(format!("It ended with exit code {code}.")),
    }
    match (bash.truncated, &bash.full_output_path) {
        (false, _) => {}
        (true, Some(path)) => remark(format!("This is not all that it printed; the rest is in {path}")),
        (true, None) => remark("This is not all that it printed.".into()),
    }
    if bash.exclude_from_context {
        remark("The model was not told.".into());
    }
    Speech { who: Who::Shell, title: "command of the user".into(), pieces }
}

fn content<'e>(pieces: &'e [Content], text_as: impl Fn(&'e str) -> Piece<'e>) -> Vec<Piece<'e>> {
    let shown = |piece: &'e Content| match piece {
        Content::Text { text } => Some(text_as(text)),
        Content::Thinking { redacted: true, .. } => {
            Some(Piece::Remark("The provider keeps this reasoning to itself.".into()))
        }
        Content::Thinking { thinking, .. } => (!thinking.is_empty()).then_some(Piece::Thinking(thinking)),
        Content::Image { data, mime_type } => Some(Piece::Image { data, mime_type }),
        Content::ToolCall(call) => Some(Piece::Call { name: &call.name, arguments: arguments(call) }),
    };
    pieces.iter().filter_map(shown).collect()
}

fn arguments(call: &ToolCall) -> String {
    /// Longer ones are easier to read over several lines.
    const MAX_LINE_CHARS: usize = 100;
    if let Some(text) = &call.malformed {
        return format!("{text}\n(no complete arguments; the call was not executed)");
    }
    let on_one_line = call.arguments.to_string();
    if on_one_line.chars().count() <= MAX_LINE_CHARS { on_one_line } else { pretty(&call.arguments) }
}

fn pretty(value: &serde_json::Value) -> String {
    format!("{value:#}")
}

/// Who speaks, and how what is said begins, for one line.
pub(crate) fn in_short(entry: &Entry) -> (String, String) {
    match &entry.kind {
        EntryKind::Custom(custom) => return ("record".into(), custom.custom_type.clone()),
        EntryKind::Label(label) => {
            let text = label.label.as_deref().unwrap_or("(removed)");
            return ("label".into(), format!("{text} on {}", label.target_id));
        }
        EntryKind::SessionInfo(info) => {
            return ("name".into(), info.name.clone().unwrap_or_else(|| "(removed)".into()));
        }
        _ => {}
    }
    let Some(speech) = of(entry) else { return (entry.kind.type_name().to_owned(), String::new()) };
    let is_remark = |piece: &&Piece<'_>| matches!(piece, Piece::Remark(_));
    let said = speech.pieces.iter().filter(|piece| !is_remark(piece));
    let text = said.chain(speech.pieces.iter().filter(is_remark)).find_map(in_one_line).unwrap_or_default();
    let who = if speech.who == Who::Assistant { "assistant".into() } else { speech.title };
    (who.into_owned(), text)
}

/// The beginning of a piece, if it has one to show.
fn in_one_line(piece: &Piece<'_>) -> Option<String> {
    /// More than any line shows; the rest of a long output need not be copied.
    const MAX_CHARS: usize = 200;
    let begin = |text: &str| text.trim_start().chars().take(MAX_CHARS).collect::<String>();
    let text = match piece {
        Piece::Plain(text) | Piece::Output(text) => begin(text),
        Piece::Prose(text) => begin(text),
        Piece::Thinking(_) => String::new(),
        Piece::Image { mime_type, .. } => format!("({mime_type})"),
        Piece::Call { name, arguments } => {
            let on_one_line: String = arguments.split_whitespace().collect::<Vec<_>>().join(" ");
            format!("{name} {}", begin(&on_one_line))
        }
        Piece::Remark(text) => begin(text),
    };
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
#[path = "speech_tests.rs"]
mod tests;
