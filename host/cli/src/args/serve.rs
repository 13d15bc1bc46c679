//! `capstan mcp serve`

use super::session;
use capstan_policy::PermissionMode;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// The port where clients are told to look; what is free changes, a client's configuration does not.
const PORT: u16 = 7350;

/// `capstan mcp serve`
#[derive(Debug, clap::Args)]
pub(crate) struct ServeOptions {
    /// Serve over HTTP at http://ADDR/mcp instead of stdin and stdout: an address with a port, or a port; default:
    /// 127.0.0.1:7350. Port 0 takes a free one
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "7350", value_parser = address)]
    pub(crate) http: Option<SocketAddr>,

    /// Take the bearer token from this variable instead of making one up
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) token_env: Option<String>,

    /// Let other machines ask, under this host name or address: what they write into the URL; can be repeated
    #[arg(long, value_name = "HOST", requires = "http")]
    pub(crate) allow_remote: Vec<String>,

    /// Let pages of this origin ask, such as http://localhost:6274; can be repeated
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub(crate) allow_origin: Vec<String>,

    /// Offer these built-in tools, too: read, bash, edit, write, grep, find, ls
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = session::TOOL_NAMES)]
    pub(crate) builtin: Vec<String>,

    /// What built-in tools may do: read-only, workspace or all; ask denies, because nobody can be asked
    #[arg(long, value_name = "MODE")]
    pub(crate) permissions: Option<PermissionMode>,

    /// Another directory that the built-in tools may use; can be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) add_dir: Vec<PathBuf>,

    /// Another folder of extensions; can be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) extensions: Vec<PathBuf>,

    /// Work in this directory instead of the current one: what is granted as the workspace
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
}

/// An address with a port, or a port of loopback.
fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    text.parse().map_err(|_no_address: std::net::AddrParseError| {
        format!("use an address with a port, such as 127.0.0.1:{PORT}, or a port alone")
    })
}
