//! What happens in a session, as lines for programs: every event of a run in pi's shape, retries, `extension_event` for what
//! extensions report, and before the end of a run `extension_usage` for what each of them used so far.

use crate::live::Running;
use crate::output::Output;
use async_trait::async_trait;
use capstan_agent::{AgentSession, Observers};
use capstan_engine::Extension;
use capstan_ports::event::{AgentEvent, EventSink};
use capstan_ports::{ObserverPort, TurnEvent};
use serde_json::json;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// How long lines of extensions may take to be written at the end of a run.
const FLUSH: Duration = Duration::from_secs(2);

/// Writes everything that happens in `session` from now on to `output`. `running` are the extensions in force.
pub(crate) fn write(session: &AgentSession, running: Running, output: &Output) {
    let observers = session.agent().observers();
    observers.add(Arc::new(ExtensionLines(output.clone())));
    session.agent().subscribe(Arc::new(Lines { running, observers, output: output.clone() }));
    let lines = output.clone();
    session.agent().configure(|config| {
        let told_before = config.on_retry.take();
        config.on_retry = Some(Arc::new(move |event| {
            lines.line_now(&event);
            if let Some(tell) = &told_before {
                tell(event);
            }
        }));
    });
}

struct Lines {
    running: Running,
    observers: Arc<Observers>,
    output: Output,
}

#[async_trait]
impl EventSink for Lines {
    async fn emit(&self, event: AgentEvent) {
        // The end of the run stays the last line of it, as programs that read pi's events expect it; a compaction may follow.
        if matches!(event, AgentEvent::AgentEnd { .. }) {
            self.observers.flush(FLUSH).await;
            let running: Vec<Extension> = self.running.lock().unwrap_or_else(PoisonError::into_inner).clone();
            for extension in running {
                let (id, usage) = (extension.id(), extension.usage());
                let used = json!({"type": "extension_usage", "extension": id, "usage": usage});
                self.output.line(&used).await;
            }
        }
        self.output.line(&event).await;
    }
}

/// Events that extensions report: `{"type": "extension_event", "extension": …, "label": …, "data": …}`.
struct ExtensionLines(Output);

#[async_trait]
impl ObserverPort for ExtensionLines {
    async fn on_event(&self, event: &TurnEvent) {
        if let Some(reported) = event.extension_line() {
            self.0.line(&reported).await;
        }
    }
}
