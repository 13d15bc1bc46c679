//! Extensions in Python: componentize-py in an environment of its own, and the SDK's build step.
//!
//! A build imports the author's module with the Python of this machine, as `cargo build` runs an author's build script.

mod diagnosis;
mod environment;
mod extension;
mod interpreter;
mod kept;
mod packages;
mod project;

pub(crate) use diagnosis::diagnose;
pub(crate) use extension::{build, test};
