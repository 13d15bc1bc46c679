//! Capabilities, grants and decisions: pure functions over data.
