//! Which files the summarized part was about. Models forget names in summaries, so they are listed apart.

use capstan_ports::{Message, ToolCall};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

const READ: &str = "read-files";
const MODIFIED: &str = "modified-files";

/// Files that were read and files that were changed.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Files {
    read: BTreeSet<String>,
    modified: BTreeSet<String>,
}

impl Files {
    /// Notes what the calls in these messages were about.
    pub(crate) fn note(&mut self, messages: &[Arc<Message>]) {
        for message in messages {
            if let Message::Assistant(answer) = message.as_ref() {
                answer.tool_calls().for_each(|call| self.note_call(call));
            }
        }
    }

    fn note_call(&mut self, call: &ToolCall) {
        let Some(path) = call.arguments.get("path").and_then(Value::as_str) else { return };
        match call.name.as_str() {
            "read" => self.read.insert(path.to_owned()),
            "write" | "edit" => self.modified.insert(path.to_owned()),
            _ => false,
        };
    }

    /// Takes over what an earlier compaction noted.
    pub(crate) fn carry(&mut self, details: &Value) {
        let paths = |key: &str| {
            let listed = details.get(key).and_then(Value::as_array).into_iter().flatten();
            listed.filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
        };
        self.read.extend(paths("readFiles"));
        self.modified.extend(paths("modifiedFiles"));
    }

    /// Takes the lists at the end of an earlier summary over, and returns the summary without them.
    pub(crate) fn carry_text<'a>(&mut self, summary: &'a str) -> &'a str {
        let mut rest = summary.trim_end();
        for (tag, into) in [(MODIFIED, &mut self.modified), (READ, &mut self.read)] {
            let Some(listed) = rest.strip_suffix(&format!("</{tag}>")) else { continue };
            let Some((before, names)) = listed.rsplit_once(&format!("<{tag}>")) else { continue };
            into.extend(names.lines().map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned));
            rest = before.trim_end();
        }
        rest
    }

    /// As they stand at the end of a summary. A file that was changed is not listed as read.
    pub(crate) fn tags(&self) -> String {
        let list = |tag: &str, names: Vec<&str>| match names.is_empty() {
            true => String::new(),
            false => format!("\n\n<{tag}>\n{}\n</{tag}>", names.join("\n")),
        };
        list(READ, self.only_read()) + &list(MODIFIED, self.modified.iter().map(String::as_str).collect())
    }

    /// As the entry keeps them for the next time.
    pub(crate) fn details(&self) -> Value {
        json!({ "readFiles": self.only_read(), "modifiedFiles": self.modified })
    }

    fn only_read(&self) -> Vec<&str> {
        self.read.difference(&self.modified).map(String::as_str).collect()
    }
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
