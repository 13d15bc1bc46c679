//! `capstan plan`: a plan for a goal, shown, agreed to, and carried out step by step.
//!
//! The conversation is an ordinary session, put together as for `--print`; the execution is [`TaskAgent`]'s. While the plan
//! is made built-in tools only read, whatever is allowed later: nobody has agreed to anything yet. What becomes of the plan
//! stands in the session ([`record`]), so that another process can go on with it.

mod parsers;
mod record;
mod view;

use crate::args::{PlanMode, PlanOptions};
use crate::compose::{self, Composed};
use crate::explain::Explanations;
use crate::loader::Loader;
use crate::permit::{Permits, Person};
use crate::print::{self, Stop};
use crate::repl::{Line, Terminal};
use crate::screen;
use crate::start::Start;
use anyhow::Result;
use capstan_agent::AgentSession;
use capstan_policy::PermissionMode;
use capstan_runtime::{AgentError, Plan, PlanObserver, PlanOutcome, Step, StepState, TaskAgent};
use futures::StreamExt;
use std::process::ExitCode;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use view::View;

/// Wrong usage, as the parser of the command line counts it.
const USAGE: u8 = 2;

/// Runs the command. Exit codes: 0 every step is done, or the plan was only to be shown; 1 there is no plan, a step failed, or
/// it was not agreed to; 2 wrong usage, also when nobody can be asked; 130 and 143 stopped.
pub(crate) async fn run(options: PlanOptions) -> Result<ExitCode> {
    let names_session = options.session.names_one();
    if options.goal.as_ref().map_or(!names_session, |goal| goal.trim().is_empty()) {
        screen::note(
            "capstan: say what is to be reached (capstan plan \"…\"), or go on with a plan: capstan plan --continue",
        );
        return Ok(ExitCode::from(USAGE));
    }
    let Start { home, which } = Start::of(&options.session)?;
    // Lines of JSON are for programs, so nobody is asked between them.
    let terminal = match options.mode {
        PlanMode::Text => Some(Arc::new(Terminal::open(&home)?)).filter(|terminal| terminal.is_interactive()),
        PlanMode::Json => None,
    };
    if terminal.is_none() && !options.yes && !options.dry_run {
        screen::note(
            "capstan: nobody can be asked here whether the plan may be carried out, so none was made; --yes carries it out \
             without asking, --dry-run only shows it",
        );
        return Ok(ExitCode::from(USAGE));
    }
    let person = terminal.clone().map(|terminal| terminal as Arc<dyn Person>);
    let default_mode = if person.is_some() { PermissionMode::Ask } else { PermissionMode::ReadOnly };
    let plan = compose::Plan { which, default_mode, person, loader: Loader::default() };
    let composed = compose::session(&home, &options.setup, plan).await?;
    let explanations = Explanations::of(&home, &composed);
    let view = View::begin(&composed, options.mode).await?;
    let command = Command { options: &options, composed: &composed, view: &view, terminal };
    let code = command.run().await;
    explanations.keep();
    composed.finish(&home).await;
    view.flush().await;
    code
}

struct Command<'a> {
    options: &'a PlanOptions,
    composed: &'a Composed,
    view: &'a View,
    /// Who can be asked.
    terminal: Option<Arc<Terminal>>,
}

/// Something that may have been stopped meanwhile.
struct Ended<T> {
    /// `None` when somebody did not want to wait until it had stopped.
    value: Option<T>,
    stopped: Option<Stop>,
}

impl Command<'_> {
    async fn run(&self) -> Result<ExitCode> {
        let names =
            if self.options.parser.is_empty() { &self.composed.plan_parsers } else { &self.options.parser };
        let parser = match parsers::choose(&self.composed.catalog.active, names) {
            Ok(parser) => parser,
            Err(error) => {
                screen::complain(&error);
                return Ok(ExitCode::from(USAGE));
            }
        };
        let view = self.view;
        let session = &self.composed.session;
        let stop = CancellationToken::new();
        let mut task = TaskAgent::new(session.clone(), parser).with_cancel(stop.clone());
        if let Some(format) = &self.options.format {
            task = task.with_format(format);
        }
        let mut plan = match &self.options.goal {
            Some(goal) => {
                view.planning();
                let made = {
                    let _reading = OnlyReading::of(session);
                    until_stopped(task.make_plan(goal), &stop).await?
                };
                match made.value {
                    Some(Ok(plan)) if made.stopped.is_none() => plan,
                    Some(Err(error)) if made.stopped.is_none() => return self.no_plan(view, error).await,
                    Some(_) | None => return Ok(self.stopped(view, None, made.stopped).await),
                }
            }
            None => match record::last(session)? {
                Some(plan) => plan,
                None => {
                    return Err(anyhow::Error::msg(
                        "the session has no plan; make one with: capstan plan --continue \"…\"",
                    ));
                }
            },
        };
        let is_new = self.options.goal.is_some();
        // What failed or was cut off is tried again because somebody asks for it: that is a new plan.
        let is_open = |step: &Step| matches!(step.status().state(), StepState::Failed | StepState::Running);
        let is_retry = !is_new && plan.steps().iter().any(is_open);
        if is_retry {
            plan = plan.retry();
        }
        if is_new || is_retry {
            record::begun(session, &plan).await?;
        }
        view.plan(&plan, self.options.dry_run).await?;
        if plan.outcome() == PlanOutcome::Completed {
            screen::note("capstan: nothing is left to do of this plan");
            view.end(&plan, "completed").await;
            return Ok(ExitCode::SUCCESS);
        }
        if self.options.dry_run {
            self.how_to_go_on("the plan was not carried out");
            view.end(&plan, "not-run").await;
            return Ok(ExitCode::SUCCESS);
        }
        match self.agreed().await? {
            Agreed::Yes => {}
            Agreed::No => {
                self.how_to_go_on("the plan was not carried out");
                view.end(&plan, "not-run").await;
                return Ok(ExitCode::FAILURE);
            }
            Agreed::Stopped(stop) => return Ok(self.stopped(view, Some(&plan), Some(stop)).await),
        }
        let keeper = Keeper { session: session.clone(), view: view.clone() };
        let mut task = task.with_observer(keeper);
        view.carrying_out();
        let ended = until_stopped(task.execute_plan(&mut plan), &stop).await?;
        match (ended.value, ended.stopped) {
            // Whoever stopped it came too late.
            (Some(Ok(PlanOutcome::Completed)), _) => {
                view.end(&plan, "completed").await;
                Ok(ExitCode::SUCCESS)
            }
            (_, Some(stop)) => Ok(self.stopped(view, Some(&plan), Some(stop)).await),
            (Some(Ok(PlanOutcome::Failed { .. } | PlanOutcome::Unfinished)) | None, None) => {
                self.how_to_go_on("the plan failed");
                view.end(&plan, "failed").await;
                Ok(ExitCode::FAILURE)
            }
            (Some(Err(error)), None) => {
                view.end(&plan, "failed").await;
                Err(anyhow::Error::new(error).context("the plan was ended"))
            }
        }
    }

    async fn no_plan(&self, view: &View, error: AgentError) -> Result<ExitCode> {
        let wrote_none = matches!(error, AgentError::PlanParse(_));
        view.no_plan(&error).await;
        screen::complain(&anyhow::Error::new(error));
        if wrote_none && self.composed.sessions.path().is_some() {
            screen::note("capstan: what the model wrote is in the session: capstan session show");
        }
        Ok(ExitCode::FAILURE)
    }

    async fn stopped(&self, view: &View, plan: Option<&Plan>, stop: Option<Stop>) -> ExitCode {
        match plan {
            Some(plan) => {
                self.how_to_go_on("stopped");
                view.end(plan, "stopped").await;
            }
            None => screen::note("capstan: stopped before there was a plan"),
        }
        stop.map_or(ExitCode::FAILURE, Stop::exit_code)
    }

    fn how_to_go_on(&self, what: &str) {
        let how = match self.composed.sessions.path() {
            Some(_) => format!("; go on with: capstan plan --session {}", self.composed.session.id()),
            None => String::new(),
        };
        screen::note(&format!("capstan: {what}{how}"));
    }

    async fn agreed(&self) -> Result<Agreed> {
        let Some(terminal) = self.terminal.as_ref().filter(|_| !self.options.yes) else {
            return Ok(Agreed::Yes);
        };
        let mut terminate = print::terminate()?;
        let line = tokio::select! {
            line = terminal.ask("Carry this out? [y/N] ") => line?,
            _ = terminate.recv() => {
                terminal.restore();
                return Ok(Agreed::Stopped(Stop::Terminate));
            }
        };
        Ok(match line {
            Line::Text(text) if matches!(text.trim().to_lowercase().as_str(), "y" | "yes") => Agreed::Yes,
            Line::Interrupted => Agreed::Stopped(Stop::Interrupt),
            Line::Text(_) | Line::Cleared | Line::End => Agreed::No,
        })
    }
}

enum Agreed {
    Yes,
    No,
    Stopped(Stop),
}

/// Lets built-in tools only read as long as it lives.
struct OnlyReading<'a> {
    session: &'a AgentSession,
    before: Option<Arc<dyn capstan_ports::PermissionPort>>,
}

impl<'a> OnlyReading<'a> {
    fn of(session: &'a AgentSession) -> Self {
        let reading = Arc::new(Permits::new(PermissionMode::ReadOnly, None));
        let mut before = None;
        session
            .agent()
            .configure(|config| before = Some(std::mem::replace(&mut config.permissions, reading)));
        Self { session, before }
    }
}

impl Drop for OnlyReading<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            self.session.agent().configure(|config| config.permissions = before);
        }
    }
}

/// Waits for the work. Ctrl-C and SIGTERM end it in good order; a second one does not wait for that.
async fn until_stopped<T>(work: impl Future<Output = T>, stop: &CancellationToken) -> Result<Ended<T>> {
    let stops = print::stops()?;
    tokio::pin!(work);
    tokio::pin!(stops);
    let mut stopped = None;
    loop {
        let by = tokio::select! {
            value = &mut work => return Ok(Ended { value: Some(value), stopped }),
            Some(by) = stops.next() => by?,
        };
        if stopped.is_some() {
            return Ok(Ended { value: None, stopped: Some(by) });
        }
        stopped = Some(by);
        stop.cancel();
    }
}

/// Puts every change on record, then on the screen.
struct Keeper {
    session: AgentSession,
    view: View,
}

#[async_trait::async_trait]
impl PlanObserver for Keeper {
    async fn step_changed(&mut self, plan: &Plan, step: &Step) -> Result<(), AgentError> {
        record::changed(&self.session, plan, step).await?;
        self.view.step(plan, step).await;
        Ok(())
    }
}
