//! What extensions keep of their own, in SQLite: one file for each extension, in a folder of its own.
//!
//! SQLite because several processes use a file at the same time, and because a change must happen whole or not at all whenever
//! the power goes. Its journal is a write-ahead log that is not flushed for each change: after a power cut the file is sound,
//! and the changes of the last moment may be missing.

mod key_value;

pub use key_value::KeyValueFiles;
