//! What is seen of a plan: for a person its steps with their marks, for a program one line of JSON for each change.
//!
//! stdout has the answers, or the plan where it is only to be shown; marks are talk. Everything here was written by a model.

use crate::args::PlanMode;
use crate::compose::Composed;
use crate::events;
use crate::json::READER_MAY_TAKE;
use crate::output::Output;
use crate::repl::Progress;
use crate::screen::{self, BAD, BOLD, DIM, GOOD, WARN, brief, visible};
use anstyle::Style;
use anyhow::Result;
use async_trait::async_trait;
use capstan_ports::event::{AgentEvent, EventSink};
use capstan_runtime::{AgentError, Plan, PlanRecord, StatusRecord, Step, StepState, StepStatus};
use serde_json::json;
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Characters of a description or a reason in one line.
const SHOWN: usize = 160;

/// Where a plan is seen.
#[derive(Clone)]
pub(super) struct View {
    /// Lines for a program, in the place of words for a person.
    lines: Option<Output>,
    /// Answers are seen as they come.
    streams: bool,
    /// Set while a plan is made: what the model writes then is shown as the plan that it is.
    quiet: Arc<AtomicBool>,
}

impl View {
    /// Shows what happens in the session from now on.
    pub(super) async fn begin(composed: &Composed, mode: PlanMode) -> Result<Self> {
        let quiet = Arc::new(AtomicBool::new(false));
        let session = &composed.session;
        let lines = match mode {
            PlanMode::Json => Some(Output::stdout()?),
            PlanMode::Text => None,
        };
        let streams = lines.is_none() && std::io::stdout().is_terminal();
        if let Some(lines) = &lines {
            lines.line(&composed.header).await;
            events::write(session, composed.live.running(), lines);
        } else if streams {
            let watch = Watch { progress: Progress::default(), quiet: quiet.clone() };
            session.agent().subscribe(Arc::new(watch));
        }
        Ok(Self { lines, streams, quiet })
    }

    /// Waits until a program has read everything.
    pub(super) async fn flush(&self) {
        if let Some(lines) = &self.lines {
            lines.flush(READER_MAY_TAKE).await;
        }
    }

    /// The model is asked for a plan.
    pub(super) fn planning(&self) {
        self.quiet.store(true, Ordering::Relaxed);
        if self.lines.is_none() {
            screen::note(&format!("{DIM}capstan: making a plan{DIM:#}"));
        }
    }

    /// Steps begin.
    pub(super) fn carrying_out(&self) {
        self.quiet.store(false, Ordering::Relaxed);
    }

    /// The plan as it stands. Where it `is_result`, it goes to stdout.
    pub(super) async fn plan(&self, plan: &Plan, is_result: bool) -> Result<()> {
        if let Some(lines) = &self.lines {
            lines.line(&json!({"type": "plan_created", "plan": PlanRecord::from(plan)})).await;
            return Ok(());
        }
        let text = listed(plan);
        if is_result {
            screen::show(&format!("{text}\n"))?
        } else {
            screen::note(&text)
        }
        Ok(())
    }

    /// A step began or ended.
    pub(super) async fn step(&self, plan: &Plan, step: &Step) {
        if let Some(lines) = &self.lines {
            lines.line(&event(plan, step)).await;
            return;
        }
        let (mark, style) = mark(step.status().state());
        let place = format!("{style}{mark}{style:#} [{}/{}]", step.index() + 1, plan.steps().len());
        let described = brief(step.description(), SHOWN);
        match step.status() {
            StepStatus::Pending => {}
            StepStatus::Running => screen::note(&format!("{place} {BOLD}{described}{BOLD:#}")),
            StepStatus::Completed(answer) => {
                if !self.streams
                    && let Err(reason) = screen::data(&format!("{}\n", answer.text()))
                {
                    tracing::warn!(%reason, "an answer could not be written to stdout");
                }
                screen::note(&format!("{place} {DIM}{described}{DIM:#}"));
            }
            StepStatus::Failed(error) => {
                screen::note(&format!("{place} {described}: {}", visible(&error.to_string())));
            }
            StepStatus::Skipped => screen::note(&format!("{place} {described}")),
        }
    }

    /// There is no plan.
    pub(super) async fn no_plan(&self, error: &AgentError) {
        if let Some(lines) = &self.lines {
            lines.line(&json!({"type": "plan_end", "outcome": "no-plan", "error": error.to_string()})).await;
        }
    }

    /// The plan is over in this process: `completed`, `failed`, `stopped` or `not-run`.
    pub(super) async fn end(&self, plan: &Plan, outcome: &str) {
        let is_done = |step: &&Step| step.status().state() == StepState::Completed;
        let (completed, steps) = (plan.steps().iter().filter(is_done).count(), plan.steps().len());
        let Some(lines) = &self.lines else {
            screen::note(&format!("capstan: {completed} of {steps} steps are done"));
            return;
        };
        let end = json!({
            "type": "plan_end", "plan": plan.id(), "outcome": outcome, "completed": completed, "steps": steps,
        });
        lines.line(&end).await;
    }
}

/// A step's change as a program reads it.
fn event(plan: &Plan, step: &Step) -> serde_json::Value {
    let (plan, index) = (plan.id(), step.index());
    match StatusRecord::from(step.status()) {
        StatusRecord::Running | StatusRecord::Pending => json!({
            "type": "plan_step_start", "plan": plan, "step": index, "description": step.description(),
        }),
        StatusRecord::Completed { answer } => json!({
            "type": "plan_step_end", "plan": plan, "step": index, "status": "completed", "answer": answer,
        }),
        StatusRecord::Failed { error } => json!({
            "type": "plan_step_end", "plan": plan, "step": index, "status": "failed", "error": error,
        }),
        StatusRecord::Skipped => {
            json!({"type": "plan_step_end", "plan": plan, "step": index, "status": "skipped"})
        }
    }
}

fn mark(state: StepState) -> (char, Style) {
    match state {
        StepState::Pending => ('·', DIM),
        StepState::Running => ('▸', WARN),
        StepState::Completed => ('✓', GOOD),
        StepState::Failed => ('✗', BAD),
        StepState::Skipped => ('-', DIM),
    }
}

/// The plan for a person who decides about it. Lines within a step have a margin, so that none can be taken for another step.
fn listed(plan: &Plan) -> String {
    let mut text = format!("{BOLD}Plan{BOLD:#}: {}", brief(plan.goal(), SHOWN));
    for step in plan.steps() {
        let (mark, style) = mark(step.status().state());
        let described = screen::beginning(step.description());
        let described = described.trim_end().replace('\n', "\n       | ");
        // Writing to a string does not fail.
        let _infallible = write!(text, "\n{style}{mark}{style:#} {:>4}. {described}", step.index() + 1);
    }
    text
}

/// The conversation on the screen; while a plan is made only the tools.
struct Watch {
    progress: Progress,
    quiet: Arc<AtomicBool>,
}

#[async_trait]
impl EventSink for Watch {
    async fn emit(&self, event: AgentEvent) {
        let is_tool =
            matches!(event, AgentEvent::ToolExecutionStart { .. } | AgentEvent::ToolExecutionEnd { .. });
        if is_tool || !self.quiet.load(Ordering::Relaxed) {
            self.progress.emit(event).await;
        }
    }
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
