//! `capstan session …`: sessions that were kept, for reading.
//!
//! Nothing here takes a session's lock or changes a file, so all of it works while another process goes on with the session.
//! [`speech`] says what of an entry is said by whom; [`show`], [`markdown`] and [`html`] write it down.

pub(crate) mod html;

pub(crate) mod list;
mod markdown;
mod prose;
mod show;
pub(crate) mod speech;
mod tree;

use crate::args::{ExportFormat, ExportOptions, SessionCommand, ShowOptions};
use crate::home::{Home, write_private};
use crate::screen;
use crate::sessions;
use anyhow::{Context, Result};
use capstan_ports::SessionLog;
use capstan_ports::entry::Entry;
use capstan_session::SessionFile;
use std::collections::HashSet;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// Runs one of the commands.
pub(crate) fn run(command: SessionCommand) -> Result<ExitCode> {
    let home = Home::find()?;
    match command {
        SessionCommand::List { all, json } => list::run(&home, all, json)?,
        SessionCommand::Tree { session, json } => {
            let session = open(&home, session.as_deref())?;
            if json { data(&tree::json(&session)?)? } else { screen::show(&tree::text(&session)?)? }
        }
        SessionCommand::Show(options) => said(&home, &options)?,
        SessionCommand::Export(options) => export(&home, &options)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn said(home: &Home, options: &ShowOptions) -> Result<()> {
    let session = open(home, options.session.as_deref())?;
    let entry = options.entry.as_ref().map(|id| sessions::entry(&session, id)).transpose()?;
    let branch = SessionLog::path(&session, entry.as_ref())?;
    if options.json {
        return data(&lines_of(&session, &branch)?);
    }
    Ok(screen::show(&show::text(&session.header(), &branch, show::Length::of(options.full)))?)
}

fn export(home: &Home, options: &ExportOptions) -> Result<()> {
    let session = open(home, options.session.as_deref())?;
    let text = exported(&session, options.format)?;
    let Some(out) = &options.out else { return data(&text) };
    // For the user alone, as the session itself: it quotes whatever the tools read.
    write_private(out, &text)?;
    screen::note(&format!("capstan: the session is now also in {}", screen::path(out)));
    Ok(())
}

/// A session in another form.
///
/// # Errors
/// When its entries cannot be read.
pub(crate) fn exported(session: &SessionFile, format: ExportFormat) -> Result<String> {
    let header = session.header();
    Ok(match format {
        ExportFormat::Json => {
            let entries = lines_of(session, &session.entries())?;
            format!("{{\"header\":{},\"entries\":{}}}\n", header.to_line()?, entries.trim_end())
        }
        ExportFormat::Markdown => markdown::render(&header, &SessionLog::path(session, None)?),
        ExportFormat::Html => html::render(&header, &SessionLog::path(session, None)?),
    })
}

/// The session that is meant, and what is wrong with it on stderr.
fn open(home: &Home, name: Option<&str>) -> Result<SessionFile> {
    let session = SessionFile::open_read_only(&path_of(home, name)?)?;
    for notice in session.notices() {
        screen::note(&format!("capstan: {}: {notice}", screen::path(session.path())));
    }
    Ok(session)
}

fn path_of(home: &Home, name: Option<&str>) -> Result<PathBuf> {
    if let Some(name) = name {
        return sessions::find(home, name);
    }
    let search = capstan_session::latest_in(&home.sessions(), &home.workspace);
    search.found.with_context(|| {
        let skipped: String = search
            .skipped
            .iter()
            .map(|skipped| format!("\n{} was passed over: {}", skipped.path.display(), skipped.reason))
            .collect();
        format!(
            "there is no session of {}; name one, or see them all with: capstan session list --all{skipped}",
            home.workspace.display()
        )
    })
}

/// The lines of these entries as a JSON array.
fn lines_of(session: &SessionFile, wanted: &[Arc<Entry>]) -> Result<String> {
    let wanted: HashSet<_> = wanted.iter().map(|entry| &entry.id).collect();
    let lines: Vec<_> = session
        .entries()
        .iter()
        .zip(session.lines()?)
        .filter(|(entry, _)| wanted.contains(&entry.id))
        .map(|(_, line)| line)
        .collect();
    Ok(format!("[\n{}\n]\n", lines.join(",\n")))
}

/// Writes data to stdout. On a terminal it is shown, and what models and tools said must not steer the terminal.
fn data(text: &str) -> Result<()> {
    let shown = if std::io::stdout().is_terminal() { screen::visible(text) } else { text.into() };
    screen::data(&shown)?;
    Ok(())
}
