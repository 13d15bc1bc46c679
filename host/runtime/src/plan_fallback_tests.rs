use super::FallbackPlanParser;
use crate::json_plan_parser::JsonPlanParser;
use async_trait::async_trait;
use capstan_ports::{Plan, PlanParseError, PlanParser, Step};
use std::sync::Arc;

/// A step a line.
struct Lines;

#[async_trait]
impl PlanParser for Lines {
    fn name(&self) -> &str {
        "lines"
    }

    async fn parse(&self, raw: &str, goal: &str) -> Result<Plan, PlanParseError> {
        let lines = raw.lines().filter_map(|line| line.strip_prefix("- ")).map(str::to_owned);
        Plan::new(goal, lines).map_err(|problem| PlanParseError {
            parser: "lines".to_owned(),
            message: problem.to_string(),
            source: Some(Box::new(problem)),
        })
    }
}

#[tokio::test]
async fn parsers_are_asked_in_order_until_one_finds_a_plan() {
    let chain = FallbackPlanParser::new(Arc::new(JsonPlanParser), [Arc::new(Lines) as Arc<dyn PlanParser>]);
    assert_eq!((chain.name(), chain.format()), ("json, lines", JsonPlanParser.format()));
    for (raw, first) in [(r#"{"steps": [{"description": "- a"}]}"#, "- a"), ("- b", "b")] {
        let plan = chain.parse(raw, "goal").await.expect(raw);
        assert_eq!(plan.steps().first().map(Step::description), Some(first));
    }
}

#[tokio::test]
async fn when_none_finds_a_plan_each_says_why() {
    let chain = FallbackPlanParser::new(Arc::new(JsonPlanParser), [Arc::new(Lines) as Arc<dyn PlanParser>]);
    let error = chain.parse("nothing", "goal").await.expect_err("no plan");
    assert_eq!(error.message, "json: there is no JSON object in the text; lines: it has no steps");
    assert!(error.source.is_some_and(|source| source.is::<capstan_ports::PlanProblem>()));
}
