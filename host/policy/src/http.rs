//! Outgoing HTTP of extensions: which requests a grant allows, and which addresses a name may lead to.
//!
//! Everything is compared in one canonical form ([`Target`], [`EndpointPattern`]): lower case, ASCII, no trailing dot, the port
//! written out. What has no canonical form is refused, not guessed at.

pub mod address;
pub mod pattern;
pub mod rule;
pub mod target;

pub use address::{AddressClass, classify};
pub use pattern::{EndpointPattern, InvalidPattern};
pub use rule::{Allowed, HttpRule, HttpRules, InvalidMethod, InvalidRule, Refusal};
pub use target::{Host, InvalidTarget, Scheme, Target};
