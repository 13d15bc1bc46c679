//! What may happen: capabilities, grants, permissions and names, as pure functions over data.
//!
//! Nothing here opens a file or asks a person. The engine takes an [`Effective`] set and builds exactly that world for a
//! guest; the command line reads and writes the [`Grants`] file and asks; both come here for the decision.
//!
//! - [`grant`]: what the user allowed which bytes, and what follows for a file that is found ([`Trust`]).
//! - [`directory`]: which host directory a request means, and which directories no grant can reach.
//! - [`protected`]: which files in a directory a grant to write does not cover.
//! - [`http`]: which requests a grant allows, and which addresses a name may lead to.
//! - [`secret`]: how secrets are named, and how a guest says that it wants one.
//! - [`permission`]: what the built-in tools may do in which mode.
//! - [`program`]: which programs an extension may run, with which arguments.
//! - [`name`]: which tool names are refused.
//! - [`text`]: which characters are shown escaped.

pub mod directory;
pub mod error;
pub mod grant;
pub mod http;
pub mod name;
pub mod permission;
pub mod program;
pub mod protected;
pub mod secret;
pub mod text;

pub use directory::{Places, ResolvedDirectory};
pub use error::PolicyError;
pub use grant::{Effective, ExtensionGrant, Grants, Source, Trust};
pub use http::{HttpRule, HttpRules, Target};
pub use permission::{PermissionMode, Ruling};
pub use secret::SecretBinding;
