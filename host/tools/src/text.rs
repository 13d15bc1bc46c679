//! Work on text, without files or processes.

pub mod truncate;

pub(crate) mod diff;
pub(crate) mod fold;
pub(crate) mod nearest;
pub(crate) mod replace;
