//! Transcript repair: whatever happened before, what goes to a provider pairs each call with one result.
//!
//! Every entry point sends its messages through [`repair`] right before each request, so a crash between a call and
//! its result, an aborted answer, a cut by compaction or results that were logged in completion order can never make a
//! provider refuse the conversation. The stored transcript stays as it is.

use capstan_ports::{Content, Message, Messages, StopReason, ToolCall, ToolResultMessage};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// What a call without a result gets as its result.
pub const NO_RESULT: &str = "No result provided";

/// The messages as a provider accepts them.
///
/// Answers that failed, were aborted or hold nothing are left out. Each remaining call is followed by exactly one
/// result, in the order of the calls; a missing one is made up ([`NO_RESULT`]), and results that answer no call, or
/// answer one a second time, are left out. Messages are shared, not copied.
pub fn repair(messages: &[Arc<Message>]) -> Vec<Arc<Message>> {
    if is_sound(messages) { messages.to_vec() } else { mended(messages) }
}

/// A transcript's messages as a provider accepts them, without looking again at what was found sound before and without
/// a copy as long as nothing is to be repaired: the price of a round does not grow with the conversation.
///
/// `sound` counts the leading messages that are known to be sound; zero it whenever one of them changes.
pub(crate) fn repaired(transcript: &Messages, sound: &mut usize) -> Messages {
    if transcript.get(*sound..).is_some_and(is_sound) {
        *sound = transcript.len();
        return transcript.clone();
    }
    mended(transcript).into()
}

fn mended(messages: &[Arc<Message>]) -> Vec<Arc<Message>> {
    let mut results = Results::index(messages);
    let mut repaired = Vec::with_capacity(messages.len());
    for (position, message) in messages.iter().enumerate() {
        match message.as_ref() {
            Message::User(_) | Message::Custom(_) => repaired.push(message.clone()),
            Message::Assistant(answer) if is_dropped(message) => {
                for call in answer.tool_calls() {
                    results.close(call, position);
                }
            }
            Message::Assistant(answer) => {
                repaired.push(message.clone());
                for call in answer.tool_calls() {
                    let result = results.take(call, position).map(|at| messages[at].clone());
                    repaired.push(result.unwrap_or_else(|| no_result(call, answer.timestamp)));
                }
            }
            // Placed behind their calls above.
            Message::ToolResult(_) => {}
        }
    }
    repaired
}

/// Whether `messages` can be sent as they are. Linear and free of allocation, because it runs before every request.
pub(crate) fn is_sound(messages: &[Arc<Message>]) -> bool {
    let mut rest = messages.iter();
    while let Some(message) = rest.next() {
        match message.as_ref() {
            Message::User(_) | Message::Custom(_) => {}
            Message::ToolResult(_) => return false,
            Message::Assistant(_) if is_dropped(message) => return false,
            Message::Assistant(answer) => {
                for call in answer.tool_calls() {
                    match rest.next().map(|next| next.as_ref()) {
                        Some(Message::ToolResult(result)) if result.tool_call_id == call.id => {}
                        _ => return false,
                    }
                }
            }
        }
    }
    true
}

/// Whether each call has its result and each result its call, of what is sent at all. Answers that [`repair`] leaves out, and
/// results of their calls, do not count: a compressor is shown them and cannot see that they are never sent.
pub(crate) fn is_complete(messages: &[Arc<Message>]) -> bool {
    if is_sound(messages) {
        return true;
    }
    let mut dropped: HashSet<&str> = HashSet::new();
    let mut sent = Vec::with_capacity(messages.len());
    for message in messages {
        match message.as_ref() {
            Message::Assistant(answer) if is_dropped(message) => {
                dropped.extend(answer.tool_calls().map(|call| call.id.as_str()));
            }
            Message::ToolResult(result) if dropped.contains(result.tool_call_id.as_str()) => {}
            _ => sent.push(message.clone()),
        }
    }
    !sent.is_empty() && is_sound(&sent)
}

fn is_dropped(message: &Message) -> bool {
    match message {
        Message::Assistant(answer) => match answer.stop_reason {
            StopReason::Error | StopReason::Aborted => true,
            StopReason::Stop | StopReason::Length | StopReason::ToolUse => {
                !answer.content.iter().any(says_something)
            }
        },
        Message::User(_) | Message::ToolResult(_) | Message::Custom(_) => false,
    }
}

/// Providers refuse answers made of nothing but empty text.
fn says_something(piece: &Content) -> bool {
    match piece {
        Content::Text { text } => !text.is_empty(),
        Content::Thinking { .. } | Content::Image { .. } | Content::ToolCall(_) => true,
    }
}

fn no_result(call: &ToolCall, timestamp: u64) -> Arc<Message> {
    Arc::new(Message::ToolResult(ToolResultMessage {
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        content: vec![Content::text(NO_RESULT)],
        details: None,
        is_error: true,
        // The call's time rather than now: the same transcript then always gives the same request, and prompt caches
        // hit.
        timestamp,
    }))
}

/// A call that was put off and waits for a person.
#[derive(Debug, Clone, PartialEq)]
pub struct DeferredCall {
    /// The call as the model made it.
    pub call: ToolCall,
    /// Why it was put off.
    pub reason: String,
}

/// The calls of `messages` that wait for a person: put off, and neither approved nor denied since.
pub fn deferred_calls(messages: &[Arc<Message>]) -> Vec<DeferredCall> {
    let mut waiting: Vec<DeferredCall> = Vec::new();
    let mut calls: HashMap<&str, &ToolCall> = HashMap::new();
    for message in messages {
        match message.as_ref() {
            Message::User(_) | Message::Custom(_) => {}
            Message::Assistant(answer) => {
                calls.extend(answer.tool_calls().map(|call| (call.id.as_str(), call)))
            }
            Message::ToolResult(result) => {
                waiting.retain(|other| other.call.id != result.tool_call_id);
                if let (true, Some(call)) = (is_deferral(message), calls.get(result.tool_call_id.as_str())) {
                    let reason = result.details.as_ref().and_then(|details| details["reason"].as_str());
                    let reason = reason.unwrap_or_default().to_owned();
                    waiting.push(DeferredCall { call: (*call).clone(), reason });
                }
            }
        }
    }
    waiting
}

/// Whether this is the result of a call that was put off; see [`deferred_calls`].
fn is_deferral(message: &Message) -> bool {
    match message {
        Message::ToolResult(result) => {
            result.is_error && result.details.as_ref().is_some_and(|details| details["deferred"] == true)
        }
        Message::User(_) | Message::Assistant(_) | Message::Custom(_) => false,
    }
}

/// Where results and calls stand, by call id. Some providers count ids anew in each answer, so an id alone does not
/// name a call: a result belongs to the nearest call before it.
struct Results<'a> {
    messages: &'a [Arc<Message>],
    results: HashMap<&'a str, VecDeque<usize>>,
    /// Positions of the answers that hold the id, one entry for each call.
    calls: HashMap<&'a str, VecDeque<usize>>,
}

impl<'a> Results<'a> {
    fn index(messages: &'a [Arc<Message>]) -> Self {
        let mut index = Self { messages, results: HashMap::new(), calls: HashMap::new() };
        for (position, message) in messages.iter().enumerate() {
            match message.as_ref() {
                Message::User(_) | Message::Custom(_) => {}
                Message::Assistant(answer) => {
                    for call in answer.tool_calls() {
                        index.calls.entry(&call.id).or_default().push_back(position);
                    }
                }
                Message::ToolResult(result) => {
                    index.results.entry(&result.tool_call_id).or_default().push_back(position);
                }
            }
        }
        index
    }

    /// The position of the result that belongs to `call` of the answer at `position`.
    fn take(&mut self, call: &ToolCall, position: usize) -> Option<usize> {
        let next_answer = self.close(call, position);
        let results = self.results.get_mut(call.id.as_str())?;
        while results.front().is_some_and(|at| *at < position) {
            results.pop_front();
        }
        let mut taken = results.pop_front_if(|at| *at < next_answer)?;
        // What became of a call that was put off takes the place of the note that it was (003-128).
        while is_deferral(&self.messages[taken])
            && let Some(later) = results.pop_front_if(|at| *at < next_answer)
        {
            taken = later;
        }
        Some(taken)
    }

    /// Marks a call as seen and says where the next answer stands that uses its id.
    fn close(&mut self, call: &ToolCall, position: usize) -> usize {
        let Some(calls) = self.calls.get_mut(call.id.as_str()) else { return usize::MAX };
        calls.pop_front();
        calls.iter().copied().find(|at| *at > position).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
