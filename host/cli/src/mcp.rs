//! MCP servers: `capstan mcp …`, and their part in a session.

mod allow;
mod approvals;
mod denials;
mod serve;
mod session;
mod show;
mod tools;

pub(crate) use session::{Mcp, shut_down};

use crate::args::McpCommand;
use crate::config::{self, Config};
use crate::home::Home;
use crate::screen;
use anyhow::{Context, Result};
use capstan_mcp::client::{Server, Servers};
use std::process::ExitCode;
use std::sync::Arc;

/// Runs one of the commands.
pub(crate) async fn run(command: McpCommand) -> Result<ExitCode> {
    let home = Home::find()?;
    match command {
        McpCommand::Serve(options) => serve::run(*options).await,
        McpCommand::List { json } => show::list(&Place::open(home)?, json).await,
        McpCommand::Test { name, json } => show::test(&Place::open(home)?, &name, json).await,
        McpCommand::Allow { name, tools, yes } => allow::allow(&Place::open(home)?, &name, &tools, yes).await,
        McpCommand::Revoke { name } => allow::revoke(&home, &name),
    }
}

/// The servers of the configuration, none of them started.
struct Place {
    home: Home,
    config: Config,
    servers: Arc<Servers>,
}

impl Place {
    fn open(home: Home) -> Result<Self> {
        let config = Config::load(&home, &config::load_grants(&home)?)?;
        let servers = session::servers(&home, &config)?;
        Ok(Self { home, config, servers })
    }

    /// The server of this name, which must be one that may be started.
    fn server(&self, name: &str) -> Result<&Server> {
        let names = || {
            let names: Vec<_> = self.config.mcp.keys().map(String::as_str).collect();
            if names.is_empty() {
                "there is none".to_owned()
            } else {
                format!("there are: {}", names.join(", "))
            }
        };
        let shown = screen::brief(name, 60);
        let server = self.config.mcp.get(name);
        let server = server
            .with_context(|| format!("there is no [mcp.{shown}] in your configuration; {}", names()))?;
        anyhow::ensure!(server.enabled, "[mcp.{name}] has enabled = false; take that out to use it");
        Ok(server)
    }
}
