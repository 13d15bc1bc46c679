//! `capstan --mode json`: every event of the run as one line of JSON on stdout, in pi's shape. Beside them `extension_event` for
//! what extensions report, and before the last line `extension_usage` for what each of them used.

use crate::args::Args;
use crate::compose::{self, Composed};
use crate::explain::Explanations;
use crate::start::Start;
use crate::{print, screen};
use anyhow::Result;
use async_trait::async_trait;
use capstan_agent::Observers;
use capstan_engine::Extension;
use capstan_ports::event::{AgentEvent, EventSink};
use capstan_ports::{ObserverPort, TurnEvent};
use serde::Serialize;
use serde_json::json;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Runs the prompt; the first line is that of the session's file, the others are its events.
pub(crate) async fn run(args: Args) -> Result<ExitCode> {
    let prompt = print::prompt(&args)?;
    let Start { home, which } = Start::of(&args.session)?;
    let composed = compose::session(&home, &args.setup, print::plan(which)).await?;
    let prompt = composed.live.commands().current().expand(prompt)?;
    let explanations = Explanations::of(&home, &composed);
    follow(&composed)?;
    let turn = print::turn(&composed.session, prompt).await;
    let turn = print::kept(&explanations, turn)?;
    composed.finish(&home).await;
    Ok(turn.exit_code())
}

/// Writes the first line of the session's file, and from now on a line for each of its events.
pub(crate) fn follow(composed: &Composed) -> Result<()> {
    screen::json(&composed.header.to_line()?)?;
    let observers = composed.session.agent().observers();
    observers.add(Arc::new(ExtensionLines));
    let lines = Lines { extensions: composed.catalog.active.clone(), observers };
    composed.session.agent().subscribe(Arc::new(lines));
    Ok(())
}

struct Lines {
    extensions: Vec<Extension>,
    observers: Arc<Observers>,
}

/// How long lines of extensions may take to be written at the end.
const FLUSH: Duration = Duration::from_secs(2);

#[async_trait]
impl EventSink for Lines {
    async fn emit(&self, event: AgentEvent) {
        // The end of the run stays the last line of it, as programs that read pi's events expect it; a compaction may follow.
        if matches!(event, AgentEvent::AgentEnd { .. }) {
            self.observers.flush(FLUSH).await;
            for extension in &self.extensions {
                line(
                    &json!({"type": "extension_usage", "extension": extension.id(), "usage": extension.usage()}),
                );
            }
        }
        line(&event);
    }
}

/// Events that extensions report: `{"type": "extension_event", "extension": …, "label": …, "data": …}`.
struct ExtensionLines;

#[async_trait]
impl ObserverPort for ExtensionLines {
    async fn on_event(&self, event: &TurnEvent) {
        if let Some(reported) = event.extension_line() {
            line(&reported);
        }
    }
}

/// Writes one line.
pub(crate) fn line(event: &impl Serialize) {
    let text = match serde_json::to_string(event) {
        Ok(text) => text,
        Err(reason) => json!({"type": "error", "message": reason.to_string()}).to_string(),
    };
    if let Err(reason) = screen::json(&text) {
        tracing::warn!(%reason, "an event could not be written to stdout");
    }
}
