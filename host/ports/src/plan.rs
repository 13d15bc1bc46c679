//! Plans, and the port that reads one out of what a model wrote (seed 004, 3.2.4 and 3.2.5).

use async_trait::async_trait;
use serde::Serialize;

/// Steps that a plan may have. A model that lists more is not planning any more, and nobody could look it through.
pub const MAX_STEPS: usize = 1_000;

/// Bytes of one step's description. A step is an instruction for one turn, not a document.
pub const MAX_DESCRIPTION_BYTES: usize = 8 << 10;

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    description: String,
}

impl Step {
    /// What to do, as the agent is told it. Never empty.
    pub fn description(&self) -> &str {
        &self.description
    }
}

/// What is to be done for a goal, step by step: at least one step, and no more than [`MAX_STEPS`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    goal: String,
    steps: Vec<Step>,
}

/// Why steps are no plan. Steps are counted from 1, as people do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanProblem {
    /// Nothing to do.
    #[error("it has no steps")]
    NoSteps,
    /// More than anybody looks through.
    #[error("it has more than {MAX_STEPS} steps")]
    TooManySteps,
    /// A step that says nothing.
    #[error("step {step} is empty")]
    EmptyStep {
        /// Which.
        step: usize,
    },
    /// A step that is a document.
    #[error("step {step} has {bytes} bytes; at most {MAX_DESCRIPTION_BYTES} are allowed")]
    LongStep {
        /// Which.
        step: usize,
        /// Its length.
        bytes: usize,
    },
}

impl Plan {
    /// A plan of these steps. Space around a description is taken away.
    ///
    /// # Errors
    /// When there is no step or more than [`MAX_STEPS`], and when one is empty or longer than [`MAX_DESCRIPTION_BYTES`].
    pub fn new(
        goal: impl Into<String>,
        descriptions: impl IntoIterator<Item = String>,
    ) -> Result<Self, PlanProblem> {
        let mut steps = Vec::new();
        // One more than may be is enough to know that there are too many.
        for (at, description) in descriptions.into_iter().take(MAX_STEPS + 1).enumerate() {
            let (step, description) = (at + 1, description.trim());
            if description.is_empty() {
                return Err(PlanProblem::EmptyStep { step });
            }
            if description.len() > MAX_DESCRIPTION_BYTES {
                return Err(PlanProblem::LongStep { step, bytes: description.len() });
            }
            steps.push(Step { description: description.to_owned() });
        }
        match steps.len() {
            0 => Err(PlanProblem::NoSteps),
            1..=MAX_STEPS => Ok(Self { goal: goal.into(), steps }),
            _ => Err(PlanProblem::TooManySteps),
        }
    }

    /// What it is for.
    pub fn goal(&self) -> &str {
        &self.goal
    }

    /// The steps in their order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
}

/// A text that a parser could not make a plan of.
#[derive(Debug, thiserror::Error)]
#[error("the plan parser {parser} found no plan: {message}")]
pub struct PlanParseError {
    /// Which parser; see [`PlanParser::name`].
    pub parser: String,
    /// What could not be read, and where.
    pub message: String,
    /// What lies beneath.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// Makes a plan of what a model wrote. It changes nothing, and the same text always gives the same plan.
#[async_trait]
pub trait PlanParser: Send + Sync {
    /// How the user calls it: a plain name for the host's own, `extension/format` for a component's.
    fn name(&self) -> &str;

    /// How a model is told what to write: the end of a sentence that begins with "Write the plan as". `None`: it is told the
    /// name.
    fn format(&self) -> Option<&str> {
        None
    }

    /// Reads `raw`, which the model wrote when it was asked for a plan for `goal`.
    ///
    /// # Errors
    /// When there is no plan in it, or the parser failed. Asking the model again may help; asking the parser again does
    /// not.
    async fn parse(&self, raw: &str, goal: &str) -> Result<Plan, PlanParseError>;
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
