//! `capstan --mode json`: every event of the run as one line of JSON on stdout, in pi's shape.

use crate::args::Args;
use crate::explain::Explanations;
use crate::home::Home;
use crate::{compose, print, screen};
use anyhow::Result;
use async_trait::async_trait;
use capstan_ports::event::{AgentEvent, EventSink};
use serde_json::json;
use std::process::ExitCode;
use std::sync::Arc;

/// Runs the prompt; the first line is that of the session's file, the others are its events.
pub(crate) async fn run(args: Args) -> Result<ExitCode> {
    let prompt = print::prompt(&args)?;
    let home = Home::find()?;
    let composed = compose::session(&home, &args.setup, print::plan(&args)).await?;
    screen::data(&format!("{}\n", composed.header.to_line()?))?;
    composed.session.agent().subscribe(Arc::new(Lines));
    let explanations = Explanations::of(&home, &composed);
    let turn = print::turn(&composed.session, prompt).await;
    let turn = print::kept(&explanations, turn)?;
    print::finish(&composed.session).await;
    Ok(turn.exit_code())
}

struct Lines;

#[async_trait]
impl EventSink for Lines {
    async fn emit(&self, event: AgentEvent) {
        let line = match serde_json::to_string(&event) {
            Ok(line) => line,
            Err(reason) => json!({"type": "error", "message": reason.to_string()}).to_string(),
        };
        if let Err(reason) = screen::data(&format!("{line}\n")) {
            tracing::warn!(%reason, "an event could not be written to stdout");
        }
    }
}
