//! A component's plan format as the plan parser port.

use super::{MAX_REASON_BYTES, detached};
use crate::abi::Interface;
use crate::error::CallError;
use crate::extension::Extension;
use crate::import::printable;
use crate::limits::Role;
use async_trait::async_trait;
use capstan_ports::plan::{MAX_DESCRIPTION_BYTES, Plan, PlanParseError, PlanParser};

pub(super) struct ComponentPlanParser {
    extension: Extension,
    /// As the descriptor calls it.
    format: String,
    /// As the user calls it.
    name: String,
    /// As a model is told of it: all that a descriptor says.
    told: String,
}

impl ComponentPlanParser {
    pub(super) fn new(extension: &Extension, format: &str) -> Self {
        let name = format!("{}/{format}", extension.id());
        let told = format!(
            "text in the format `{format}`, read by the extension `{}`, which says of itself: {}",
            extension.id(),
            extension.descriptor().summary
        );
        Self { extension: extension.clone(), format: format.to_owned(), name, told }
    }

    fn error(&self, source: CallError) -> PlanParseError {
        PlanParseError {
            parser: self.name.clone(),
            message: source.to_string(),
            source: Some(Box::new(source)),
        }
    }

    fn unreadable(&self, message: String) -> PlanParseError {
        PlanParseError { parser: self.name.clone(), message, source: None }
    }
}

#[async_trait]
impl PlanParser for ComponentPlanParser {
    fn name(&self) -> &str {
        &self.name
    }

    fn format(&self) -> Option<&str> {
        Some(&self.told)
    }

    async fn parse(&self, raw: &str, goal: &str) -> Result<Plan, PlanParseError> {
        let caller = detached(raw.len() + goal.len());
        let (format, raw, wanted) = (self.format.clone(), raw.to_owned(), goal.to_owned());
        let answer = self.extension.call(Role::PlanParser, caller, |store, instance, code| {
            Box::pin(async move {
                let Some(indices) = &code.indices.plan_parser else { return Ok(None) };
                let guest = indices.load(&mut *store, instance)?;
                guest.call_parse(store, &format, &raw, &wanted).await.map(Some)
            })
        });
        match answer.await.map_err(|source| self.error(source))? {
            Some(Ok(plan)) => {
                // People look a plan through before it runs, so nothing in it may hide. What is too long is cut a little
                // above the limit, where it is still too long.
                let shown =
                    plan.steps.iter().map(|step| printable(&step.description, MAX_DESCRIPTION_BYTES + 1));
                Plan::new(goal, shown).map_err(|problem| self.unreadable(problem.to_string()))
            }
            Some(Err(text)) => Err(self.unreadable(printable(&text, MAX_REASON_BYTES))),
            None => Err(self.error(CallError::NotExported(Interface::PlanParser))),
        }
    }
}
