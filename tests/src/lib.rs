//! The harness of the whole-product suites: guests made in the test, and places for the product to live in.

pub mod bomb;
pub mod composed;
pub mod conversation;
pub mod endpoint;
pub mod guest;
pub mod guide;
pub mod invariant;
pub mod logged;
pub mod mcp;
pub mod mcp_client;
pub mod node;
pub mod probe;
pub mod product;
pub mod python;

pub mod rpc_client;
pub mod sandboxed;
pub mod services;
pub mod site;
pub mod terminal;
