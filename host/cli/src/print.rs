//! `capstan -p`: one prompt, the final text on stdout.

use crate::args::Args;
use crate::compose::{self, Plan};
use crate::explain::Explanations;
use crate::loader::Loader;
use crate::screen;
use crate::sessions::Which;
use crate::start::Start;
use anyhow::{Context, Result};
use capstan_agent::{AgentError, AgentSession};
use capstan_policy::PermissionMode;
use capstan_ports::message::{AssistantMessage, Message, StopReason};
use futures::{Stream, StreamExt, stream};
use std::io::{IsTerminal, Read};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How long the end of the program waits for observers that have not seen the last events yet. They run beside the turn, so
/// this is the only place where one is waited for.
const OBSERVERS_MAY_TAKE: Duration = Duration::from_secs(2);

/// Runs the prompt and prints the last answer.
pub(crate) async fn run(args: Args) -> Result<ExitCode> {
    let prompt = prompt(&args)?;
    let Start { home, which } = Start::of(&args.session)?;
    let composed = compose::session(&home, &args.setup, plan(which)).await?;
    let prompt = composed.live.commands().current().expand(prompt)?;
    let explanations = Explanations::of(&home, &composed);
    let turn = turn(&composed.session, prompt).await;
    let turn = kept(&explanations, turn)?;
    if let Some(answer) = &turn.answer {
        let text = answer.text();
        if !text.is_empty() {
            // In a pipe the answer is data. On a terminal it is shown, and a model's text must not steer the terminal.
            let shown =
                if std::io::stdout().is_terminal() { screen::visible(&text) } else { text.as_str().into() };
            screen::data(&format!("{shown}\n"))?;
        }
    }
    composed.finish(&home).await;
    Ok(turn.exit_code())
}

/// A turn, with what its hooks did on record, however it ended.
pub(crate) fn kept(explanations: &Explanations, turn: Result<Turn>) -> Result<Turn> {
    explanations.keep();
    turn
}

/// Closes the session, and tells the user what is left open in it.
pub(crate) async fn finish(session: &AgentSession) {
    for deferred in session.deferred() {
        screen::note(&format!(
            "capstan: a call of {} waits for your answer ({}); go on with: capstan --continue",
            screen::visible(&deferred.call.name),
            screen::brief(&deferred.reason, 200)
        ));
    }
    if let Err(error) = session.dispose().await {
        screen::complain(&error.into());
    }
    session.flush_observers(OBSERVERS_MAY_TAKE).await;
}

/// How a turn ended.
pub(crate) struct Turn {
    answer: Option<AssistantMessage>,
    stopped: Option<Stop>,
    /// It was left while it was still being stopped.
    is_left: bool,
}

/// Who ended a turn early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Ctrl-C: this turn is to end.
    Interrupt,
    /// SIGTERM: the program is to end.
    Terminate,
}

impl Stop {
    /// As shells count it: 128 and the number of the signal.
    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
        })
    }
}

impl Turn {
    /// Puts a failure on stderr.
    pub(crate) fn report(&self) {
        // The code is for the shell; a session goes on whatever it is.
        let _code = self.exit_code();
    }

    /// Whether the program was told to end during the turn.
    pub(crate) fn is_last(&self) -> bool {
        self.stopped == Some(Stop::Terminate)
    }

    /// Whether somebody did not want to wait until it had stopped. The program is to end at once then.
    pub(crate) fn is_left(&self) -> bool {
        self.is_left
    }

    /// 0 for an answer, 1 for a failure, which is put on stderr, 130 after Ctrl-C, 143 after SIGTERM.
    pub(crate) fn exit_code(&self) -> ExitCode {
        if let Some(stop) = self.stopped {
            screen::note("capstan: interrupted; the session is kept");
            return stop.exit_code();
        }
        match &self.answer {
            Some(answer) if matches!(answer.stop_reason, StopReason::Error | StopReason::Aborted) => {
                let reason =
                    answer.error_message.clone().unwrap_or_else(|| "the model did not answer".to_owned());
                screen::complain(&anyhow::Error::msg(reason));
                ExitCode::FAILURE
            }
            Some(_) => ExitCode::SUCCESS,
            None => {
                screen::note("capstan: the turn ended without an answer");
                ExitCode::FAILURE
            }
        }
    }
}

/// SIGTERM, once it is watched no longer the end of the process.
pub(crate) fn terminate() -> Result<Signal> {
    signal(SignalKind::terminate()).context("SIGTERM cannot be watched")
}

/// Runs one turn; Ctrl-C and SIGTERM end it in good order, so that the session holds what was done. A second one does not
/// wait for what holds the first one up; the session then mends at the next start.
pub(crate) async fn turn(session: &AgentSession, prompt: String) -> Result<Turn> {
    drive(session, session.prompt_text(prompt)).await
}

/// The same for any run of the session.
pub(crate) async fn drive(
    session: &AgentSession,
    run: impl Future<Output = Result<Vec<Arc<Message>>, AgentError>>,
) -> Result<Turn> {
    until_stopped(run, || session.agent().abort(), stops()?).await
}

/// What somebody presses or sends to end something, one after another.
pub(crate) fn stops() -> Result<impl Stream<Item = Result<Stop>>> {
    Ok(stream::unfold(terminate()?, async |mut terminate| {
        let stop = tokio::select! {
            pressed = tokio::signal::ctrl_c() => pressed.map(|()| Stop::Interrupt).context("Ctrl-C cannot be watched"),
            _ = terminate.recv() => Ok(Stop::Terminate),
        };
        Some((stop, terminate))
    }))
}

/// Waits for the run. At the first of the stops the run is aborted and waited for further; at the second it is left.
async fn until_stopped(
    run: impl Future<Output = Result<Vec<Arc<Message>>, AgentError>>,
    abort: impl Fn(),
    stops: impl Stream<Item = Result<Stop>>,
) -> Result<Turn> {
    tokio::pin!(stops);
    tokio::pin!(run);
    let mut stopped = None;
    let messages = loop {
        let stop = tokio::select! {
            messages = &mut run => break messages?,
            Some(stop) = stops.next() => stop?,
        };
        if stopped.is_some() {
            return Ok(Turn { answer: None, stopped: Some(stop), is_left: true });
        }
        stopped = Some(stop);
        abort();
    };
    let answer = messages.iter().rev().find_map(|message| match &**message {
        Message::Assistant(answer) => Some(answer.clone()),
        Message::User(_) | Message::ToolResult(_) | Message::Custom(_) => None,
    });
    Ok(Turn { answer, stopped, is_left: false })
}

/// Nobody can be asked, so what would need an answer is denied.
pub(crate) fn plan(which: Which) -> Plan {
    Plan { which, default_mode: PermissionMode::ReadOnly, person: None, loader: Loader::default() }
}

/// The prompt, from the flag or from stdin.
pub(crate) fn prompt(args: &Args) -> Result<String> {
    let given = args.print.clone().unwrap_or_default();
    let prompt = match given.as_str() {
        "-" => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .context("the prompt on stdin is not readable as UTF-8 text")?;
            text
        }
        _ => given,
    };
    anyhow::ensure!(!prompt.trim().is_empty(), "the prompt is empty");
    Ok(prompt)
}

#[cfg(test)]
#[path = "print_tests.rs"]
mod tests;
