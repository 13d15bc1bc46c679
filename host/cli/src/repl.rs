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
use crate::loader::Loader;
use crate::permit::{Person, Reply};
use crate::screen::{self, BOLD, DIM, visible};
use crate::watch::Follower;
use crate::{approve, config, print, secrets, usage};
use anyhow::{Context, Result};
use capstan_agent::AgentSession;
use capstan_policy::PermissionMode;
use print::Stop;
use progress::Progress;
use std::process::ExitCode;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use terminal::{Line, PROMPT, Terminal};
use tokio::sync::watch;

/// How long the first prompt may be held up by what has to be compiled first.
const WORTH_WAITING: Duration = Duration::from_secs(1);

/// Runs until the user leaves.
pub(crate) async fn run(args: Args) -> Result<ExitCode> {
    let home = Home::find()?;
    let terminal = Arc::new(Terminal::open(&home)?);
    // Who sits at the terminal need not wait for what has to be compiled first.
    let mut loader = if terminal.is_interactive() { Loader::beside() } else { Loader::default() };
    if terminal.is_interactive() && !args.setup.no_extensions {
        offer_grants(&home, &args.setup, &terminal, &mut loader).await?;
    }
    let person = terminal.is_interactive().then(|| terminal.clone() as Arc<dyn Person>);
    // Without a person at the keyboard nobody can answer, so nothing is asked.
    let default_mode = if person.is_some() { PermissionMode::Ask } else { PermissionMode::ReadOnly };
    let plan = Plan { which: print::which(&args), default_mode, person, loader };
    let composed = compose::session(&home, &args.setup, plan).await?;
    if terminal.is_interactive() {
        greet(&composed);
    }
    let explanations = Explanations::of(&home, &composed);
    let Composed { session, catalog, notices, live, loader, .. } = composed;
    session.agent().subscribe(Arc::new(Progress::default()));
    let (running, commands, mut ready) = (live.running(), live.commands(), None);
    if terminal.is_interactive() && !args.setup.no_extensions {
        let follower =
            Follower::new(home.clone(), args.setup, live, loader, &catalog, &notices, terminal.announcer());
        ready = Some(follower.ready());
        tokio::spawn(follower.follow());
    }
    // A turn watches for the signal and so takes it from the system for good; from here on it is ours to heed.
    let mut terminate = print::terminate()?;
    loop {
        if terminal.is_interactive()
            && !session.deferred().is_empty()
            && all_are_there(&mut ready).await?
            && let Some(turn) = settle(&session, &*terminal, &explanations).await?
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
            Line::Text(_) if !all_are_there(&mut ready).await? => {}
            Line::Text(text) => match commands.current().read(&text) {
                Input::Message(text) => {
                    match print::kept(&explanations, print::turn(&session, text.into_owned()).await) {
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
                    if let Some(Stop::Terminate) =
                        command::run(&*named, &session.id(), arguments, &mut terminate).await?
                    {
                        terminal.restore();
                        return Ok(Stop::Terminate.exit_code());
                    }
                }
                Input::Refused(error) => screen::complain(&error),
                Input::Help => screen::show(&commands.current().list())?,
                Input::Unknown(name) => command::unknown(name, &commands.current()),
            },
            Line::Interrupted => {}
            Line::End => {
                print::finish(&session).await;
                usage::keep(&home, running.lock().unwrap_or_else(PoisonError::into_inner).iter());
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
    let extensions = composed.catalog.active.iter().map(|extension| extension.id().to_string());
    let all: Vec<_> = extensions.chain(composed.prompts.names.iter().cloned()).collect();
    let with = if all.is_empty() { String::new() } else { format!(", with {}", all.join(", ")) };
    screen::note(&format!(
        "{BOLD}capstan{BOLD:#} {DIM}{}{with}. Ctrl-C stops an answer, Ctrl-D leaves, /help lists commands.{DIM:#}",
        visible(&composed.model.info().full_name())
    ));
}

/// Waits for the extensions that were there at the start and are still being compiled: a gate that is not there yet would be an
/// open one. Answers false when the user would rather not wait.
async fn all_are_there(ready: &mut Option<watch::Receiver<bool>>) -> Result<bool> {
    let Some(ready) = ready.as_mut().filter(|ready| !*ready.borrow()) else { return Ok(true) };
    screen::note("capstan: this waits for the extensions that are being compiled; Ctrl-C to leave it");
    let mut terminate = print::terminate()?;
    tokio::select! {
        // Whoever reads the next line hears of it, too.
        _ = terminate.recv() => Ok(false),
        waited = ready.wait_for(|ready| *ready) => {
            waited.context("the extensions are no longer followed; leave and start again")?;
            Ok(true)
        }
        pressed = tokio::signal::ctrl_c() => {
            pressed.context("Ctrl-C cannot be watched")?;
            Ok(false)
        }
    }
}

/// Asks about extensions that wait, before the session begins.
async fn offer_grants(home: &Home, setup: &Setup, terminal: &Terminal, loader: &mut Loader) -> Result<()> {
    let mut grants = config::load_grants(home)?;
    let config = Config::load(home, &grants)?;
    let mut catalog = loader.look(home, &config, &grants, &setup.extensions).await?;
    loader.compile(&catalog, &terminal.announcer());
    if loader.is_compiling() {
        // A small extension is there in no time, and then it is asked about here and greeted with the others.
        let compiled = async {
            while loader.is_compiling() {
                loader.compiled().await;
            }
        };
        // Whatever takes longer joins later.
        drop(tokio::time::timeout(WORTH_WAITING, compiled).await);
        catalog = loader.look(home, &config, &grants, &setup.extensions).await?;
    }
    // What was in force for this look was so without the services of a session.
    loader.memory.put_in_force(Vec::new());
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
