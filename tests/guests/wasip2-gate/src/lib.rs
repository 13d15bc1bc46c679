//! The gate of `minimal-gate` in ordinary Rust over WASI: a hash map, whose keys come from the host's random numbers, and the
//! start-up of the C library.

use capstan_sdk::prelude::*;
use std::collections::HashMap;

fn gate(call: &ToolCall, _context: &Context) -> Verdict {
    let blocked = HashMap::from([("minimal-gate-must-block-this", "the call holds the text that this gate blocks")]);
    match blocked.iter().find(|(text, _)| call.arguments.contains(*text)) {
        Some((_, reason)) => Verdict::block(*reason),
        None => Verdict::pass(),
    }
}

capstan_sdk::extension! {
    summary: "Lets every call pass that does not hold one certain text.",
    before_tool_call: hook(gate),
}
