//! Plans in a form that can be kept and read again (X24): a status holds an answer or an error, and neither is written as
//! such.

use crate::error::AgentError;
use crate::plan::{Plan, Step, StepStatus};
use crate::session::ChatResponse;
use capstan_ports::Content;
use serde::{Deserialize, Serialize};

/// A plan as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRecord {
    /// Which plan.
    pub id: String,
    /// What it is for.
    pub goal: String,
    /// The steps in their order.
    pub steps: Vec<StepRecord>,
}

/// A step as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRecord {
    /// What the agent is told.
    pub description: String,
    /// Where it is.
    #[serde(flatten)]
    pub status: StatusRecord,
}

/// A status as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub enum StatusRecord {
    /// Not begun.
    Pending,
    /// Begun. Read from a record, it means that the program ended meanwhile.
    Running,
    /// Done.
    Completed {
        /// The text of the answer.
        answer: String,
    },
    /// Failed.
    Failed {
        /// Why, for people.
        error: String,
    },
    /// Left out.
    Skipped,
}

impl From<&StepStatus> for StatusRecord {
    fn from(status: &StepStatus) -> Self {
        match status {
            StepStatus::Pending => Self::Pending,
            StepStatus::Running => Self::Running,
            StepStatus::Completed(answer) => Self::Completed { answer: answer.text() },
            StepStatus::Failed(error) => Self::Failed { error: error.to_string() },
            StepStatus::Skipped => Self::Skipped,
        }
    }
}

impl From<StatusRecord> for StepStatus {
    fn from(record: StatusRecord) -> Self {
        match record {
            StatusRecord::Pending => Self::Pending,
            StatusRecord::Running => Self::Running,
            StatusRecord::Completed { answer } => Self::Completed(ChatResponse {
                content: vec![Content::text(answer)],
                ..ChatResponse::default()
            }),
            StatusRecord::Failed { error } => Self::Failed(AgentError::Other(error)),
            StatusRecord::Skipped => Self::Skipped,
        }
    }
}

impl From<&Plan> for PlanRecord {
    fn from(plan: &Plan) -> Self {
        let steps = plan.steps().iter().map(|step| StepRecord {
            description: step.description().to_owned(),
            status: step.status().into(),
        });
        Self { id: plan.id().to_owned(), goal: plan.goal().to_owned(), steps: steps.collect() }
    }
}

/// The plan again, with the same id. Of an answer only the text is left, and every failure is an [`AgentError::Other`].
impl From<PlanRecord> for Plan {
    fn from(record: PlanRecord) -> Self {
        let steps = record.steps.into_iter().enumerate();
        let steps = steps.map(|(index, step)| Step::new(index, step.description, step.status.into()));
        Self::with_steps(record.id, record.goal, steps.collect())
    }
}
