//! The session tree and its JSONL file.
