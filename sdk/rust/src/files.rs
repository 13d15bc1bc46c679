//! Files, through `std::fs`. There is nothing in here to call; this is what differs from a program on the host.
//!
//! Files are WASI's, so the package names the target that has it:
//!
//! ```toml
//! [package.metadata.capstan]
//! target = "wasm32-wasip2"
//! ```
//!
//! and the extension asks for each directory, with [`Request::read_directory`](crate::Request::read_directory) or
//! [`Request::write_directory`](crate::Request::write_directory).
//!
//! | asked for | path in the extension |
//! |---|---|
//! | `.`, or a folder below it such as `src` | `/workspace`, `/workspace/src` |
//! | `/usr/share/dict` | `/usr/share/dict` |
//! | `~/notes` | the absolute path of that folder: below `/home/ada` for a user whose home that is |
//!
//! - Nothing else exists: a path outside of the granted directories is "not found" or "not permitted", for reading and for
//!   writing.
//! - Use absolute paths. There is no current directory, and the workspace is `/workspace` whatever its name on the host.
//! - A link that leads out of a directory is not followed, `..` ends at its top.
//! - There are no owners and modes to change, no file locks, and no notification of changes.
//! - On `wasm32-unknown-unknown` every call of `std::fs` answers "operation not supported on this platform".
//!
//! # Tests
//!
//! Natively `std::fs` is that of the test process, so let functions take their directory:
//!
//! ```
//! use capstan_sdk::prelude::*;
//! use std::path::Path;
//!
//! const WORKSPACE: &str = "/workspace";
//!
//! /// Counts the files of the workspace.
//! #[derive(Deserialize, JsonSchema)]
//! struct Nothing {}
//!
//! fn count(directory: &Path) -> Result<usize> {
//!     let entries = std::fs::read_dir(directory).explain(directory.display())?;
//!     Ok(entries.count())
//! }
//!
//! capstan_sdk::extension! {
//!     requests: [Request::read_directory(".", "To count your files.")],
//!     tools: [tool("count_files", |_: Nothing, _: &Call| Ok::<_, Error>(count(Path::new(WORKSPACE))?.to_string()))],
//! }
//!
//! # fn main() {
//! let directory = std::env::temp_dir();
//! assert!(count(&directory).is_ok());
//! assert!(count(Path::new("/no such folder")).is_err());
//! # }
//! ```
//!
//! In a recorded case `files` puts files into the workspace, and `allow = ["directory"]` grants it.
