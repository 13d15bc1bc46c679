use super::*;
use crate::registry::ToolRegistry;
use crate::scripted_tests::{ScriptedModel, call, calls, config, context, run, says, shorts};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Repeat {
    /// What to say.
    word: String,
    times: u8,
}

// 000-026
#[tokio::test]
async fn a_struct_gives_the_schema_and_a_wrong_type_never_reaches_the_function() {
    let tool = TypedTool::new("repeat", "says a word again", |repeat: Repeat, _| async move {
        Ok(ToolOutcome::text(repeat.word.repeat(usize::from(repeat.times))))
    });
    let parameters = &tool.definition().parameters;
    assert_eq!(parameters["properties"]["word"]["description"], "What to say.");
    assert_eq!(parameters["required"], json!(["word", "times"]));
    let model = ScriptedModel::new([
        calls([
            call("a", "repeat", json!({"word": "ho", "times": "3"})),
            call("b", "repeat", json!({"word": "ho", "times": "many"})),
            call("c", "repeat", json!({"word": "ho", "times": 300})),
        ]),
        says("done"),
    ]);
    let mut context = context([]);
    context.tools = Arc::new(ToolRegistry::with_tools([Arc::new(tool) as Arc<dyn Tool>]).unwrap());
    let added = shorts(&run(&context, &config(&model)).await.result.unwrap());
    assert_eq!(added[2], "result a hohoho");
    assert!(added[3].contains("- times: \"many\" is not of type \"integer\""), "{}", added[3]);
    assert!(added[4].starts_with("result! c ") && added[4].contains("times"), "{}", added[4]);
}
