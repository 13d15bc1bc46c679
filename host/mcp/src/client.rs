//! Other servers, as a source of tools.
//!
//! [`Servers`] starts what the user configured ([`Server`]) and offers what the user allowed ([`Approvals`]) as
//! [`Tool`](capstan_ports::Tool)s. A server is code with the user's rights, and its words go to a model: so it starts with an almost
//! empty environment, what it sends is bounded, every call has an end, and a tool whose description changes is off until the user has
//! seen the change.

mod approval;
mod bounded;
mod call;
mod connection;
mod definition;
mod handler;
mod naming;
mod outcome;
mod probe;
mod process;
mod remote;
mod servers;
mod settings;
mod tool;

pub use approval::{Approvals, ApprovalsError, Standing};
pub use connection::About;
pub use definition::LeftOut;
pub use servers::{Look, Seen, Servers};
pub use settings::{Program, Reach, Server, ServerName, ServerSettings, SettingsError, Url};
