//! Other servers, as a source of tools.
