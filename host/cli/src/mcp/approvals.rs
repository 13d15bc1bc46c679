//! `mcp.json`, beside the grants: which tools of which servers the user allowed, and what was said of them.

use crate::home::{self, Home};
use anyhow::{Context, Result};
use capstan_mcp::client::Approvals;
use std::path::PathBuf;

/// The file.
pub(super) fn file(home: &Home) -> PathBuf {
    home.config.join("mcp.json")
}

/// What the user allowed. A file that cannot be understood stops everything: it is not read in part.
pub(super) fn load(home: &Home) -> Result<Approvals> {
    let path = file(home);
    match std::fs::read_to_string(&path) {
        Ok(text) => Approvals::parse(&text).with_context(|| format!("{} cannot be used", path.display())),
        Err(reason) if reason.kind() == std::io::ErrorKind::NotFound => Ok(Approvals::default()),
        Err(reason) => Err(reason).with_context(|| format!("{} cannot be read", path.display())),
    }
}

/// Keeps it.
pub(super) fn save(home: &Home, approvals: &Approvals) -> Result<()> {
    home::write_private(&file(home), &approvals.to_json()?)
}
