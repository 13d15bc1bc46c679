//! Extensions in Rust: a guest toolchain, found or made, and cargo.

mod diagnosis;
mod extension;
#[cfg(test)]
mod fakes;
mod machine;
mod packages;
mod project;
mod stamp;
mod sysroot;
pub(crate) mod target;
mod toolchain;

pub use diagnosis::diagnose;
pub(crate) use extension::{build, test};
pub use target::GuestTarget;
pub use toolchain::{Origin, Toolchain, toolchain};
