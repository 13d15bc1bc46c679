//! The least that a tool written with the SDK can be: it answers with the text that it is given, so that the benchmark can tell
//! that it was asked.

use capstan_sdk::prelude::*;

/// Answers with a text.
#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// The text.
    text: String,
}

fn echo(arguments: Arguments, _call: &Call) -> Result<String> {
    Ok(arguments.text)
}

capstan_sdk::extension! {
    summary: "Answers with the text that it is given.",
    tools: [tool("echo", echo)],
}
