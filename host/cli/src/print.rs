//! `capstan -p`: one prompt, the final text on stdout.

use crate::args::Args;
use crate::compose::{self, Plan, Which};
use crate::home::Home;
use crate::{INTERRUPTED, screen};
use anyhow::{Context, Result};
use capstan_agent::AgentSession;
use capstan_policy::PermissionMode;
use capstan_ports::message::{AssistantMessage, Message, StopReason};
use std::io::Read;
use std::process::ExitCode;

/// Runs the prompt and prints the last answer.
pub(crate) async fn run(args: Args) -> Result<ExitCode> {
    let prompt = prompt(&args)?;
    let composed = compose::session(&Home::find()?, &args.setup, plan(&args)).await?;
    let turn = turn(&composed.session, prompt).await?;
    if let Some(answer) = &turn.answer {
        let text = answer.text();
        if !text.is_empty() {
            screen::data(&format!("{text}\n"))?;
        }
    }
    Ok(turn.exit_code())
}

/// How a turn ended.
pub(crate) struct Turn {
    answer: Option<AssistantMessage>,
    interrupted: bool,
}

impl Turn {
    /// Puts a failure on stderr.
    pub(crate) fn report(&self) {
        // The code is for the shell; a session goes on whatever it is.
        let _code = self.exit_code();
    }

    /// 0 for an answer, 1 for a failure, which is put on stderr, 130 after Ctrl-C.
    pub(crate) fn exit_code(&self) -> ExitCode {
        if self.interrupted {
            screen::note("capstan: interrupted; the session is kept");
            return ExitCode::from(INTERRUPTED);
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

/// Runs one turn; Ctrl-C and SIGTERM end it in good order, so that the session holds what was done.
pub(crate) async fn turn(session: &AgentSession, prompt: String) -> Result<Turn> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
        .context("SIGTERM cannot be watched")?;
    let run = session.prompt_text(prompt);
    tokio::pin!(run);
    let mut interrupted = false;
    let messages = loop {
        tokio::select! {
            messages = &mut run => break messages?,
            pressed = tokio::signal::ctrl_c(), if !interrupted => pressed.context("Ctrl-C cannot be watched")?,
            _ = terminate.recv(), if !interrupted => {}
        }
        interrupted = true;
        session.agent().abort();
    };
    let answer = messages.iter().rev().find_map(|message| match &**message {
        Message::Assistant(answer) => Some(answer.clone()),
        Message::User(_) | Message::ToolResult(_) => None,
    });
    Ok(Turn { answer, interrupted })
}

/// Nobody can be asked, so what would need an answer is denied.
pub(crate) fn plan(args: &Args) -> Plan {
    Plan { which: which(args), default_mode: PermissionMode::ReadOnly, person: None }
}

/// Which session the flags mean.
pub(crate) fn which(args: &Args) -> Which {
    match (args.no_session, args.resume) {
        (true, _) => Which::Unkept,
        (false, true) => Which::Last,
        (false, false) => Which::New,
    }
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
