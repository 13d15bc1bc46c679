//! The Model Context Protocol, both ways.
//!
//! [`client`] makes the tools of other servers [`Tool`](capstan_ports::Tool)s of this host; [`server`] offers tools of this
//! host to other clients. Messages, transports and protocol revisions are those of `rmcp`, the protocol's own SDK; what is
//! here decides what of them may pass.

pub mod client;
pub mod server;
