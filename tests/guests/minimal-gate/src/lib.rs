//! The least that a gate written with the SDK can be. It looks at the arguments as a gate does, and lets everything pass
//! but one text, so that the benchmark can tell that it was asked.

use capstan_sdk::prelude::*;

fn gate(call: &ToolCall, _context: &Context) -> Verdict {
    if call.arguments.contains("minimal-gate-must-block-this") {
        return Verdict::block("the call holds the text that this gate blocks");
    }
    Verdict::pass()
}

capstan_sdk::extension! {
    summary: "Lets every call pass that does not hold one certain text.",
    before_tool_call: hook(gate),
}
