//! Messages stream events as events of an answer.

use crate::counts::count;
use crate::draft::Draft;
use crate::exchange::{Decoder, Flaw, Progress};
use crate::failure::Report;
use capstan_ports::{ModelInfo, StopReason};
use serde_json::Value;

pub(super) struct AnthropicDecoder {
    draft: Draft,
    blocks: Vec<Block>,
    stop_reason: Option<String>,
}

struct Block {
    index: Option<u64>,
    piece: usize,
    /// The arguments that came with the start of a call; they count if no delta follows.
    input: Option<String>,
}

impl AnthropicDecoder {
    pub(super) fn new(info: &ModelInfo) -> Self {
        Self { draft: Draft::new(info), blocks: Vec::new(), stop_reason: None }
    }

    /// Blocks of unknown type are not opened, so that their deltas find nothing and are dropped.
    fn start_block(&mut self, event: &Value) {
        let block = &event["content_block"];
        let text = |name: &str| block[name].as_str().unwrap_or_default();
        let mut input = None;
        let piece = match text("type") {
            "text" => {
                let piece = self.draft.open_text();
                self.draft.append(piece, text("text"));
                piece
            }
            "thinking" => {
                let piece = self.draft.open_thinking();
                self.draft.append(piece, text("thinking"));
                if !text("signature").is_empty() {
                    self.draft.sign(piece, text("signature"));
                }
                piece
            }
            "redacted_thinking" => {
                self.draft.add_redacted_thinking(text("data"));
                return;
            }
            "tool_use" => {
                input = block["input"]
                    .as_object()
                    .filter(|input| !input.is_empty())
                    .map(|_| block["input"].to_string());
                self.draft.open_call(text("id"), text("name"))
            }
            other => {
                tracing::debug!(kind = other, "a content block of unknown type is left out");
                return;
            }
        };
        self.blocks.push(Block { index: event["index"].as_u64(), piece, input });
    }

    fn block(&mut self, event: &Value) -> Option<&mut Block> {
        let index = event["index"].as_u64();
        self.blocks.iter_mut().rev().find(|block| block.index == index)
    }

    fn add_to_block(&mut self, event: &Value) {
        let delta = &event["delta"];
        let text = |name: &str| delta[name].as_str().unwrap_or_default();
        let Some(block) = self.block(event) else { return };
        let piece = block.piece;
        match text("type") {
            "text_delta" => self.draft.append(piece, text("text")),
            "thinking_delta" => self.draft.append(piece, text("thinking")),
            "signature_delta" => self.draft.sign(piece, text("signature")),
            "input_json_delta" => {
                if !text("partial_json").is_empty() {
                    block.input = None;
                }
                self.draft.append(piece, text("partial_json"));
            }
            other => tracing::debug!(kind = other, "a delta of unknown type is left out"),
        }
    }

    fn stop_block(&mut self, event: &Value) {
        if let Some(block) = self.block(event) {
            let (piece, input) = (block.piece, block.input.take());
            self.draft.append(piece, &input.unwrap_or_default());
            self.draft.close(piece);
        }
    }

    /// The first report has the input, later ones the final sums; a later one may leave out what did not change.
    fn count_usage(&mut self, reported: &Value) {
        let usage = self.draft.usage();
        let take = |name: &str, place: &mut u64| {
            if reported[name].is_number() {
                *place = count(&reported[name]);
            }
        };
        take("input_tokens", &mut usage.input);
        take("output_tokens", &mut usage.output);
        take("cache_read_input_tokens", &mut usage.cache_read);
        take("cache_creation_input_tokens", &mut usage.cache_write);
        usage.total_tokens = [usage.output, usage.cache_read, usage.cache_write]
            .into_iter()
            .fold(usage.input, u64::saturating_add);
    }

    fn close_all_inputs(&mut self) {
        for block in &mut self.blocks {
            if let Some(input) = block.input.take() {
                self.draft.append(block.piece, &input);
            }
        }
    }
}

impl Decoder for AnthropicDecoder {
    fn event(&mut self, event: &Value) -> Result<Progress, Flaw> {
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => self.count_usage(&event["message"]["usage"]),
            "content_block_start" => self.start_block(event),
            "content_block_delta" => self.add_to_block(event),
            "content_block_stop" => self.stop_block(event),
            "message_delta" => {
                self.count_usage(&event["usage"]);
                match event["delta"]["stop_reason"].as_str() {
                    None => {}
                    Some("refusal") => {
                        return Err(Flaw::Withheld("the model refused to answer this request".to_owned()));
                    }
                    Some(reason) => {
                        self.stop_reason = Some(reason.to_owned());
                        self.close_all_inputs();
                        return Ok(Progress::Stopped);
                    }
                }
            }
            "message_stop" => {
                self.close_all_inputs();
                return Ok(Progress::Ended);
            }
            // `ping`, and whatever is added later.
            _ => {
                if let Some(report) = Report::from_json(event) {
                    return Err(Flaw::Reported(report));
                }
            }
        }
        Ok(Progress::More)
    }

    fn draft(&mut self) -> &mut Draft {
        &mut self.draft
    }

    fn stop_reason(&self) -> StopReason {
        match self.stop_reason.as_deref() {
            Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
            _ if self.draft.has_calls() => StopReason::ToolUse,
            _ => StopReason::Stop,
        }
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
