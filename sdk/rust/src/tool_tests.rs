use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::*;
use crate::testing;

/// Adds numbers.
#[derive(Deserialize, JsonSchema)]
struct Add {
    numbers: Vec<i32>,
}

fn add(arguments: Add, call: &Call) -> Result<String, Error> {
    call.progress(format!("adding for {}", call.id));
    if call.is_cancelled() {
        return Err(Error::new("cancelled"));
    }
    Ok(arguments.numbers.iter().sum::<i32>().to_string())
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

fn picture(_: Nothing, _: &Call) -> Output {
    Output::text("a picture").and_image("image/png", vec![1, 2])
}

crate::extension! {
    id: "sums",
    version: "2.0.0",
    summary: "Adds.",
    lifetime: crate::Lifetime::Session,
    tools: [
        tool("add", add).label("Sum").sequential(),
        tool("picture", picture).describe("Shows one."),
    ],
}

#[test]
fn the_descriptor_holds_what_the_types_and_the_macro_say() {
    let descriptor = testing::describe::<Extension>();
    assert_eq!((descriptor.id.as_str(), descriptor.version.as_str()), ("sums", "2.0.0"));
    assert_eq!(descriptor.lifetime, crate::Lifetime::Session);
    let [sum, shown] = descriptor.tools.as_slice() else { panic!("{descriptor:?}") };
    assert_eq!((sum.label.as_str(), sum.description.as_str()), ("Sum", "Adds numbers."));
    assert_eq!(sum.execution, Execution::Sequential);
    assert_eq!((shown.description.as_str(), shown.execution), ("Shows one.", Execution::Parallel));
    assert!(descriptor.hooks.is_empty() && descriptor.config_schema.is_none());
}

#[test]
fn a_call_reaches_its_tool_with_typed_arguments() {
    let (answer, told) =
        testing::Host::new().run(|| testing::call_tool::<Extension>("add", json!({ "numbers": [1, 2] })));
    assert_eq!(answer.unwrap(), Output::text("3"));
    assert_eq!(told.progress, ["adding for call-1"]);
    let picture = testing::call_tool::<Extension>("picture", json!({})).unwrap();
    assert_eq!(picture.content.len(), 2);
}

#[test]
fn failures_are_texts_for_the_model() {
    // 000-026
    let wrong = testing::call_tool::<Extension>("add", json!({ "numbers": [1, "x"] })).unwrap_err();
    assert!(wrong.starts_with("the arguments at `numbers[1]`: invalid type"), "{wrong}");
    let unknown = testing::call_tool::<Extension>("subtract", json!({})).unwrap_err();
    assert_eq!(unknown, "this extension has no tool `subtract`");
    let (cancelled, _) = testing::Host::new()
        .cancelled()
        .run(|| testing::call_tool::<Extension>("add", json!({ "numbers": [] })));
    assert_eq!(cancelled.unwrap_err(), "cancelled");
}
