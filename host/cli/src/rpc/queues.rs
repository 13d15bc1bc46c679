//! What waits in the queues, told to the client whenever it changes.

use crate::output::Output;
use async_trait::async_trait;
use capstan_agent::AgentSession;
use capstan_ports::event::{AgentEvent, EventSink};
use serde_json::json;
use std::sync::Arc;
use tokio::sync::Mutex;

/// What the client was told last: texts of steering, texts of follow-ups.
#[derive(Default)]
pub(super) struct Queues(Mutex<(Vec<String>, Vec<String>)>);

impl Queues {
    /// Tells the client what waits, unless it knows: `{"type": "queue_update", "steering": […], "followUp": […]}`.
    pub(super) async fn told(&self, session: &AgentSession, output: &Output) {
        // Held until it is told, so that the last word is the newest.
        let mut told = self.0.lock().await;
        let agent = session.agent();
        let texts = |waiting: Vec<Arc<capstan_ports::Message>>| -> Vec<String> {
            waiting.iter().map(|message| message.text()).collect()
        };
        let now = (texts(agent.queued_steering()), texts(agent.queued_follow_ups()));
        if *told != now {
            output.line(&json!({"type": "queue_update", "steering": now.0, "followUp": now.1})).await;
            *told = now;
        }
    }
}

/// Looks at the queues whenever the conversation takes something up.
pub(super) struct QueueWatch {
    pub(super) queues: Arc<Queues>,
    pub(super) session: AgentSession,
    pub(super) output: Output,
}

#[async_trait]
impl EventSink for QueueWatch {
    async fn emit(&self, event: AgentEvent) {
        if matches!(event, AgentEvent::MessageStart { .. }) {
            self.queues.told(&self.session, &self.output).await;
        }
    }

    fn wants_updates(&self) -> bool {
        false
    }
}
