//! The interactive session: reads a line, streams the answer, shows tools as they run.
//!
//! Ctrl-C ends the running turn or command, a second one leaves without waiting for that; at the prompt it clears the line, and
//! twice on an empty one it leaves. Ctrl-D and SIGTERM leave. A line that begins with `/` is a command, with `!` a shell command.

mod command;
mod editing;
mod elsewhere;
mod grants;
mod own;
mod picker;
mod progress;
mod settings;
mod shell;
mod status;
mod summary;
mod tail;
mod terminal;
mod tree;

use crate::args::Args;
use crate::commands::Input;
use crate::compose::{self, Composed, Plan};
use crate::explain::Explanations;
use crate::home::Home;
use crate::live::{AbsentNow, CurrentCommands, Running};
use crate::loader::Loader;
use crate::model::ConfiguredModels;
use crate::permit::{Person, Reply};
use crate::print::{self, Stop, Turn};
use crate::screen::{self, BOLD, DIM, visible};
use crate::sessions::Sessions;
use crate::start::{self, Start};
use crate::usage;
use crate::watch::Follower;
use anyhow::{Context, Result};
use capstan_agent::AgentSession;
use capstan_policy::PermissionMode;
use capstan_tools::CommandRuntime;
pub(crate) use progress::Progress;
use std::process::ExitCode;
use std::sync::{Arc, PoisonError};
pub(crate) use terminal::{Line, Terminal};
use tokio::signal::unix::Signal;
use tokio::sync::watch;

/// A session with a person at the keyboard, or with lines from elsewhere in their place.
struct Repl {
    home: Home,
    terminal: Arc<Terminal>,
    session: AgentSession,
    sessions: Sessions,
    models: Arc<ConfiguredModels>,
    shell: Arc<dyn CommandRuntime>,
    explanations: Explanations,
    commands: CurrentCommands,
    running: Running,
    absent: AbsentNow,
    /// Turns true when the extensions that were there at the start are in force; `None` when nothing is to be waited for.
    ready: Option<watch::Receiver<bool>>,
    terminate: Signal,
    /// What stands in the next line already.
    draft: String,
    /// Ctrl-C was the last thing that was pressed, on an empty line.
    wants_to_leave: bool,
}

/// What follows a line.
enum Next {
    /// Another line.
    Line,
    /// The end, in good order.
    Leave(ExitCode),
    /// The end at once: somebody does not want to wait.
    Drop(ExitCode),
}

impl Next {
    /// What follows a turn or a command that was stopped so, or not at all.
    fn after(stop: Option<Stop>) -> Self {
        match stop {
            Some(Stop::Terminate) => Self::Leave(Stop::Terminate.exit_code()),
            Some(Stop::Interrupt) | None => Self::Line,
        }
    }
}

/// Runs until the user leaves.
pub(crate) async fn run(args: Args) -> Result<ExitCode> {
    let home = start::home(&args.session)?;
    let terminal = Arc::new(Terminal::open(&home)?);
    let mut flags = args.session;
    if flags.wants_list() {
        let chosen = picker::session(&terminal, &home.sessions(), &home.workspace, None).await?;
        let Some(path) = chosen else { return Ok(ExitCode::SUCCESS) };
        flags.resume = Some(Some(
            path.to_str().context("the file's name is no text; give the session's id")?.to_owned(),
        ));
    }
    let Start { home, which } = Start::in_home(home, &flags)?;
    // Who sits at the terminal need not wait for what has to be compiled first.
    let mut loader = if terminal.is_interactive() { Loader::beside() } else { Loader::default() };
    if terminal.is_interactive() && !args.setup.no_extensions {
        grants::offer(&home, &args.setup, &terminal, &mut loader).await?;
    }
    let person = terminal.is_interactive().then(|| terminal.clone() as Arc<dyn Person>);
    // Without a person at the keyboard nobody can answer, so nothing is asked.
    let default_mode = if person.is_some() { PermissionMode::Ask } else { PermissionMode::ReadOnly };
    let composed = compose::session(&home, &args.setup, Plan { which, default_mode, person, loader }).await?;
    if terminal.is_interactive() {
        greet(&composed);
    }
    let explanations = Explanations::of(&home, &composed);
    let Composed { session, sessions, models, shell, catalog, notices, live, loader, .. } = composed;
    session.agent().subscribe(Arc::new(Progress::default()));
    let (running, absent, commands, mut ready) = (live.running(), live.absent(), live.commands(), None);
    if terminal.is_interactive() && !args.setup.no_extensions {
        let follower =
            Follower::new(home.clone(), args.setup, live, loader, &catalog, &notices, terminal.announcer());
        ready = Some(follower.ready());
        tokio::spawn(follower.follow());
    }
    // A turn watches for the signal and so takes it from the system for good; from here on it is ours to heed.
    let terminate = print::terminate()?;
    let repl = Repl {
        home,
        terminal,
        session,
        sessions,
        models,
        shell,
        explanations,
        commands,
        running,
        absent,
        ready,
        terminate,
        draft: String::new(),
        wants_to_leave: false,
    };
    if repl.terminal.is_interactive() && !repl.session.agent().state().messages.is_empty() {
        repl.say_where();
    }
    repl.until_the_end().await
}

impl Repl {
    async fn until_the_end(mut self) -> Result<ExitCode> {
        loop {
            let next = match self.settle().await? {
                Next::Line => self.next().await?,
                end => end,
            };
            match next {
                Next::Line => {}
                Next::Leave(code) => {
                    self.terminal.restore();
                    print::finish(&self.session).await;
                    usage::keep(
                        &self.home,
                        self.running.lock().unwrap_or_else(PoisonError::into_inner).iter(),
                    );
                    return Ok(code);
                }
                Next::Drop(code) => {
                    self.terminal.restore();
                    return Ok(code);
                }
            }
        }
    }

    /// Reads a line and does what it says.
    async fn next(&mut self) -> Result<Next> {
        self.terminal.complete_with(self.commands.current().names());
        let draft = std::mem::take(&mut self.draft);
        let line = tokio::select! {
            line = self.terminal.prompt(draft) => line?,
            _ = self.terminate.recv() => return Ok(Next::Leave(Stop::Terminate.exit_code())),
        };
        let wanted_to_leave = std::mem::take(&mut self.wants_to_leave);
        match line {
            Line::Text(text) => self.obey(&text).await,
            Line::Cleared => Ok(Next::Line),
            Line::Interrupted if wanted_to_leave => Ok(Next::Leave(ExitCode::SUCCESS)),
            Line::Interrupted => {
                screen::note("capstan: press Ctrl-C again or Ctrl-D to leave");
                self.wants_to_leave = true;
                Ok(Next::Line)
            }
            Line::End => Ok(Next::Leave(ExitCode::SUCCESS)),
        }
    }

    async fn obey(&mut self, line: &str) -> Result<Next> {
        if line.trim().is_empty() {
            return Ok(Next::Line);
        }
        // Lines from elsewhere than a keyboard may be anybody's, and nobody is asked before such a command.
        if let Some(typed) = shell::typed(line).filter(|_| self.terminal.is_interactive()) {
            return self.run_typed(typed).await;
        }
        let commands = self.commands.current();
        match commands.read(line) {
            Input::BuiltIn(command, arguments) => self.own(command, arguments).await,
            Input::Refused(error) => {
                screen::complain(&error);
                Ok(Next::Line)
            }
            Input::Unknown(name) => {
                command::unknown(name, &commands);
                Ok(Next::Line)
            }
            Input::Message(_) | Input::Command(..) if !all_are_there(&mut self.ready).await? => {
                Ok(Next::Line)
            }
            Input::Message(text) => {
                let turn = print::turn(&self.session, text.into_owned()).await;
                Ok(self.ended(turn))
            }
            Input::Command(named, arguments) => {
                let stop = command::run(&*named, &self.session.id(), arguments, &mut self.terminate).await?;
                Ok(Next::after(stop))
            }
        }
    }

    /// Keeps what a turn's hooks did and says how the turn ended, as far as that is not on the screen already.
    fn ended(&self, turn: Result<Turn>) -> Next {
        match print::kept(&self.explanations, turn) {
            Ok(turn) if turn.is_left() => Next::Drop(turn.exit_code()),
            Ok(turn) if turn.is_last() => Next::Leave(turn.exit_code()),
            Ok(turn) => {
                turn.report();
                Next::Line
            }
            Err(error) => {
                screen::complain(&error);
                Next::Line
            }
        }
    }

    /// Asks about calls that a gate put off, and goes on with the answers.
    async fn settle(&mut self) -> Result<Next> {
        if !self.terminal.is_interactive()
            || self.session.deferred().is_empty()
            || !all_are_there(&mut self.ready).await?
        {
            return Ok(Next::Line);
        }
        // What is answered is gone from the list, also when its run failed; so this ends.
        for deferred in self.session.deferred() {
            let question = format!("was put off: {}\nRun it now?", deferred.reason);
            let (session, id) = (&self.session, &deferred.call.id);
            let turn = match self.terminal.reply(&question, &deferred.call).await {
                Reply::Once | Reply::Always => print::drive(session, session.approve(id)).await,
                Reply::No => print::drive(session, session.deny(id, "The user said no.")).await,
            };
            match self.ended(turn) {
                Next::Line => {}
                end => return Ok(end),
            }
        }
        Ok(Next::Line)
    }
}

fn greet(composed: &Composed) {
    let extensions = composed.catalog.active.iter().map(|extension| extension.id().to_string());
    let all: Vec<_> = extensions.chain(composed.prompts.names.iter().cloned()).collect();
    let with = if all.is_empty() { String::new() } else { format!(", with {}", all.join(", ")) };
    screen::note(&format!(
        "{BOLD}capstan{BOLD:#} {DIM}{}{with}. Ctrl-C stops an answer, Ctrl-D leaves, /help lists commands.{DIM:#}",
        visible(&composed.session.model().info().full_name())
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
