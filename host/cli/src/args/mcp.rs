//! `capstan mcp …`

use super::ServeOptions;
use clap::Subcommand;

/// `capstan mcp …`
#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Offer the tools of your extensions to another program's agent: over stdin and stdout, or over HTTP
    Serve(Box<ServeOptions>),
    /// List the servers of your configuration, their state and their tools
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Start one server and say what it is, what it offers, and how long it took
    Test {
        /// Its name in the configuration
        name: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a server's tools and allow the model to use them, as they are now
    Allow {
        /// Its name in the configuration
        name: String,
        /// Only these of its tools; default: all
        tools: Vec<String>,
        /// Do not ask for confirmation
        #[arg(short, long)]
        yes: bool,
    },
    /// Take back what you allowed of a server; its tools are not offered any more
    Revoke {
        /// Its name in the configuration
        name: String,
    },
}
