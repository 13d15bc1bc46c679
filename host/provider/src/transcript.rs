//! What both formats need to write a request down.

use capstan_ports::{AssistantMessage, ModelInfo};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Stands where an image was that the model cannot see (000-103).
pub(crate) const IMAGE_OMITTED: &str = "(image omitted: this model does not accept images)";

/// Stands for a result or message without content; both formats refuse empty ones.
pub(crate) const NO_CONTENT: &str = "(no output)";

/// Whether thinking in `message` may go back: only the model that wrote it can check its signature.
pub(crate) fn is_own(message: &AssistantMessage, info: &ModelInfo) -> bool {
    message.provider == info.provider && message.model == info.id && message.api == info.api
}

/// A temperature as a person writes it: 0.7 must not become 0.699999988079071. `None` for what JSON cannot hold.
pub(crate) fn wire_temperature(temperature: f32) -> Option<Value> {
    temperature.to_string().parse().ok().and_then(serde_json::Number::from_f64).map(Value::Number)
}

/// Call ids as a request can carry them.
///
/// A session may hold ids of several providers, and servers that number their calls anew in each answer. Requests
/// need ids that are unique, short and plain. The same conversation always gets the same ids, so that caches hit.
#[derive(Default)]
pub(crate) struct CallIds {
    taken: HashSet<String>,
    latest: HashMap<String, String>,
}

/// The shortest limit among the services that state one.
const MAX_CALL_ID_BYTES: usize = 40;

impl CallIds {
    /// The id to write for a call.
    pub(crate) fn of_call(&mut self, id: &str) -> String {
        let plain = !id.is_empty()
            && id.len() <= MAX_CALL_ID_BYTES
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        let mut wire = id.to_owned();
        let mut number = self.taken.len();
        while !plain && wire == id || self.taken.contains(&wire) {
            number += 1;
            wire = format!("call_{number}");
        }
        self.taken.insert(wire.clone());
        self.latest.insert(id.to_owned(), wire.clone());
        wire
    }

    /// The id to write for the result of the latest call with this id.
    pub(crate) fn of_result(&self, id: &str) -> String {
        self.latest.get(id).cloned().unwrap_or_else(|| id.to_owned())
    }
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
