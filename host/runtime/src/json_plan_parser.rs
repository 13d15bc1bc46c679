//! Plans as JSON: the reference for parsers of other formats. Nothing uses it by itself (004-103).

use async_trait::async_trait;
use capstan_ports::{Plan, PlanParseError, PlanParser};
use serde::Deserialize;

/// Reads `{"steps": [{"description": "…"}, …]}`; other keys are not looked at.
///
/// Models like to talk. The object may stand in a ```` ```json ```` fence or between sentences: it begins at the first `{` of
/// the text, or of the first such fence, and what follows its end is not read. A brace in the sentences before it makes
/// the text no plan.
#[derive(Debug, Clone, Copy, Default)]
pub struct JsonPlanParser;

#[derive(Deserialize)]
struct Written {
    steps: Vec<WrittenStep>,
}

#[derive(Deserialize)]
struct WrittenStep {
    description: String,
}

#[async_trait]
impl PlanParser for JsonPlanParser {
    fn name(&self) -> &str {
        "json"
    }

    fn format(&self) -> Option<&str> {
        Some(r#"a JSON object, and nothing else: {"steps": [{"description": "what to do first"}, …]}"#)
    }

    async fn parse(&self, raw: &str, goal: &str) -> Result<Plan, PlanParseError> {
        let no_plan = |message: String| PlanParseError { parser: "json".to_owned(), message, source: None };
        let fenced = raw.split_once("```json").map_or(raw, |(_, fenced)| fenced);
        let at = fenced.find('{').ok_or_else(|| no_plan("there is no JSON object in the text".to_owned()))?;
        let mut objects = serde_json::Deserializer::from_str(&fenced[at..]).into_iter::<Written>();
        let written = match objects.next() {
            Some(Ok(written)) => written,
            Some(Err(error)) => {
                let message = format!("the JSON object cannot be used: {error}");
                return Err(PlanParseError { source: Some(Box::new(error)), ..no_plan(message) });
            }
            None => return Err(no_plan("the JSON object has no end".to_owned())),
        };
        let steps = written.steps.into_iter().map(|step| step.description);
        Plan::new(goal, steps).map_err(|problem| no_plan(problem.to_string()))
    }
}

#[cfg(test)]
#[path = "json_plan_parser_tests.rs"]
mod tests;
