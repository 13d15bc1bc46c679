//! The commands of the program itself: who does what.

use super::{Next, Repl};
use crate::builtin::BuiltIn;
use crate::screen::{self, BOLD, DIM, GOOD, WARN, visible};
use crate::sessions;
use anyhow::{Result, ensure};
use capstan_ports::EntryId;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::PoisonError;

impl Repl {
    /// Does what a command says. A failure is shown and costs nothing else.
    pub(super) async fn own(&mut self, command: BuiltIn, arguments: &str) -> Result<Next> {
        match self.follow(command, arguments).await {
            Ok(next) => Ok(next),
            Err(error) => {
                screen::complain(&error);
                Ok(Next::Line)
            }
        }
    }

    async fn follow(&mut self, command: BuiltIn, arguments: &str) -> Result<Next> {
        match command {
            BuiltIn::Help => screen::show(&self.commands.current().list())?,
            BuiltIn::Session => self.show_session()?,
            BuiltIn::Name => self.name(arguments).await?,
            BuiltIn::Label => self.label(arguments).await?,
            BuiltIn::Model => self.model(arguments).await?,
            BuiltIn::Thinking => self.thinking(arguments).await?,
            BuiltIn::Ext => screen::show(&self.extensions()?)?,
            BuiltIn::Quit => return Ok(Next::Leave(ExitCode::SUCCESS)),
            BuiltIn::New => self.begin_anew().await?,
            BuiltIn::Resume => return self.resume(arguments).await,
            BuiltIn::Fork => self.fork(arguments).await?,
            BuiltIn::Clone => self.clone_session().await?,
            BuiltIn::Tree => self.tree()?,
            BuiltIn::Goto => return self.go_to(arguments).await,
            BuiltIn::Compact => return self.compact(arguments).await,
            BuiltIn::Export => self.export(arguments)?,
        }
        Ok(Next::Line)
    }

    /// One line an extension, those in force first.
    fn extensions(&self) -> Result<String> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let absent = self.absent.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if running.is_empty() && absent.is_empty() {
            return Ok(format!(
                "There are no extensions; they go into {}\n",
                screen::path(&self.home.extensions())
            ));
        }
        let mut out = String::new();
        for extension in &running {
            let (id, version) = (extension.id().to_string(), &extension.descriptor().version);
            writeln!(
                out,
                "  {BOLD}{}{BOLD:#}  {GOOD}active{GOOD:#}  {DIM}{}{DIM:#}",
                visible(&id),
                visible(version)
            )?;
        }
        for other in &absent {
            let (name, state) = (visible(&other.name), visible(&other.state));
            writeln!(
                out,
                "  {BOLD}{name}{BOLD:#}  {WARN}{state}{WARN:#}  {DIM}{}{DIM:#}",
                visible(&other.reason)
            )?;
        }
        Ok(out)
    }

    /// The entry that is meant by an id or its beginning.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub(super) fn entry(&self, id: &str) -> Result<EntryId> {
        ensure!(!id.is_empty(), "an entry's id is needed; /tree shows them");
        sessions::entry(self.session.log().as_ref(), id)
    }
}

/// A word and what follows it.
pub(super) fn first_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim())
}
