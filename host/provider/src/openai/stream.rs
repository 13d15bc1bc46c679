//! Chat completion chunks as events of an answer.
//!
//! Read leniently, as plain JSON: the servers that speak this format differ in what they leave out, repeat or set to
//! null.

use crate::counts::count;
use crate::draft::Draft;
use crate::exchange::{Decoder, Flaw, Progress};
use crate::failure::Report;
use capstan_ports::{ModelInfo, StopReason, Usage};
use serde_json::Value;

/// Where servers put reasoning; not in OpenAI's own definition.
pub(super) const THINKING_FIELDS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];

pub(super) struct OpenAiDecoder {
    draft: Draft,
    text: Option<usize>,
    thinking: Option<usize>,
    slots: Vec<Slot>,
    finish_reason: Option<String>,
}

/// A tool call that is being written.
struct Slot {
    index: Option<u64>,
    id: String,
    /// `None` until the name has come.
    piece: Option<usize>,
    /// Arguments that came before the name.
    early: String,
}

impl OpenAiDecoder {
    pub(super) fn new(info: &ModelInfo) -> Self {
        Self { draft: Draft::new(info), text: None, thinking: None, slots: Vec::new(), finish_reason: None }
    }

    fn think(&mut self, field: &str, delta: &str) {
        self.close_text();
        let piece = *self.thinking.get_or_insert_with(|| {
            let piece = self.draft.open_thinking();
            self.draft.sign(piece, field);
            piece
        });
        self.draft.append(piece, delta);
    }

    fn write(&mut self, delta: &str) {
        self.close_thinking();
        let piece = *self.text.get_or_insert_with(|| self.draft.open_text());
        self.draft.append(piece, delta);
    }

    fn close_text(&mut self) {
        if let Some(piece) = self.text.take() {
            self.draft.close(piece);
        }
    }

    fn close_thinking(&mut self) {
        if let Some(piece) = self.thinking.take() {
            self.draft.close(piece);
        }
    }

    fn call(&mut self, delta: &Value) {
        let function = &delta["function"];
        let id = delta["id"].as_str().unwrap_or_default();
        let name = function["name"].as_str().unwrap_or_default();
        let position = self.slot(delta["index"].as_u64(), id, name);
        if self.slots[position].piece.is_none() && !name.is_empty() {
            self.close_text();
            self.close_thinking();
            let piece = self.draft.open_call(&self.slots[position].id, name);
            self.slots[position].piece = Some(piece);
            let early = std::mem::take(&mut self.slots[position].early);
            self.draft.append(piece, &early);
        }
        let arguments = match &function["arguments"] {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            // Some servers send the finished object.
            other => other.to_string(),
        };
        match self.slots[position].piece {
            Some(piece) => self.draft.append(piece, &arguments),
            None => self.slots[position].early.push_str(&arguments),
        }
    }

    /// The slot that a delta belongs to. Without an index it is the latest, unless the delta clearly begins a new call;
    /// and a new id with a name under a used index is a new call, too, as some servers give every call the index 0.
    fn slot(&mut self, index: Option<u64>, id: &str, name: &str) -> usize {
        let found = match index {
            Some(_) => self.slots.iter().rposition(|slot| slot.index == index),
            None => self.slots.len().checked_sub(1),
        };
        if let Some(position) = found {
            let slot = &mut self.slots[position];
            let begins_another = !id.is_empty() && !name.is_empty() && !slot.id.is_empty() && slot.id != id;
            let unmarked_another =
                index.is_none() && id.is_empty() && !name.is_empty() && slot.piece.is_some();
            if !begins_another && !unmarked_another {
                if slot.id.is_empty() {
                    id.clone_into(&mut slot.id);
                }
                return position;
            }
        }
        self.slots.push(Slot { index, id: id.to_owned(), piece: None, early: String::new() });
        self.slots.len() - 1
    }

    fn count_usage(&mut self, usage: &Value) {
        if !usage.is_object() {
            return;
        }
        let prompt = count(&usage["prompt_tokens"]);
        let cached = count(&usage["prompt_tokens_details"]["cached_tokens"])
            .max(count(&usage["prompt_cache_hit_tokens"]))
            .min(prompt);
        let output = count(&usage["completion_tokens"]);
        *self.draft.usage() = Usage {
            input: prompt - cached,
            output,
            cache_read: cached,
            cache_write: 0,
            total_tokens: count(&usage["total_tokens"]).max(prompt.saturating_add(output)),
            ..Usage::default()
        };
    }
}

impl Decoder for OpenAiDecoder {
    fn event(&mut self, event: &Value) -> Result<Progress, Flaw> {
        if let Some(report) = Report::from_json(event) {
            return Err(Flaw::Reported(report));
        }
        self.count_usage(&event["usage"]);
        let choice = &event["choices"][0];
        self.count_usage(&choice["usage"]);
        let delta = &choice["delta"];
        let first_text = |fields: &[&'static str]| {
            fields.iter().find_map(|field| match delta[*field].as_str() {
                Some(text) if !text.is_empty() => Some((*field, text)),
                Some(_) | None => None,
            })
        };
        if let Some((field, text)) = first_text(&THINKING_FIELDS) {
            self.think(field, text);
        }
        if let Some((_, text)) = first_text(&["content", "refusal"]) {
            self.write(text);
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            self.call(call);
        }
        match choice["finish_reason"].as_str() {
            None | Some("") => Ok(Progress::More),
            Some("content_filter") => {
                Err(Flaw::Withheld("the provider's content filter stopped the answer".to_owned()))
            }
            Some(reason @ ("error" | "network_error")) => Err(Flaw::Reported(Report {
                status: Some(502),
                code: reason.to_owned(),
                message: "the server stopped the answer because of an error of its own".to_owned(),
            })),
            Some(reason) => {
                self.finish_reason = Some(reason.to_owned());
                Ok(Progress::Stopped)
            }
        }
    }

    fn draft(&mut self) -> &mut Draft {
        &mut self.draft
    }

    /// Whether there are calls decides, not the word: several servers say `stop` after calls.
    fn stop_reason(&self) -> StopReason {
        match self.finish_reason.as_deref() {
            Some("length" | "max_tokens") => StopReason::Length,
            _ if self.draft.has_calls() => StopReason::ToolUse,
            _ => StopReason::Stop,
        }
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
