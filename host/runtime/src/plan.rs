//! Plans that are carried out: steps with a status that only moves forward.
//!
//! [`ports::Plan`](capstan_ports::Plan) is what a parser reads, descriptions within limits; a [`Plan`] is what becomes of it.
//! Steps stand in one row on purpose: there are no dependencies between them and no groups that run side by side (004-090).

use crate::error::AgentError;
use crate::session::ChatResponse;
use capstan_ports::{Failure, FailureKind, PlanStepStatus};
use serde::{Deserialize, Serialize};
use std::fmt;
use uuid::Uuid;

/// Where a step is. It goes from pending over running to one of the other three, or from pending straight to skipped, and
/// never back: whoever wants to try again makes a new plan, see [`Plan::retry`].
#[derive(Debug)]
pub enum StepStatus {
    /// Not begun.
    Pending,
    /// Its turn runs.
    Running,
    /// Done, with the final answer of its turn.
    Completed(ChatResponse),
    /// Its turn failed or was stopped.
    Failed(AgentError),
    /// Left out.
    Skipped,
}

/// A [`StepStatus`] without what came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepState {
    /// See [`StepStatus::Pending`].
    Pending,
    /// See [`StepStatus::Running`].
    Running,
    /// See [`StepStatus::Completed`].
    Completed,
    /// See [`StepStatus::Failed`].
    Failed,
    /// See [`StepStatus::Skipped`].
    Skipped,
}

impl StepState {
    /// The word for it, as it stands in records and events.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    /// Whether nothing can follow.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Skipped)
    }

    /// Whether `next` may follow.
    pub fn can_become(self, next: Self) -> bool {
        match self {
            Self::Pending => matches!(next, Self::Running | Self::Skipped),
            Self::Running => next.is_terminal(),
            Self::Completed | Self::Failed | Self::Skipped => false,
        }
    }
}

impl fmt::Display for StepState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl StepStatus {
    /// The status without what came of it.
    pub fn state(&self) -> StepState {
        match self {
            Self::Pending => StepState::Pending,
            Self::Running => StepState::Running,
            Self::Completed(_) => StepState::Completed,
            Self::Failed(_) => StepState::Failed,
            Self::Skipped => StepState::Skipped,
        }
    }

    /// What hooks are told of it; they are not told of steps that have not begun.
    pub fn for_hooks(&self) -> Option<PlanStepStatus> {
        match self {
            Self::Pending => None,
            Self::Running => Some(PlanStepStatus::Running),
            Self::Completed(answer) => Some(PlanStepStatus::Completed(answer.text())),
            Self::Failed(error) => {
                let kind = match error {
                    AgentError::Llm(_) => FailureKind::Model,
                    AgentError::Tool(_) => FailureKind::Tool,
                    AgentError::Memory(_) => FailureKind::Memory,
                    AgentError::PlanParse(_) => FailureKind::Plan,
                    AgentError::HookBlocked(_) => FailureKind::Hook,
                    AgentError::LimitExceeded(_) => FailureKind::Limit,
                    AgentError::Config(_) => FailureKind::Config,
                    AgentError::Other(_) => FailureKind::Other,
                };
                Some(PlanStepStatus::Failed(Failure::new(kind, error.to_string())))
            }
            Self::Skipped => Some(PlanStepStatus::Skipped),
        }
    }
}

/// A change that a plan does not allow. Steps are counted from 0, as [`Step::index`] does.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// No such step.
    #[error("the plan has {steps} steps, so there is no step with index {index}")]
    NoSuchStep {
        /// What was asked for.
        index: usize,
        /// How many there are.
        steps: usize,
    },
    /// A status that cannot follow. The step is as it was.
    #[error(
        "step {index} is {from} and cannot become {to}: a status only moves forward; make a new plan to try again"
    )]
    Transition {
        /// Which step.
        index: usize,
        /// What it is.
        from: StepState,
        /// What it was to become.
        to: StepState,
    },
}

/// One thing to do: what the agent is told in a turn of its own.
#[derive(Debug)]
pub struct Step {
    index: usize,
    description: String,
    pub(crate) status: StepStatus,
}

impl Step {
    pub(crate) fn new(index: usize, description: String, status: StepStatus) -> Self {
        Self { index, description, status }
    }

    /// Its place in the plan, from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// What the agent is told.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Where it is; [`Plan::set_status`] changes it.
    pub fn status(&self) -> &StepStatus {
        &self.status
    }
}

/// How far a plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanOutcome {
    /// Every step is completed or was left out. So is a plan without steps.
    Completed,
    /// This step failed, and with it the plan: what follows builds on it and stays pending.
    Failed {
        /// The first that failed.
        step: usize,
    },
    /// Something is left to do, and nothing failed.
    Unfinished,
}

/// What is to be done for a goal, step by step, and how far that is.
#[derive(Debug)]
pub struct Plan {
    id: String,
    goal: String,
    steps: Vec<Step>,
}

impl Plan {
    /// A plan of the program's own, with an id of its own. It may be empty: then there is nothing to do (004-091).
    pub fn new<D: Into<String>>(goal: impl Into<String>, descriptions: impl IntoIterator<Item = D>) -> Self {
        let steps = descriptions.into_iter().enumerate();
        let steps = steps.map(|(index, text)| Step::new(index, text.into(), StepStatus::Pending)).collect();
        Self::with_steps(new_id(), goal.into(), steps)
    }

    pub(crate) fn with_steps(id: String, goal: String, steps: Vec<Step>) -> Self {
        Self { id, goal, steps }
    }

    /// Which plan; no two that were made have the same.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What it is for.
    pub fn goal(&self) -> &str {
        &self.goal
    }

    /// The steps in their order; the index of each is its place.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Moves a step forward. Nobody is told; [`TaskAgent`](crate::TaskAgent) does that for what it changes.
    ///
    /// # Errors
    /// When there is no such step, or the status cannot follow the present one. Then nothing changes.
    pub fn set_status(&mut self, index: usize, status: StepStatus) -> Result<(), PlanError> {
        let steps = self.steps.len();
        let step = self.steps.get_mut(index).ok_or(PlanError::NoSuchStep { index, steps })?;
        let (from, to) = (step.status.state(), status.state());
        if !from.can_become(to) {
            return Err(PlanError::Transition { index, from, to });
        }
        step.status = status;
        Ok(())
    }

    /// How far it is.
    pub fn outcome(&self) -> PlanOutcome {
        let is =
            |wanted: fn(StepState) -> bool| self.steps.iter().position(|step| wanted(step.status.state()));
        match (is(|state| state == StepState::Failed), is(|state| !state.is_terminal())) {
            (Some(step), _) => PlanOutcome::Failed { step },
            (None, Some(_)) => PlanOutcome::Unfinished,
            (None, None) => PlanOutcome::Completed,
        }
    }

    /// A new plan for what is left: what was completed or skipped stays so, and everything else is pending again, the step
    /// that failed or was interrupted among them. This is how to try again (004-088).
    #[must_use]
    pub fn retry(self) -> Self {
        let again = |step: Step| match step.status.state() {
            StepState::Completed | StepState::Skipped => step,
            StepState::Pending | StepState::Running | StepState::Failed => {
                Step { status: StepStatus::Pending, ..step }
            }
        };
        Self { id: new_id(), goal: self.goal, steps: self.steps.into_iter().map(again).collect() }
    }
}

impl From<capstan_ports::Plan> for Plan {
    fn from(read: capstan_ports::Plan) -> Self {
        Self::new(read.goal(), read.steps().iter().map(capstan_ports::Step::description))
    }
}

fn new_id() -> String {
    Uuid::now_v7().to_string()
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
