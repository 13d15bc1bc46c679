//! Goals that take more than one turn: a plan is made, then carried out step by step.

use crate::error::AgentError;
use crate::plan::{Plan, PlanError, PlanOutcome, Step, StepState, StepStatus};
use crate::session::AgentSession;
use crate::task_turns::Turns;
use async_trait::async_trait;
use capstan_ports::{PlanParseError, PlanParser};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Watches a plan while it is carried out, and may keep it. A function of plan and step is one, too.
#[async_trait]
pub trait PlanObserver: Send + Sync {
    /// A step changed its status. The agent waits for the answer before it goes on.
    ///
    /// # Errors
    /// Ends the execution. A program that keeps its plans says here that it could not, so that nothing is done that is not
    /// on record.
    async fn step_changed(&mut self, plan: &Plan, step: &Step) -> Result<(), AgentError>;
}

#[async_trait]
impl<F: FnMut(&Plan, &Step) + Send + Sync> PlanObserver for F {
    async fn step_changed(&mut self, plan: &Plan, step: &Step) -> Result<(), AgentError> {
        self(plan, step);
        Ok(())
    }
}

/// Carries out plans in one conversation: each step is one turn.
///
/// - Steps run one after another, in their order, each once. There is no automatic retry: [`Plan::retry`] makes a new plan.
/// - The first step that fails ends the execution. What comes after it stays pending, because it builds on what did not
///   happen.
/// - A plan that is half done goes on where it stands: completed and skipped steps are not run again (004-093). A plan with
///   a failed step does not go on, and a step that is found running was interrupted and becomes a failed one.
/// - When the token of [`TaskAgent::with_cancel`] fires, the running step fails and the rest stays pending; between two
///   steps nothing fails.
/// - Hooks of the session are told of every step that begins and that ends ([`HookStage::PlanStep`]; X18).
///
/// A parser has to be named; none is used by itself (004-103):
///
/// ```compile_fail
/// # fn task(session: capstan_runtime::AgentSession) {
/// let task = capstan_runtime::TaskAgent::new(session);
/// # }
/// ```
///
/// ```
/// # fn task(session: capstan_runtime::AgentSession) {
/// use capstan_runtime::{JsonPlanParser, TaskAgent};
/// let task = TaskAgent::new(session, std::sync::Arc::new(JsonPlanParser));
/// # }
/// ```
///
/// [`HookStage::PlanStep`]: capstan_ports::HookStage::PlanStep
pub struct TaskAgent<T = AgentSession> {
    turns: T,
    parser: Arc<dyn PlanParser>,
    format: Option<String>,
    observer: Option<Box<dyn PlanObserver>>,
    cancel: CancellationToken,
}

impl<T: Turns> TaskAgent<T> {
    /// An agent that works in this session and reads plans with this parser.
    pub fn new(session: T, parser: Arc<dyn PlanParser>) -> Self {
        Self { turns: session, parser, format: None, observer: None, cancel: CancellationToken::new() }
    }

    /// Tells the model to write plans so, where the parser does not say it well: the end of a sentence that begins with
    /// "Write the plan as".
    #[must_use]
    pub fn with_format(mut self, format: impl Into<String>) -> Self {
        self.format = Some(format.into());
        self
    }

    /// Tells `observer` of every change, in the place of one before.
    #[must_use]
    pub fn with_observer(mut self, observer: impl PlanObserver + 'static) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Stops when this token fires.
    #[must_use]
    pub fn with_cancel(mut self, cancel: CancellationToken) -> Self {
        self.cancel = cancel;
        self
    }

    /// The session.
    pub fn session(&self) -> &T {
        &self.turns
    }

    /// The session, for turns between plans.
    pub fn session_mut(&mut self) -> &mut T {
        &mut self.turns
    }

    /// Asks the model for a plan, and carries it out. The plan that is answered says how far that came; see
    /// [`Plan::outcome`].
    ///
    /// # Errors
    /// When there is no plan: [`AgentError::PlanParse`], or why the model was not asked or did not answer. And when an
    /// observer failed.
    pub async fn run(&mut self, goal: &str) -> Result<Plan, AgentError> {
        let mut plan = self.make_plan(goal).await?;
        self.execute_plan(&mut plan).await?;
        Ok(plan)
    }

    /// Asks the model for a plan, and does nothing with it.
    ///
    /// # Errors
    /// As [`TaskAgent::run`].
    pub async fn make_plan(&mut self, goal: &str) -> Result<Plan, AgentError> {
        let answer = self.turns.submit(&self.question(goal), &self.cancel).await?;
        Ok(self.parser.parse(&answer.text(), goal).await?.into())
    }

    fn question(&self, goal: &str) -> String {
        let format = match self.format.as_deref().or_else(|| self.parser.format()) {
            Some(format) => format.to_owned(),
            None => format!("text that the plan parser `{}` reads", self.parser.name()),
        };
        format!(
            "Make a plan for the goal below. Look around as far as you need to, but do not carry anything out yet: you will be \
             given the steps of the plan one after another, each as a message of its own that says no more than what you \
             write in it.\n\nGoal: {goal}\n\nWrite the plan as {format}"
        )
    }

    /// Carries out what is pending of a plan. Answers how far it is then.
    ///
    /// # Errors
    /// When an observer failed. A failed step is no error here: it stands in the plan with its reason.
    pub async fn execute_plan(&mut self, plan: &mut Plan) -> Result<PlanOutcome, AgentError> {
        for index in 0..plan.steps().len() {
            let step = &plan.steps()[index];
            match step.status().state() {
                StepState::Completed | StepState::Skipped => continue,
                StepState::Pending if !self.cancel.is_cancelled() => {}
                StepState::Pending | StepState::Failed => break,
                StepState::Running => {
                    let reason = AgentError::Other("the step was interrupted".to_owned());
                    self.change(plan, index, StepStatus::Failed(reason)).await?;
                    break;
                }
            }
            let description = step.description().to_owned();
            if let Err(error) = self.change(plan, index, StepStatus::Running).await {
                let reason = AgentError::Other(format!("the step was not run: {error}"));
                plan.set_status(index, StepStatus::Failed(reason))?;
                return Err(error);
            }
            match self.turns.submit(&description, &self.cancel).await {
                Ok(answer) => self.change(plan, index, StepStatus::Completed(answer)).await?,
                Err(error) => {
                    self.change(plan, index, StepStatus::Failed(error)).await?;
                    break;
                }
            }
        }
        Ok(plan.outcome())
    }

    /// Leaves out a step that has not begun, and tells hooks and the observer of it.
    ///
    /// # Errors
    /// When there is no such step or it has begun, and when the observer failed.
    pub async fn skip(&mut self, plan: &mut Plan, index: usize) -> Result<(), AgentError> {
        self.change(plan, index, StepStatus::Skipped).await
    }

    /// Changes a status, lets the observer keep that, and tells hooks, whatever the observer said: it has happened.
    async fn change(&mut self, plan: &mut Plan, index: usize, status: StepStatus) -> Result<(), AgentError> {
        plan.set_status(index, status)?;
        let step = &plan.steps()[index];
        let kept = match &mut self.observer {
            Some(observer) => observer.step_changed(plan, step).await,
            None => Ok(()),
        };
        if let Some(status) = step.status().for_hooks() {
            self.turns.plan_step(u32::try_from(index).unwrap_or(u32::MAX), &status).await;
        }
        kept
    }
}

impl From<PlanParseError> for AgentError {
    fn from(error: PlanParseError) -> Self {
        Self::PlanParse(error.to_string())
    }
}

impl From<PlanError> for AgentError {
    fn from(error: PlanError) -> Self {
        Self::Other(error.to_string())
    }
}

#[cfg(test)]
#[path = "task_tests.rs"]
mod tests;
