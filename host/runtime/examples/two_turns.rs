//! A conversation of two turns with one tool, through the public interface alone.
//!
//! The model plays a script, so that nothing here needs a network or a key; a program that has one puts another
//! `Model` in its place. Run it with `cargo run -p capstan-runtime --example two_turns`.

use async_trait::async_trait;
use capstan_agent::{HookRegistry, ToolRegistry};
use capstan_ports::tool::ToolContext;
use capstan_ports::{CallAccess, Execution, Tool, ToolCall, ToolDefinition, ToolError, ToolOutcome};
use capstan_provider::{Answer, ScriptedModel};
use capstan_runtime::{Agent, AgentBuilder, AgentError, AgentSession};
use serde_json::{Value, json};
use std::sync::Arc;

/// The role: who the model is told to be. It exposes every tool of the bundle.
struct Receptionist;

impl Agent for Receptionist {
    fn name(&self) -> &str {
        "receptionist"
    }

    fn system_prompt(&self) -> Option<&str> {
        Some("You take reservations.")
    }
}

/// Knows how many seats are free.
struct Seats(ToolDefinition);

impl Seats {
    fn new() -> Self {
        Self(ToolDefinition {
            name: "seats".to_owned(),
            label: "Seats".to_owned(),
            description: "How many seats of a table are free.".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": { "table": { "type": "string" } },
                "required": ["table"],
            }),
            execution: Execution::Parallel,
        })
    }
}

#[async_trait]
impl Tool for Seats {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn access(&self, _arguments: &Value) -> CallAccess {
        CallAccess::Nothing
    }

    async fn execute(&self, call: &ToolCall, _context: &ToolContext) -> Result<ToolOutcome, ToolError> {
        Ok(match call.arguments["table"].as_str() {
            Some("window") => ToolOutcome::text("2 seats are free"),
            other => ToolOutcome::error(format!("there is no table {}", other.unwrap_or_default())),
        })
    }
}

/// Asks and asks again. Answers what was said, and what it cost.
pub(crate) async fn converse() -> Result<Vec<String>, AgentError> {
    let model = ScriptedModel::new([
        Answer::call("seats", json!({ "table": "window" })),
        Answer::text("Two seats at the window are free."),
        Answer::text("Then it is yours."),
    ]);
    let bundle = AgentBuilder::new()
        .provider(Arc::new(model))
        .tool_registry(Arc::new(ToolRegistry::with_tools([Arc::new(Seats::new()) as Arc<dyn Tool>])?))
        .hook_executor(Arc::new(HookRegistry::default()))
        .build()?;
    let mut session = AgentSession::new("demo", Arc::new(Receptionist), Arc::new(bundle));
    let mut said = Vec::new();
    for input in ["Is there room at the window?", "I take it."] {
        let answer = session.submit_turn(input).await?;
        said.push(format!("user: {input}"));
        said.push(format!("{}: {}", session.agent.name(), answer.text()));
    }
    said.push(format!("{} turns, {} model calls", session.turn_index(), session.cost_so_far().calls));
    Ok(said)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), AgentError> {
    for line in converse().await? {
        println!("{line}");
    }
    Ok(())
}
