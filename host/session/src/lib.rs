//! The session tree and its JSONL file: the only crate that writes session bytes.
//!
//! A session is a header and a list of entries, one JSON object a line, each naming its parent; the format is version 3
//! of pi's session files, and the versions before it are read. Entries are only ever added. What the crate promises is that
//! an acknowledged entry (one whose [`commit`](capstan_ports::SessionLog::commit) returned) is found again, whatever happens
//! to the process, and that it never destroys bytes that it does not understand.
//!
//! Reading order: [`entry`] and [`header`] (the lines), [`tree`] (what they form), [`disk`] (the few things a store
//! needs of a file), [`file`](mod@file) (a session on disk), [`memory`] (a session without one), [`find`] (which file to
//! continue), [`list`](mod@list) (which there are), [`store`] (whole sessions by id, for services).
//!
//! It cannot protect a session against a program that writes to the file without asking for the lock. It notices that
//! before the next entry and stops writing.

#![deny(missing_docs)]

pub mod disk;
pub mod entry;
pub mod error;
pub mod file;
pub mod find;
pub mod header;
pub mod list;
pub mod memory;
pub mod store;
pub mod tree;

#[cfg(test)]
mod faulty;
mod fork;
mod legacy;
mod log;
mod mend;
mod migrate;
mod open;
mod quick;
mod scan;
mod stretch;
mod writer;

pub use disk::{Disk, FileDisk, Presence};
pub use entry::StoredEntry;
pub use error::LineError;
pub use file::{Notice, SessionFile};
pub use find::{Search, Skipped, header_of, latest_in, open_by_id, path_by_id};
pub use header::{Header, VERSION};
pub use list::{Condition, Listed, list};
pub use memory::MemorySession;
pub use store::FileStore;
pub use tree::{Row, Tree};
