//! Questions to the person behind the client: a line goes out, and the answer to it comes in at any time later.

use super::command::Reply as Said;
use crate::output::Output;
use crate::permit::{Person, Reply};
use async_trait::async_trait;
use capstan_ports::message::ToolCall;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// What a person can say to a call that needs an answer. The client shows these words and sends one of them back.
const ONCE: &str = "Allow once";
const ALWAYS: &str = "Allow in this session";
const NO: &str = "Deny";

/// The questions of one client.
pub(super) struct Questions {
    output: Output,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    open: HashMap<String, oneshot::Sender<Said>>,
    asked: u64,
    /// Nobody answers any more.
    is_closed: bool,
}

impl Questions {
    pub(super) fn new(output: Output) -> Self {
        Self { output, state: Mutex::default() }
    }

    /// Hands an answer to who waits for it. One to no question, or a second one, is for nobody.
    pub(super) fn answer(&self, said: Said) {
        let waiting = self.state().open.remove(&said.id);
        match waiting {
            Some(waiting) => drop(waiting.send(said)),
            None => tracing::debug!(id = said.id, "an answer to no open question"),
        }
    }

    /// From now on nobody answers; who waits hears that.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        state.open.clear();
    }

    /// Tells the person something. It needs no answer.
    pub(super) async fn notify(&self, message: &str) {
        let id = self.next_id();
        self.output.line(&json!({
            "type": "extension_ui_request", "id": id, "method": "notify", "message": message, "notifyType": "info"
        })).await;
    }

    /// Asks for yes or no. `None` when there is no answer.
    pub(super) async fn confirm(&self, question: &str, call: &ToolCall) -> Option<bool> {
        let said =
            self.ask(json!({"method": "confirm", "title": call.name, "message": question}), call).await?;
        said.confirmed
    }

    async fn ask(&self, mut request: Value, call: &ToolCall) -> Option<Said> {
        let (sender, said) = oneshot::channel();
        let id = self.next_id();
        {
            let mut state = self.state();
            if state.is_closed {
                return None;
            }
            state.open.insert(id.clone(), sender);
        }
        // Also when the call is aborted while it waits.
        let _forgotten = Forgotten { questions: self, id: &id };
        request["type"] = json!("extension_ui_request");
        request["id"] = json!(id);
        // Clients show the call that they know by this id already.
        request["toolCallId"] = json!(call.id);
        self.output.line(&request).await;
        said.await.ok().filter(|said| !said.cancelled)
    }

    fn next_id(&self) -> String {
        let mut state = self.state();
        state.asked += 1;
        format!("question-{}", state.asked)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic happens under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a question from the open ones when nobody waits for its answer any more.
struct Forgotten<'q> {
    questions: &'q Questions,
    id: &'q str,
}

impl Drop for Forgotten<'_> {
    fn drop(&mut self) {
        self.questions.state().open.remove(self.id);
    }
}

#[async_trait]
impl Person for Questions {
    /// Whatever is not one of the offered permissions is none.
    async fn reply(&self, question: &str, call: &ToolCall) -> Reply {
        let title = format!("{}: {question}", call.name);
        let request = json!({"method": "select", "title": title, "options": [ONCE, ALWAYS, NO]});
        match self.ask(request, call).await.and_then(|said| said.value).as_deref() {
            Some(ONCE) => Reply::Once,
            Some(ALWAYS) => Reply::Always,
            Some(_) | None => Reply::No,
        }
    }

    async fn confirm(&self, question: &str, call: &ToolCall) -> Reply {
        match self.confirm(question, call).await {
            Some(true) => Reply::Once,
            Some(false) | None => Reply::No,
        }
    }
}

#[cfg(test)]
#[path = "questions_tests.rs"]
mod tests;
