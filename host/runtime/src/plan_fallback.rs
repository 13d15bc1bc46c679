//! Several plan parsers, one after another.

use async_trait::async_trait;
use capstan_ports::{Plan, PlanParseError, PlanParser};
use std::sync::Arc;

/// Asks parsers in the order that the program chose, until one finds a plan. The model is told the format of the first, so
/// the others are for models that write something else all the same.
pub struct FallbackPlanParser {
    name: String,
    parsers: Vec<Arc<dyn PlanParser>>,
}

impl FallbackPlanParser {
    /// A chain of `first` and these others. Its name is theirs, with commas.
    pub fn new(first: Arc<dyn PlanParser>, others: impl IntoIterator<Item = Arc<dyn PlanParser>>) -> Self {
        let parsers: Vec<_> = std::iter::once(first).chain(others).collect();
        let names: Vec<_> = parsers.iter().map(|parser| parser.name()).collect();
        Self { name: names.join(", "), parsers }
    }
}

#[async_trait]
impl PlanParser for FallbackPlanParser {
    fn name(&self) -> &str {
        &self.name
    }

    fn format(&self) -> Option<&str> {
        self.parsers.first().and_then(|parser| parser.format())
    }

    /// The error is that of the last parser; its message says what each of them found.
    async fn parse(&self, raw: &str, goal: &str) -> Result<Plan, PlanParseError> {
        let (mut said, mut source) = (Vec::new(), None);
        for parser in &self.parsers {
            match parser.parse(raw, goal).await {
                Ok(plan) => return Ok(plan),
                Err(error) => {
                    said.push(format!("{}: {}", error.parser, error.message));
                    source = error.source;
                }
            }
        }
        Err(PlanParseError { parser: self.name.clone(), message: said.join("; "), source })
    }
}

#[cfg(test)]
#[path = "plan_fallback_tests.rs"]
mod tests;
