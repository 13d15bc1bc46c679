//! Slash commands: which there are, and what a line means.

use crate::builtin::{self, BUILT_IN, BuiltIn};
use crate::catalog::Catalog;
use crate::screen::{BOLD, DIM, visible};
use crate::templates::{Template, Templates};
use anyhow::Result;
use capstan_ports::CommandPort;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What else a line can be, for the end of the list.
const OTHER_LINES: &str = "  !COMMAND runs a shell command and tells the model, !!COMMAND does not tell it; a line that begins with // is a \
                           message that begins with /; \\ at its end continues a line.\n";

/// The commands in force.
#[derive(Default)]
pub(crate) struct Commands {
    by_name: BTreeMap<String, Arc<dyn CommandPort>>,
    /// Those that have a command's name are never asked.
    templates: Arc<Templates>,
    /// What the user should know about commands that are not in force.
    pub(crate) notices: Vec<String>,
}

/// What a line means.
pub(crate) enum Input<'a> {
    /// Something for the model: as it was typed, or what a template became.
    Message(Cow<'a, str>),
    /// A template that cannot be used so.
    Refused(anyhow::Error),
    /// A command and the rest of the line.
    Command(Arc<dyn CommandPort>, &'a str),
    /// A command of the program itself and the rest of the line.
    BuiltIn(BuiltIn, &'a str),
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
                (own, _, _) if builtin::named(own).is_some() => res.notices.push(format!(
                    "the command /{own} is the host's own; that of {} is not used",
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

    /// The same with templates. A command stands before a template of its name.
    pub(crate) fn with_templates(mut self, templates: Arc<Templates>) -> Self {
        for Template { name, .. } in templates.list() {
            if self.is_command(name) {
                let owner = self.by_name.get(name).map_or("the host", |command| command.owner());
                self.notices.push(format!(
                    "the prompt template /{name} is not used, because {owner} has a command of that name; rename {name}.md"
                ));
            }
        }
        self.templates = templates;
        self
    }

    /// What a prompt from elsewhere than the keyboard becomes: the text of a template that it calls, or else itself.
    ///
    /// # Errors
    /// When it calls a template that cannot be used so.
    pub(crate) fn expand(&self, prompt: String) -> Result<String> {
        self.template(&prompt).unwrap_or(Ok(prompt))
    }

    /// The templates that can be called.
    pub(crate) fn templates(&self) -> impl Iterator<Item = &Template> {
        self.templates.list().filter(|template| !self.is_command(&template.name))
    }

    fn template(&self, line: &str) -> Option<Result<String>> {
        let name = line.strip_prefix('/')?.split(char::is_whitespace).next()?;
        if self.is_command(name) { None } else { self.templates.read(line) }
    }

    fn is_command(&self, name: &str) -> bool {
        builtin::named(name).is_some() || self.by_name.contains_key(name)
    }

    /// What `line` means. `//` at its beginning stands for a message that begins with one `/`.
    pub(crate) fn read<'a>(&self, line: &'a str) -> Input<'a> {
        let Some(rest) = line.strip_prefix('/') else { return Input::Message(line.into()) };
        if rest.starts_with('/') {
            return Input::Message(rest.into());
        }
        match self.template(line) {
            Some(Ok(text)) => return Input::Message(text.into()),
            Some(Err(error)) => return Input::Refused(error),
            None => {}
        }
        let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        match (builtin::named(name), self.by_name.get(name)) {
            (Some(known), _) => Input::BuiltIn(known.command, arguments.trim()),
            (None, Some(command)) => Input::Command(command.clone(), arguments.trim()),
            (None, None) => Input::Unknown(name),
        }
    }

    /// All names, those of the program first.
    pub(crate) fn names(&self) -> Vec<String> {
        let own = BUILT_IN.iter().map(|known| known.name.to_owned());
        let templates = self.templates().map(|template| template.name.clone());
        own.chain(self.by_name.keys().cloned()).chain(templates).collect()
    }

    /// One line a command or template.
    pub(crate) fn list(&self) -> String {
        let own = BUILT_IN.iter().map(|known| (usage(known), known.description, "capstan"));
        let others = self
            .by_name
            .values()
            .map(|command| (command.name().to_owned(), command.description(), command.owner()));
        let templates = self.templates().map(|template| {
            let hint = template.argument_hint.as_ref().map(|hint| format!(" {hint}")).unwrap_or_default();
            (format!("{}{hint}", template.name), &*template.description, template.origin.label())
        });
        let all: Vec<_> = own.chain(others).chain(templates).collect();
        let width = all.iter().map(|(name, _, _)| name.chars().count()).max().unwrap_or(0);
        all.iter()
            .map(|(name, description, owner)| {
                let (name, description) = (visible(name), visible(description));
                format!("  {BOLD}/{name:width$}{BOLD:#}  {description} {DIM}({owner}){DIM:#}\n")
            })
            .chain([OTHER_LINES.to_owned()])
            .collect()
    }
}

fn usage(known: &builtin::Known) -> String {
    format!("{} {}", known.name, known.arguments).trim_end().to_owned()
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
