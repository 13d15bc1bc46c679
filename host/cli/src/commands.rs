//! Slash commands: which there are, and what a line means.

use crate::catalog::Catalog;
use crate::screen::{BOLD, DIM, visible};
use capstan_ports::CommandPort;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The host's own.
const HELP: &str = "help";

/// The commands in force.
#[derive(Default)]
pub(crate) struct Commands {
    by_name: BTreeMap<String, Arc<dyn CommandPort>>,
    /// What the user should know about commands that are not in force.
    pub(crate) notices: Vec<String>,
}

/// What a line means.
pub(crate) enum Input<'a> {
    /// Something for the model.
    Message(&'a str),
    /// A command and the rest of the line.
    Command(Arc<dyn CommandPort>, &'a str),
    /// The list of commands is asked for.
    Help,
    /// There is no such command.
    Unknown(&'a str),
}

impl Commands {
    /// Those of all extensions in force.
    pub(crate) fn of(catalog: &Catalog) -> Self {
        Self::new(catalog.active.iter().flat_map(capstan_engine::Extension::commands))
    }

    /// These. Load order never decides, so a name that two want is nobody's.
    pub(crate) fn new(commands: impl IntoIterator<Item = Arc<dyn CommandPort>>) -> Self {
        let mut wanted: BTreeMap<String, Vec<Arc<dyn CommandPort>>> = BTreeMap::new();
        for command in commands {
            wanted.entry(command.name().to_owned()).or_default().push(command);
        }
        let mut res = Self::default();
        for (name, mut claims) in wanted {
            let owners: Vec<_> = claims.iter().map(|command| command.owner().to_owned()).collect();
            match (name.as_str(), claims.pop(), claims.is_empty()) {
                (HELP, _, _) => res.notices.push(format!(
                    "the command /{HELP} is the host's own; that of {} is not used",
                    owners.join(" and ")
                )),
                (_, Some(command), true) => {
                    res.by_name.insert(name, command);
                }
                _ => res.notices.push(format!(
                    "the command /{name} is offered by {} and not used; revoke all but one of them",
                    owners.join(" and ")
                )),
            }
        }
        res
    }

    /// Those in force, by name.
    pub(crate) fn all(&self) -> impl Iterator<Item = &dyn CommandPort> {
        self.by_name.values().map(|command| &**command)
    }

    /// What `line` means. `//` at its beginning stands for a message that begins with one `/`.
    pub(crate) fn read<'a>(&self, line: &'a str) -> Input<'a> {
        let Some(rest) = line.strip_prefix('/') else { return Input::Message(line) };
        if rest.starts_with('/') {
            return Input::Message(rest);
        }
        let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        match (self.by_name.get(name), name) {
            (Some(command), _) => Input::Command(command.clone(), arguments.trim()),
            (None, HELP) => Input::Help,
            (None, _) => Input::Unknown(name),
        }
    }

    /// One line a command.
    pub(crate) fn list(&self) -> String {
        let own =
            (HELP, "Shows this list. A line that begins with // is a message that begins with /.", "capstan");
        let others =
            self.by_name.values().map(|command| (command.name(), command.description(), command.owner()));
        let all: Vec<_> = std::iter::once(own).chain(others).collect();
        let width = all.iter().map(|(name, _, _)| name.len()).max().unwrap_or(0);
        all.iter()
            .map(|(name, description, owner)| {
                format!("  {BOLD}/{name:width$}{BOLD:#}  {} {DIM}({owner}){DIM:#}\n", visible(description))
            })
            .collect()
    }
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
