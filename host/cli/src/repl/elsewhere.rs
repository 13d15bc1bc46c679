//! Going on elsewhere: with a new session, another one, or a part of this one in a new file.

use super::picker::{self, Item};
use super::{Next, Repl};
use crate::args::ExportFormat;
use crate::home::write_private;
use crate::screen;
use crate::session_command::exported;
use crate::sessions::Kept;
use anyhow::{Context, Result, bail, ensure};
use capstan_policy::text::is_hidden;
use capstan_ports::EntryId;
use capstan_ports::entry::Entry;
use capstan_ports::message::Message;
use std::ffi::OsStr;
use std::sync::Arc;

/// Characters of what was said last that are shown when a session is taken up.
const LAST_SAID: usize = 200;

impl Repl {
    /// `/new`
    pub(super) async fn begin_anew(&mut self) -> Result<()> {
        self.sessions.new_session(None).await?;
        self.say_where();
        Ok(())
    }

    /// `/resume [ID]`
    pub(super) async fn resume(&mut self, wanted: &str) -> Result<Next> {
        let current = self.sessions.path();
        let wanted = match wanted {
            "" => {
                let (root, directory) = (self.home.sessions(), &self.home.workspace);
                let chosen = picker::session(&self.terminal, &root, directory, current.as_deref()).await?;
                let Some(path) = chosen else { return Ok(Next::Line) };
                path.to_str().context("the file's name is no text; give the session's id")?.to_owned()
            }
            wanted => wanted.to_owned(),
        };
        self.sessions.open(&wanted).await?;
        self.say_where();
        Ok(Next::Line)
    }

    /// `/fork [ID]`
    pub(super) async fn fork(&mut self, wanted: &str) -> Result<()> {
        let entry = match wanted {
            "" => match self.choose_prompt().await? {
                Some(entry) => entry,
                None => return Ok(()),
            },
            wanted => self.entry(wanted)?,
        };
        let text = self.sessions.fork(&entry).await?;
        self.say_where();
        self.draft = editable(&text);
        Ok(())
    }

    /// `/clone`
    pub(super) async fn clone_session(&mut self) -> Result<()> {
        self.sessions.clone_current().await?;
        self.say_where();
        Ok(())
    }

    /// `/export FILE`
    pub(super) fn export(&self, file: &str) -> Result<()> {
        ensure!(!file.is_empty(), "a file is needed: its name ends in .md, .html or .json");
        let path = self.home.workspace.join(file);
        let shown = screen::path(&path);
        let format = match path.extension().and_then(OsStr::to_str) {
            Some("md") => ExportFormat::Markdown,
            Some("html" | "htm") => ExportFormat::Html,
            Some("json") => ExportFormat::Json,
            _ => bail!("{shown}: the name has to end in .md, .html or .json"),
        };
        ensure!(!path.exists(), "{shown} is there already; choose another name");
        let Kept::File(session) = self.sessions.current() else {
            bail!("a session that is not kept cannot be exported");
        };
        // For the user alone, as the session itself.
        write_private(&path, &exported(&session, format)?)?;
        screen::note(&format!("capstan: the session is now also in {shown}"));
        Ok(())
    }

    /// Lets the person choose one of their prompts on this branch, the latest first.
    async fn choose_prompt(&self) -> Result<Option<EntryId>> {
        ensure!(self.terminal.is_interactive(), "an entry's id is needed; /tree shows them");
        let prompts = prompts(self.session.log().path(None)?);
        ensure!(!prompts.is_empty(), "nothing was said yet, so there is nothing to fork");
        let items: Vec<_> = prompts
            .iter()
            .map(|(entry, text)| Item { text: text.clone(), about: entry.to_string() })
            .collect();
        let chosen = picker::choose(&self.terminal, &items).await?;
        Ok(chosen.and_then(|at| prompts.get(at)).map(|(entry, _)| entry.clone()))
    }

    /// Says which session it is now, and how far it had come.
    pub(super) fn say_where(&self) {
        let said = self.session.agent().state().messages;
        let name = self
            .session
            .name()
            .map(|name| format!(" “{}”", screen::brief(&name, LAST_SAID)))
            .unwrap_or_default();
        screen::note(&format!("capstan: session {}{name}, {} messages", self.session.id(), said.len()));
        let last = said.iter().rev().map(|message| message.text()).find(|text| !text.trim().is_empty());
        if let Some(last) = last {
            screen::note(&format!("  … {}", screen::brief(&last, LAST_SAID)));
        }
    }
}

/// What the user said on a branch, the latest first.
fn prompts(branch: Vec<Arc<Entry>>) -> Vec<(EntryId, String)> {
    let said = branch.iter().rev().filter_map(|entry| match entry.message()?.as_ref() {
        message @ Message::User(_) => Some((entry.id.clone(), message.text())),
        Message::Assistant(_) | Message::ToolResult(_) | Message::Custom(_) => None,
    });
    said.collect()
}

/// Text of a session as it may stand in the line that is being edited, which is shown as it is. What a terminal would act on
/// and an eye would miss is left out.
pub(super) fn editable(text: &str) -> String {
    text.chars().filter(|c| !is_hidden(*c)).collect()
}

#[cfg(test)]
#[path = "elsewhere_tests.rs"]
mod tests;
