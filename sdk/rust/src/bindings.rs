//! The contract as `wit-bindgen` generates it. `sdk/rust/bindgen` writes the files below this module; the SDK's own
//! modules re-export what authors need under shorter names.
#![allow(
    missing_docs,
    unsafe_code,
    unreachable_pub,
    clippy::panic,
    clippy::unwrap_used,
    clippy::allow_attributes_without_reason,
    reason = "generated code; its safety rests on the canonical ABI, which the host checks on the other side"
)]

#[rustfmt::skip]
pub mod contract;
#[rustfmt::skip]
pub mod sections;
