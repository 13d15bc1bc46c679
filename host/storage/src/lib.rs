//! What outlives a session and is not one, in SQLite: what extensions keep of their own ([`KeyValueFiles`], one file for each
//! extension in a folder of its own), and what agents remember ([`SqliteMemory`]).
//!
//! SQLite because several processes use a file at the same time, and because a change must happen whole or not at all whenever
//! the power goes. Its journal is a write-ahead log. For extensions it is not flushed for each change: after a power cut the
//! file is sound, and the changes of the last moment may be missing. For memories it is.

mod file;
mod key_value;
mod memory;
mod memory_error;

pub use key_value::KeyValueFiles;
pub use memory::{REMEMBERED, SqliteMemory};
pub use memory_error::MemoryFileError;
