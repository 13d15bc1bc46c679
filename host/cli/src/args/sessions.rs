//! The arguments of `capstan session`.

use clap::{Subcommand, ValueEnum};
use std::path::PathBuf;

/// `capstan session …`
#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// List the sessions of this directory, the one that was written last first
    List {
        /// Those of all directories
        #[arg(long)]
        all: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show all entries of a session and how they branch
    Tree {
        /// An id, the beginning of one, or a file; default: the last session of this directory
        session: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what was said in a session
    Show(ShowOptions),
    /// Write a session as Markdown, HTML or JSON
    Export(ExportOptions),
}

/// `capstan session show`
#[derive(Debug, clap::Args)]
pub(crate) struct ShowOptions {
    /// An id, the beginning of one, or a file; default: the last session of this directory
    pub(crate) session: Option<String>,

    /// What was said up to this entry (its id, or the beginning of it), also if it is on another branch
    #[arg(long, value_name = "ID")]
    pub(crate) entry: Option<String>,

    /// What tools and commands printed is shown whole
    #[arg(long, conflicts_with = "json")]
    pub(crate) full: bool,

    /// The entries as JSON, as they are in the file
    #[arg(long)]
    pub(crate) json: bool,
}

/// `capstan session export`
#[derive(Debug, clap::Args)]
pub(crate) struct ExportOptions {
    /// An id, the beginning of one, or a file; default: the last session of this directory
    pub(crate) session: Option<String>,

    /// What it becomes
    #[arg(long, value_enum)]
    pub(crate) format: ExportFormat,

    /// Where it goes; default: stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// A form of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// What was said on the branch, for people.
    Markdown,
    /// Header and all entries of all branches, as they are in the file.
    Json,
    /// What was said on the branch, as a page that needs nothing else.
    Html,
}
