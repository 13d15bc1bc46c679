//! Flags that say which session, where it works, and with which model and tools.

use capstan_ports::ThinkingLevel;
use std::path::PathBuf;

/// Which session. At most one of the flags that choose one.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct SessionFlags {
    /// Go on with the last session of this directory
    #[arg(short = 'c', long = "continue", group = "which")]
    pub(crate) latest: bool,

    /// Go on with a session, in its own directory: its id, the beginning of its id, or its file; nothing: choose from a list
    #[arg(short, long, value_name = "ID|FILE", num_args = 0..=1, group = "which")]
    pub(crate) resume: Option<Option<String>>,

    /// Go on with exactly this session: the same as --resume with a value
    #[arg(long, value_name = "ID|FILE", group = "which")]
    pub(crate) session: Option<String>,

    /// Go on with a copy of a session in a new file; the session itself stays as it is
    #[arg(long, value_name = "ID|FILE", group = "which")]
    pub(crate) fork: Option<String>,

    /// Keep nothing of this session
    #[arg(long, group = "which")]
    pub(crate) no_session: bool,

    /// Keep sessions, and look for them, in this folder
    #[arg(long, value_name = "DIR", conflicts_with = "no_session")]
    pub(crate) session_dir: Option<PathBuf>,

    /// Work in this directory instead of the current one, or of the session's own
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
}

/// The names that `--tools` knows.
pub(crate) const TOOL_NAMES: [&str; 7] = ["read", "bash", "edit", "write", "grep", "find", "ls"];

/// How much a model thinks, as the flag has it.
///
/// # Errors
/// When there is no such level; the text names those that there are.
pub(super) fn thinking(text: &str) -> Result<ThinkingLevel, String> {
    ThinkingLevel::parse(text).ok_or_else(|| {
        let names: Vec<_> = ThinkingLevel::ALL.iter().map(|level| level.name()).collect();
        format!("possible values: {}", names.join(", "))
    })
}
