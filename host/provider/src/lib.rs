//! Model wire formats: bytes in, events out.
