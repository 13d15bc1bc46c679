//! Extensions in JavaScript and TypeScript: npm installs the SDK into the project, and the SDK's own step, run by node, bundles the
//! modules and makes the component.

mod diagnosis;
mod extension;
#[cfg(test)]
mod fakes;
mod install;
mod machine;
mod project;

pub(crate) use diagnosis::diagnose;
pub(crate) use extension::{build, test};
