//! Facts of running sessions, kept in memory: what an extension or the program around the agent sets, the model reads at the end
//! of its system prompt.

use async_trait::async_trait;
use capstan_ports::memory::MemoryError;
use capstan_ports::{SessionId, SessionMemoryPort};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

/// Bytes of all keys and values of one session. They are part of every request, and 16 KiB are some 4,000 tokens.
pub const MAX_FACT_BYTES: usize = 16 << 10;

/// Longest key, in bytes.
const MAX_KEY_BYTES: usize = 256;

/// The facts of all sessions of a process. They end with it.
#[derive(Debug, Default)]
pub struct SessionFacts {
    sessions: Mutex<HashMap<SessionId, BTreeMap<String, String>>>,
}

impl SessionFacts {
    fn with<T>(&self, session: &SessionId, work: impl FnOnce(&mut BTreeMap<String, String>) -> T) -> T {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        work(sessions.entry(session.clone()).or_default())
    }

    /// Forgets a session.
    pub fn end(&self, session: &SessionId) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
    }
}

fn refused(message: String) -> MemoryError {
    MemoryError::Store { message, source: None }
}

#[async_trait]
impl SessionMemoryPort for SessionFacts {
    async fn get(&self, session: &SessionId, key: &str) -> Result<Option<String>, MemoryError> {
        Ok(self.with(session, |facts| facts.get(key).cloned()))
    }

    async fn set(&self, session: &SessionId, key: &str, value: &str) -> Result<(), MemoryError> {
        check_fact(key)?;
        self.with(session, |facts| {
            let there = facts.iter().map(|(key, value)| (key.as_str(), value.as_str()));
            check_room(there, key, value)?;
            facts.insert(key.to_owned(), value.to_owned());
            Ok(())
        })
    }

    async fn remove(&self, session: &SessionId, key: &str) -> Result<(), MemoryError> {
        self.with(session, |facts| facts.remove(key));
        Ok(())
    }

    async fn snapshot(&self, session: &SessionId) -> Result<String, MemoryError> {
        Ok(self.with(session, |facts| snapshot_text(facts)))
    }
}

/// Whether a fact may have this key.
///
/// # Errors
/// [`MemoryError::Store`] for one that is empty or has more than 256 bytes.
pub fn check_fact(key: &str) -> Result<(), MemoryError> {
    let length = key.len();
    if key.is_empty() || length > MAX_KEY_BYTES {
        return Err(refused(format!("a key must have 1 to {MAX_KEY_BYTES} bytes, this one has {length}")));
    }
    Ok(())
}

/// Whether a fact has room beside those that are there, in place of the one with its key.
///
/// # Errors
/// [`MemoryError::Store`] when all together would take more than [`MAX_FACT_BYTES`].
pub fn check_room<'a>(
    there: impl Iterator<Item = (&'a str, &'a str)>,
    key: &str,
    value: &str,
) -> Result<(), MemoryError> {
    let others = there.filter(|(other, _)| *other != key);
    let taken: usize = others.map(|(key, value)| key.len() + value.len()).sum();
    if taken + key.len() + value.len() > MAX_FACT_BYTES {
        return Err(refused(format!(
            "the session's facts may take {MAX_FACT_BYTES} bytes, because every request holds them; remove some"
        )));
    }
    Ok(())
}

/// The block that the prompt shows: empty for no facts, else a line `key: value` for each between `<session-context>` and
/// `</session-context>`. The order of the keys makes it the same for the same facts, whoever set them first; no fact can close
/// the block or begin a line.
pub fn snapshot_text<K: AsRef<str>, V: AsRef<str>>(facts: &BTreeMap<K, V>) -> String {
    if facts.is_empty() {
        return String::new();
    }
    let mut text = String::from("<session-context>\n");
    for (key, value) in facts {
        escape(&mut text, key.as_ref());
        text.push_str(": ");
        escape(&mut text, value.as_ref());
        text.push('\n');
    }
    text.push_str("</session-context>");
    text
}

/// A fact stays on its line and inside its tag: it is written by extensions, and the prompt is where the user's rules stand
/// (004-066).
fn escape(text: &mut String, fact: &str) {
    for c in fact.chars() {
        match c {
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '&' => text.push_str("&amp;"),
            '\t' => text.push(' '),
            '\n' => text.push_str("\\n"),
            c if capstan_policy::text::is_hidden(c) => text.extend(c.escape_unicode()),
            c => text.push(c),
        }
    }
}

#[cfg(test)]
#[path = "session_memory_tests.rs"]
mod tests;
