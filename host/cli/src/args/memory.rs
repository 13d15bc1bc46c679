//! The arguments of `capstan memory`.

use clap::Subcommand;
use std::path::PathBuf;

/// `capstan memory …`
#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// Keep a text; prints the key that it is kept under
    Add {
        /// The key, in place of what it has; default: a new one
        #[arg(long)]
        key: Option<String>,
        /// The text; `-` reads it from stdin
        #[arg(allow_hyphen_values = true)]
        text: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Find texts that hold any of the words, the best first
    Search {
        /// The words
        #[arg(required = true)]
        words: Vec<String>,
        /// At most this many
        #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
        limit: usize,
        /// As JSON, with the whole texts
        #[arg(long)]
        json: bool,
    },
    /// List everything that is kept, by key
    List {
        /// As JSON, with the whole texts
        #[arg(long)]
        json: bool,
    },
    /// Forget a text, or all parts of an imported file
    Remove {
        /// Its key, or the path of the file
        key: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Keep the Markdown and text files of a folder, in parts; again: what changed in them, and what went
    Import {
        /// The folder, with those below it
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}
