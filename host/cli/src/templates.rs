//! Prompt templates: prompts in files that are called like commands, `/review src/main.rs`.
//!
//! A template is text and nothing else: what it becomes is sent as if the user had typed it.

mod expand;

use crate::reading;
use anyhow::{Result, bail};
pub(crate) use expand::{expand, split, takes_arguments};
use std::collections::BTreeMap;

/// Longest name, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// Characters of a description made from the text.
const DESCRIPTION_CHARS: usize = 60;

/// Whose a template is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The user's, from their configuration.
    User,
    /// The project's, which the user trusts.
    Project,
}

/// One template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    /// What follows the `/`.
    pub(crate) name: String,
    /// One line for people.
    pub(crate) description: String,
    /// Which arguments it takes, for people.
    pub(crate) argument_hint: Option<String>,
    /// Whose it is.
    pub(crate) origin: Origin,
    text: String,
}

/// Templates by name.
#[derive(Debug, Default)]
pub(crate) struct Templates {
    by_name: BTreeMap<String, Template>,
    /// What cannot be used, and why.
    pub(crate) notices: Vec<String>,
}

impl Templates {
    /// From files: whose, name without `.md`, bytes. Of two with one name the first counts, so the user's own come first.
    pub(crate) fn new<'a>(files: impl IntoIterator<Item = (Origin, &'a str, &'a [u8])>) -> Self {
        let mut templates = Self::default();
        for (origin, name, bytes) in files {
            if let Err(reason) = templates.add(origin, name, bytes) {
                templates.notices.push(format!(
                    "the prompt template {}{name}.md is left out: {reason}",
                    origin.possessive()
                ));
            }
        }
        templates
    }

    fn add(&mut self, origin: Origin, name: &str, bytes: &[u8]) -> Result<(), String> {
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
        if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.chars().all(is_name) {
            return Err(format!(
                "its name must be 1 to {MAX_NAME_BYTES} bytes of letters, digits, -, _, . and :"
            ));
        }
        if self.by_name.contains_key(name) {
            return Err(
                "there is one of that name already, and yours stand before those of projects".to_owned()
            );
        }
        let text = reading::text(bytes)?;
        let (head, body) = front_matter(&text);
        let template = Template {
            name: name.to_owned(),
            description: field(head, "description").unwrap_or_else(|| first_line(body)),
            argument_hint: field(head, "argument-hint"),
            origin,
            text: body.to_owned(),
        };
        self.by_name.insert(name.to_owned(), template);
        Ok(())
    }

    /// All, in the order of their names.
    pub(crate) fn list(&self) -> impl Iterator<Item = &Template> {
        self.by_name.values()
    }

    /// What `line` becomes if it calls a template; `None` if it does not. Arguments that the template has no place for follow
    /// its text, so that nothing that was typed is lost.
    pub(crate) fn read(&self, line: &str) -> Option<Result<String>> {
        let (name, arguments) = call(line)?;
        let template = self.by_name.get(name)?;
        Some(template.with(arguments))
    }
}

impl Template {
    fn with(&self, arguments: &str) -> Result<String> {
        let mut text = match expand(&self.text, &split(arguments)) {
            Ok(text) => text,
            Err(reason) => bail!("the prompt template /{} cannot be used so: {reason}", self.name),
        };
        if !takes_arguments(&self.text) && !arguments.is_empty() {
            text.truncate(text.trim_end().len());
            text.push_str("\n\n");
            text.push_str(arguments);
        }
        if text.trim().is_empty() {
            bail!("the prompt template /{} is empty", self.name);
        }
        Ok(text)
    }
}

impl Origin {
    /// For lists.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::User => "template",
            Self::Project => "template of this project",
        }
    }

    fn possessive(self) -> &'static str {
        match self {
            Self::User => "",
            Self::Project => "of this project, ",
        }
    }
}

/// Name and arguments of a line that begins with one `/`.
fn call(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix('/')?;
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    Some((name, arguments.trim()))
}

/// What stands between two lines `---` at the beginning, and the rest. Without both there is only the rest.
fn front_matter(text: &str) -> (&str, &str) {
    let Some(after) = text.strip_prefix("---\n") else { return ("", text) };
    let mut at = 0;
    for line in after.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let (head, rest) = after.split_at(at);
            let body = rest.get(line.len()..).unwrap_or_default();
            return (head, body.trim_start_matches('\n'));
        }
        at += line.len();
    }
    ("", text)
}

/// The value of a key in front matter: plain, in quotes, or the indented lines below it.
fn field(head: &str, key: &str) -> Option<String> {
    let mut lines = head.lines();
    let value =
        lines.find_map(|line| Some(line.strip_prefix(key)?.trim_start().strip_prefix(':')?.trim()))?;
    let value = match value {
        "" | "|" | ">" | "|-" | ">-" => {
            let below = lines.take_while(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty());
            below.map(str::trim).collect::<Vec<_>>().join(" ")
        }
        one => {
            let quoted = ['"', '\''].iter().find_map(|mark| one.strip_prefix(*mark)?.strip_suffix(*mark));
            quoted.unwrap_or(one).to_owned()
        }
    };
    Some(value).filter(|value| !value.is_empty())
}

fn first_line(body: &str) -> String {
    let line = body.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut shown: String = line.chars().take(DESCRIPTION_CHARS).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
#[path = "templates_tests.rs"]
mod tests;
