//! Shell commands that the user types: `!` tells the model, `!!` does not. They run as those of the `bash` tool do, with the same
//! limits and nothing to read; the permission mode has no say, because a person wrote them.

use super::tail::Followed;
use super::{Next, Repl};
use crate::print::Stop;
use crate::screen::{self, BAD, DIM, visible};
use anyhow::{Context, Result};
use capstan_ports::entry::BashExecution;
use capstan_ports::message::now_ms;
use capstan_tools::{CommandEnd, CommandOutcome, CommandRequest, OutputSink};
use std::sync::{Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// Lines of the end that are shown of output too long to be followed.
const LAST_LINES: usize = 40;

/// A command as it was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Typed<'a> {
    pub(super) command: &'a str,
    /// The model is not to see it.
    pub(super) is_private: bool,
}

/// The shell command in a line, if it is one.
pub(super) fn typed(line: &str) -> Option<Typed<'_>> {
    let rest = line.strip_prefix('!')?;
    let (command, is_private) = match rest.strip_prefix('!') {
        Some(command) => (command, true),
        None => (rest, false),
    };
    let command = command.trim();
    // Exclamation marks alone are something that people say.
    command.contains(|c| c != '!').then_some(Typed { command, is_private })
}

impl Repl {
    /// Runs it and records what came of it. Ctrl-C ends it, with everything that it started.
    pub(super) async fn run_typed(&mut self, typed: Typed<'_>) -> Result<Next> {
        let request = CommandRequest {
            command: typed.command.to_owned(),
            directory: self.home.workspace.clone(),
            timeout: None,
        };
        let (shown, cancel, started) = (Shown::default(), CancellationToken::new(), now_ms());
        let mut stopped = None;
        let run = self.shell.run(request, &shown, &cancel);
        tokio::pin!(run);
        let outcome = loop {
            stopped = Some(tokio::select! {
                outcome = &mut run => break outcome,
                pressed = tokio::signal::ctrl_c() => pressed.map(|()| Stop::Interrupt).context("Ctrl-C cannot be watched")?,
                _ = self.terminate.recv() => Stop::Terminate,
            });
            // It is killed, so what is left to wait for has a limit.
            cancel.cancel();
        };
        match outcome {
            Ok(outcome) => {
                shown.end(&outcome)?;
                let record = record(typed, outcome, started);
                if let Err(error) = self.session.record_bash(record).await {
                    screen::complain(&anyhow::Error::new(error).context("the command is not on record"));
                }
            }
            Err(error) => screen::complain(&anyhow::Error::new(error)),
        }
        Ok(Next::after(stopped))
    }
}

/// The command as the session keeps it.
fn record(typed: Typed<'_>, outcome: CommandOutcome, timestamp: u64) -> BashExecution {
    let CommandOutcome { output, end } = outcome;
    BashExecution {
        command: typed.command.to_owned(),
        output: output.text,
        exit_code: match end {
            CommandEnd::Exited(code) => Some(code),
            CommandEnd::Signalled(_) | CommandEnd::Cancelled | CommandEnd::TimedOut(_) => None,
        },
        cancelled: end == CommandEnd::Cancelled,
        truncated: output.truncation.is_some(),
        full_output_path: output.full_output.map(|path| path.to_string_lossy().into_owned()),
        exclude_from_context: typed.is_private,
        timestamp,
    }
}

/// What of the output is on the screen already.
#[derive(Default)]
struct Shown(Mutex<Followed>);

impl OutputSink for Shown {
    fn output(&self, tail: &str) {
        let mut followed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The last character may be incomplete, and is then another one next time.
        let was_lost = followed.is_lost;
        let text = match followed.take(tail.trim_end_matches('\u{fffd}')) {
            Some(new) => visible(new).into_owned(),
            None if was_lost => return,
            None => format!("\n{DIM}… there is more; its end follows{DIM:#}\n"),
        };
        if let Err(reason) = screen::show(&text) {
            tracing::warn!(%reason, "the screen cannot be written");
        }
    }
}

impl Shown {
    /// The rest of the output, and how the command ended.
    fn end(&self, outcome: &CommandOutcome) -> Result<()> {
        let mut followed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all = outcome.output.text.as_str();
        let rest = followed.take(all).unwrap_or_else(|| last_lines(all));
        let mut text = visible(rest).into_owned();
        if !all.is_empty() && !all.ends_with('\n') {
            text.push('\n');
        }
        if outcome.output.truncation.is_some()
            && let Some(path) = &outcome.output.full_output
        {
            text += &format!("{DIM}all of the output: {}{DIM:#}\n", screen::path(path));
        }
        text += &match outcome.end {
            CommandEnd::Exited(0) => String::new(),
            CommandEnd::Exited(code) => format!("{BAD}exit code {code}{BAD:#}\n"),
            CommandEnd::Signalled(signal) => format!("{BAD}killed by signal {signal}{BAD:#}\n"),
            CommandEnd::Cancelled => format!("{BAD}interrupted{BAD:#}\n"),
            CommandEnd::TimedOut(limit) => format!("{BAD}killed after {} s{BAD:#}\n", limit.as_secs()),
        };
        Ok(screen::show(&text)?)
    }
}

fn last_lines(text: &str) -> &str {
    let before = text.trim_end().rmatch_indices('\n').nth(LAST_LINES - 1);
    before.and_then(|(at, _)| text.get(at + 1..)).unwrap_or(text)
}

#[cfg(test)]
#[path = "shell_tests.rs"]
mod tests;
