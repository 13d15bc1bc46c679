//! The interactive session: reads a line, streams the answer, shows tools as they run.
//!
//! Ctrl-C ends the running turn or command, or clears the line; Ctrl-D and SIGTERM leave. A line that begins with `/` is a
//! command.

mod command;
mod progress;
mod terminal;

use crate::args::{Args, Setup};
use crate::commands::Input;
use crate::compose::{self, Composed, Plan};
use crate::config::Config;
use crate::explain::Explanations;
use crate::home::Home;
use crate::permit::{Person, Reply};
use crate::screen::{self, BOLD, DIM};
use crate::{approve, catalog, config, print, secrets};
use anyhow::Result;
use capstan_agent::AgentSession;
use capstan_engine::Services;
use capstan_policy::PermissionMode;
use print::Stop;
use progress::Progress;
use std::process::ExitCode;
use std::sync::Arc;
use terminal::{Line, PROMPT, Terminal};

/// Runs until the user leaves.
pub(crate) async fn run(args: Args) -> Result<ExitCode> {
    let home = Home::find()?;
    let terminal = Arc::new(Terminal::open(&home)?);
    if terminal.is_interactive() && !args.setup.no_extensions {
        offer_grants(&home, &args.setup, &terminal).await?;
    }
    let person = terminal.is_interactive().then(|| terminal.clone() as Arc<dyn Person>);
    // Without a person at the keyboard nobody can answer, so nothing is asked.
    let default_mode = if person.is_some() { PermissionMode::Ask } else { PermissionMode::ReadOnly };
    let plan = Plan { which: print::which(&args), default_mode, person };
    let composed = compose::session(&home, &args.setup, plan).await?;
    if terminal.is_interactive() {
        greet(&composed);
    }
    composed.session.agent().subscribe(Arc::new(Progress::default()));
    let explanations = Explanations::of(&home, &composed);
    // A turn watches for the signal and so takes it from the system for good; from here on it is ours to heed.
    let mut terminate = print::terminate()?;
    loop {
        if terminal.is_interactive()
            && let Some(turn) = settle(&composed.session, &*terminal, &explanations).await?
        {
            terminal.restore();
            return Ok(turn.exit_code());
        }
        let line = tokio::select! {
            line = terminal.line(PROMPT) => line?,
            _ = terminate.recv() => {
                terminal.restore();
                return Ok(Stop::Terminate.exit_code());
            }
        };
        match line {
            Line::Text(text) if text.trim().is_empty() => {}
            Line::Text(text) => match composed.commands.read(&text) {
                Input::Message(text) => {
                    match print::kept(&explanations, print::turn(&composed.session, text.to_owned()).await) {
                        Ok(turn) if turn.is_last() => {
                            terminal.restore();
                            return Ok(turn.exit_code());
                        }
                        // How it ended is on the screen already; the session goes on.
                        Ok(turn) => turn.report(),
                        Err(error) => screen::complain(&error),
                    }
                }
                Input::Command(named, arguments) => {
                    let id = composed.session.id();
                    if let Some(Stop::Terminate) =
                        command::run(&*named, id, arguments, &mut terminate).await?
                    {
                        terminal.restore();
                        return Ok(Stop::Terminate.exit_code());
                    }
                }
                Input::Help => screen::show(&composed.commands.list())?,
                Input::Unknown(name) => command::unknown(name, &composed.commands),
            },
            Line::Interrupted => {}
            Line::End => {
                composed.finish(&home).await;
                return Ok(ExitCode::SUCCESS);
            }
        }
    }
}

/// Asks about calls that a gate put off, and goes on with the answers. Answers a turn that is the session's last.
async fn settle(
    session: &AgentSession,
    person: &dyn Person,
    explanations: &Explanations,
) -> Result<Option<print::Turn>> {
    // What is answered is gone from the list, also when its run failed; so this ends.
    for deferred in session.deferred() {
        let question = format!("was put off: {}\nRun it now?", deferred.reason);
        let id = &deferred.call.id;
        let turn = match person.reply(&question, &deferred.call).await {
            Reply::Once | Reply::Always => print::drive(session, session.approve(id)).await,
            Reply::No => print::drive(session, session.deny(id, "The user said no.")).await,
        };
        match print::kept(explanations, turn) {
            Ok(turn) if turn.is_last() => return Ok(Some(turn)),
            Ok(turn) => turn.report(),
            Err(error) => screen::complain(&error),
        }
    }
    Ok(None)
}

fn greet(composed: &Composed) {
    let extensions: Vec<_> =
        composed.catalog.active.iter().map(|extension| extension.id().to_string()).collect();
    let with =
        if extensions.is_empty() { String::new() } else { format!(", with {}", extensions.join(", ")) };
    screen::note(&format!(
        "{BOLD}capstan{BOLD:#} {DIM}{}{with}. Ctrl-C stops an answer, Ctrl-D leaves, /help lists commands.{DIM:#}",
        composed.model.info().full_name()
    ));
}

/// Asks about extensions that wait, before the session begins.
async fn offer_grants(home: &Home, setup: &Setup, terminal: &Terminal) -> Result<()> {
    if !catalog::has_candidates(home, &setup.extensions) {
        return Ok(());
    }
    let mut grants = config::load_grants(home)?;
    let config = Config::load(home, &grants)?;
    let catalog = catalog::scan(
        home,
        &config,
        &grants,
        &setup.extensions,
        &catalog::sandbox(home)?,
        &Services::default(),
    )
    .await?;
    for (found, about) in approve::waiting(&catalog) {
        screen::note(&approve::card(found, about));
        match terminal.line("Allow this? [y/N] ").await? {
            Line::Text(answer) if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") => {
                let allowed = approve::allow(home, &mut grants, about)
                    .and_then(|granted| secrets::remind(home, about.descriptor.id.as_str(), &granted));
                if let Err(error) = allowed {
                    screen::complain(&error);
                }
            }
            Line::Text(_) | Line::Interrupted => {}
            Line::End => return Ok(()),
        }
    }
    Ok(())
}
