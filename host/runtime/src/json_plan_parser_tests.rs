use super::JsonPlanParser;
use capstan_ports::{PlanParser, Step};
use std::error::Error;

async fn steps(raw: &str) -> Result<Vec<String>, String> {
    let plan = JsonPlanParser.parse(raw, "tidy up").await.map_err(|error| error.to_string())?;
    assert_eq!(plan.goal(), "tidy up");
    Ok(plan.steps().iter().map(Step::description).map(str::to_owned).collect())
}

// 004-101, 004-158
#[tokio::test]
async fn an_object_with_steps_is_a_plan() {
    let read = steps(r#"{"steps":[{"description":"a"},{"description":"b"}]}"#).await;
    assert_eq!(read, Ok(vec!["a".to_owned(), "b".to_owned()]));
}

// 004-104: accepted.
#[tokio::test]
async fn a_fence_or_talk_around_the_object_does_no_harm() {
    let object = r#"{"title": "mine", "steps": [{"description": "a", "why": {}}]}"#;
    for raw in [
        format!("Here is the plan:\n\n{object}\n\nShall I begin {{now}}?"),
        format!("```json\n{object}\n```"),
        format!("I thought of {{}} first.\n```json\n{object}\n```\nThat is all."),
        format!("```\n{object}\n```"),
    ] {
        assert_eq!(steps(&raw).await, Ok(vec!["a".to_owned()]), "{raw}");
    }
    let brace_before = format!("I use {{braces}}: {object}");
    assert!(steps(&brace_before).await.is_err());
}

// 004-102, 004-158
#[tokio::test]
async fn what_is_no_plan_is_an_error_that_says_why() {
    for (raw, said) in [
        ("", "there is no JSON object"),
        ("I would rather not.", "there is no JSON object"),
        ("[]", "there is no JSON object"),
        ("{", "EOF"),
        (r#"{"steps": [{"description": "a"}"#, "EOF"),
        (r#"{"plan": []}"#, "missing field `steps`"),
        (r#"{"steps": "a"}"#, "invalid type"),
        (r#"{"steps": ["a"]}"#, "invalid type"),
        (r#"{"steps": [{"description": 7}]}"#, "invalid type"),
        (r#"{"steps": [{"text": "a"}]}"#, "missing field `description`"),
        (r#"{"steps": [{"description": " "}]}"#, "step 1 is empty"),
    ] {
        let error = steps(raw).await.expect_err(raw);
        assert!(error.contains("plan parser json") && error.contains(said), "{raw}: {error}");
    }
    let error = JsonPlanParser.parse("{]", "goal").await.expect_err("no JSON");
    assert!(error.source().is_some_and(|source| source.is::<serde_json::Error>()));
}

// 004-105
#[tokio::test]
async fn no_steps_and_ten_thousand_steps_are_no_plan() {
    let error = steps(r#"{"steps": []}"#).await.expect_err("nothing to do");
    assert!(error.contains("it has no steps"), "{error}");
    let many = vec![r#"{"description":"again"}"#; 10_000].join(",");
    let error = steps(&format!(r#"{{"steps":[{many}]}}"#)).await.expect_err("too many");
    assert!(error.contains("more than 1000 steps"), "{error}");
}

#[tokio::test]
async fn nesting_without_end_is_an_error() {
    let deep = format!(r#"{{"x": {}"#, "[".repeat(100_000));
    assert!(steps(&deep).await.is_err());
}
