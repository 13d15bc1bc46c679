//! Two turns of an agent with one tool of its own, in a program that depends on four crates by their paths.
//!
//! The model plays a script, so that nothing here needs a network or a key; `capstan_provider::model` makes a real one. The
//! session ends with the process; `capstan_session::SessionFile` is one on disk.

use capstan_agent::{AgentError, AgentLoopConfig, AgentSession, TypedTool};
use capstan_ports::{Message, ToolOutcome};
use capstan_provider::{Answer, ScriptedModel};
use capstan_session::MemorySession;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

/// What the model says when it wants to know how many seats are free.
#[derive(Debug, Deserialize, JsonSchema)]
struct Seats {
    /// The table's name.
    table: String,
}

/// A table can be asked about; the others are not there.
fn seats() -> TypedTool<Seats> {
    TypedTool::new("seats", "How many seats of a table are free.", |arguments: Seats, _context| async move {
        Ok(match arguments.table.as_str() {
            "window" => ToolOutcome::text("2 seats are free"),
            other => ToolOutcome::error(format!("There is no table {other}. Ask about the table `window`.")),
        })
    })
}

/// What a model would answer in these two turns.
fn model() -> ScriptedModel {
    ScriptedModel::new([
        Answer::call("seats", json!({ "table": "window" })),
        Answer::text("Two seats at the window are free."),
        Answer::text("Then it is yours."),
    ])
}

/// Asks and asks again, in one session. Returns what each turn added to it.
async fn converse(model: &ScriptedModel) -> Result<[Vec<Arc<Message>>; 2], AgentError> {
    let config = AgentLoopConfig::new(Arc::new(model.clone()));
    let session = AgentSession::open(config, Arc::new(MemorySession::new(Path::new("."))))?;
    session.agent().set_system_prompt("You take reservations.");
    session.agent().set_tools([Arc::new(seats()) as _])?;
    let first = session.prompt_text("Is there room at the window?").await?;
    let second = session.prompt_text("I take it.").await?;
    Ok([first, second])
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), AgentError> {
    for message in converse(&model()).await?.iter().flatten() {
        println!("{:>11}: {}", message.role(), message.text());
        if let Message::Assistant(answer) = message.as_ref() {
            answer.tool_calls().for_each(|call| println!("             {} {}", call.name, call.arguments));
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "main_tests.rs"]
mod tests;
