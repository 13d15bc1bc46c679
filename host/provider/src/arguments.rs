//! The end of a tool call's argument text.
//!
//! Nothing is repaired here. A call whose text is no complete JSON object was cut off or garbled, and guessing the rest
//! of a command is how half a command gets executed. The same text always gives the same call.

use capstan_ports::ToolCall;
use serde_json::{Map, Value};

/// Makes the finished call. Text that is empty or `null` stands for no arguments, as several servers write them.
pub(crate) fn finish(id: String, name: String, text: &str) -> ToolCall {
    let (arguments, malformed) = match text.trim() {
        "" | "null" => (Map::new(), None),
        text => match serde_json::from_str::<Map<String, Value>>(text) {
            Ok(arguments) => (arguments, None),
            Err(reason) => {
                tracing::debug!(tool = %name, %reason, "the arguments of a tool call are no JSON object");
                (Map::new(), Some(text.to_owned()))
            }
        },
    };
    ToolCall { id, name, arguments: Value::Object(arguments), malformed }
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
