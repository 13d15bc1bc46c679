//! `capstan mcp …`

mod serve;
mod tools;

use crate::args::McpCommand;
use crate::config::{self, Config};
use crate::home::Home;
use crate::screen;
use anyhow::Result;
use std::process::ExitCode;

/// Runs one of the commands.
pub(crate) async fn run(command: McpCommand) -> Result<ExitCode> {
    let command = match command {
        McpCommand::Serve(options) => return serve::run(*options).await,
        command => command,
    };
    let home = Home::find()?;
    let config = Config::load(&home, &config::load_grants(&home)?)?;
    match command {
        McpCommand::List { .. } => {
            for (name, server) in &config.mcp {
                screen::show(&format!("{name}  {}\n", screen::brief(&server.reach.to_string(), 100)))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        // Done before.
        McpCommand::Serve(_) => Ok(ExitCode::SUCCESS),
        McpCommand::Test { name, .. } | McpCommand::Allow { name, .. } | McpCommand::Revoke { name } => {
            anyhow::bail!("there is no [mcp.{name}] that is running")
        }
    }
}
