//! The harness of the whole-product suites: guests made in the test, and places for the product to live in.

pub mod guest;
pub mod sandboxed;
