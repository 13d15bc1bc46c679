//! The answer under construction.
//!
//! Decoders say what happened; the draft numbers the pieces, keeps the message and the events in step by folding every
//! event into the message with the function that subscribers use, and closes what a server forgot to close.

use crate::arguments;
use capstan_ports::{AssistantEvent, AssistantMessage, Content, ModelInfo, StopReason, Usage};
use std::collections::{HashSet, VecDeque};

/// An answer and the events that led to it.
pub(crate) struct Draft {
    message: AssistantMessage,
    pieces: Vec<Piece>,
    call_ids: HashSet<String>,
    updates: VecDeque<AssistantEvent>,
}

enum Piece {
    Text,
    Thinking { signature: Option<String>, redacted: bool },
    Call { id: String, name: String, text: String },
    Closed,
}

impl Draft {
    pub(crate) fn new(info: &ModelInfo) -> Self {
        Self {
            message: AssistantMessage {
                api: info.api.clone(),
                provider: info.provider.clone(),
                model: info.id.clone(),
                timestamp: capstan_ports::message::now_ms(),
                ..AssistantMessage::default()
            },
            pieces: Vec::new(),
            call_ids: HashSet::new(),
            updates: VecDeque::new(),
        }
    }

    /// Events that were not handed out yet, oldest first.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = AssistantEvent> {
        self.updates.drain(..)
    }

    pub(crate) fn usage(&mut self) -> &mut Usage {
        &mut self.message.usage
    }

    pub(crate) fn open_text(&mut self) -> usize {
        let content_index = self.pieces.len();
        self.open(Piece::Text, AssistantEvent::TextStart { content_index })
    }

    pub(crate) fn open_thinking(&mut self) -> usize {
        let content_index = self.pieces.len();
        self.open(
            Piece::Thinking { signature: None, redacted: false },
            AssistantEvent::ThinkingStart { content_index },
        )
    }

    /// A piece of encrypted thinking, complete at once.
    pub(crate) fn add_redacted_thinking(&mut self, data: &str) {
        let content_index = self.pieces.len();
        self.open(
            Piece::Thinking { signature: Some(data.to_owned()), redacted: true },
            AssistantEvent::ThinkingStart { content_index },
        );
        self.close(content_index);
    }

    /// A tool call. An id that is missing or taken is replaced: results are matched to calls by id.
    pub(crate) fn open_call(&mut self, id: &str, name: &str) -> usize {
        let id = if id.is_empty() || self.call_ids.contains(id) {
            format!("call_{}", uuid::Uuid::new_v4().simple())
        } else {
            id.to_owned()
        };
        self.call_ids.insert(id.clone());
        let content_index = self.pieces.len();
        let piece = Piece::Call { id: id.clone(), name: name.to_owned(), text: String::new() };
        self.open(piece, AssistantEvent::ToolCallStart { content_index, id, name: name.to_owned() })
    }

    fn open(&mut self, piece: Piece, event: AssistantEvent) -> usize {
        self.pieces.push(piece);
        self.push(event);
        self.pieces.len() - 1
    }

    /// Adds to an open piece. What comes for a closed or unknown piece is dropped.
    pub(crate) fn append(&mut self, content_index: usize, delta: &str) {
        if delta.is_empty() {
            return;
        }
        let delta = delta.to_owned();
        let event = match self.pieces.get_mut(content_index) {
            Some(Piece::Text) => AssistantEvent::TextDelta { content_index, delta },
            Some(Piece::Thinking { .. }) => AssistantEvent::ThinkingDelta { content_index, delta },
            Some(Piece::Call { text, .. }) => {
                text.push_str(&delta);
                AssistantEvent::ToolCallDelta { content_index, delta }
            }
            Some(Piece::Closed) | None => return,
        };
        self.push(event);
    }

    /// Adds to the signature of an open thinking piece.
    pub(crate) fn sign(&mut self, content_index: usize, delta: &str) {
        if let Some(Piece::Thinking { signature, .. }) = self.pieces.get_mut(content_index) {
            signature.get_or_insert_default().push_str(delta);
        }
    }

    /// Completes a piece; harmless for one that is complete.
    pub(crate) fn close(&mut self, content_index: usize) {
        let Some(piece) = self.pieces.get_mut(content_index) else { return };
        let event = match std::mem::replace(piece, Piece::Closed) {
            Piece::Text => AssistantEvent::TextEnd { content_index, content: self.written(content_index) },
            Piece::Thinking { signature, redacted } => {
                let content = self.written(content_index);
                AssistantEvent::ThinkingEnd { content_index, content, signature, redacted }
            }
            Piece::Call { id, name, text } => {
                AssistantEvent::ToolCallEnd { content_index, tool_call: arguments::finish(id, name, &text) }
            }
            Piece::Closed => return,
        };
        self.push(event);
    }

    fn written(&self, content_index: usize) -> String {
        match self.message.content.get(content_index) {
            Some(Content::Text { text }) => text.clone(),
            Some(Content::Thinking { thinking, .. }) => thinking.clone(),
            Some(Content::Image { .. } | Content::ToolCall(_)) | None => String::new(),
        }
    }

    fn push(&mut self, event: AssistantEvent) {
        self.message.apply(&event);
        self.updates.push_back(event);
    }

    /// Whether any tool call was begun.
    pub(crate) fn has_calls(&self) -> bool {
        !self.call_ids.is_empty()
    }

    /// Completes every piece and the message. The last updates still have to be drained.
    pub(crate) fn finish(&mut self, stop_reason: StopReason) -> AssistantMessage {
        for content_index in 0..self.pieces.len() {
            self.close(content_index);
        }
        self.message.stop_reason = stop_reason;
        self.message.clone()
    }
}
