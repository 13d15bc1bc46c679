//! Why a policy could not be taken as it stands.

use std::path::PathBuf;

/// A policy that cannot be applied. Nothing is granted on such an error.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// The grants file is not in the expected form. It is never read in part: half a policy is no policy.
    #[error("the grants file is not valid: {source}. Mend it, or remove it to start with no grants")]
    Grants {
        /// The parser's words, with line and column.
        #[source]
        source: toml::de::Error,
    },
    /// Grants could not be written down.
    #[error("the grants cannot be written as TOML: {source}")]
    Serialize {
        /// The serializer's words.
        #[source]
        source: toml::ser::Error,
    },
    /// The grants file was written by a newer version.
    #[error("the grants file has version {found}, this program knows version {known}; use the newer program")]
    Version {
        /// What the file says.
        found: u32,
        /// What this program writes.
        known: u32,
    },
    /// A directory that cannot be granted.
    #[error("the directory `{path}` cannot be granted: {reason}")]
    Directory {
        /// As the extension asked for it.
        path: String,
        /// Why, and what to do.
        reason: String,
    },
    /// A directory that would let a guest at the host's own files.
    #[error(
        "the directory `{path}` cannot be granted: it would reach {protected}, which holds the host's own configuration, \
         grants, cache or sessions; grant a narrower directory"
    )]
    Protected {
        /// As the extension asked for it.
        path: String,
        /// What it would reach.
        protected: PathBuf,
    },
    /// A rule for programs that cannot be applied.
    #[error("the program rule `{rule}` cannot be granted: {reason}")]
    Program {
        /// As the extension asked for it.
        rule: String,
        /// Why, and what to write.
        reason: String,
    },
}
