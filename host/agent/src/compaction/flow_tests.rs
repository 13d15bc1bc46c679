use super::*;
use crate::recording_tests::ScriptedCompressor;
use crate::scripted_tests::*;
use capstan_ports::{Content, StopReason};
use serde_json::json;

fn history() -> Vec<Arc<Message>> {
    let asked = assistant(vec![Content::ToolCall(call("a", "echo", json!({})))], StopReason::ToolUse);
    let result = capstan_ports::build_tool_result_message(
        &call("a", "echo", json!({})),
        &capstan_ports::ToolOutcome::text("r"),
    );
    let said = assistant(vec![Content::text("said")], StopReason::Stop);
    vec![user("one"), Arc::new(asked.into()), Arc::new(result), Arc::new(said.into())]
}

#[test]
fn a_cut_never_parts_a_call_from_its_result() {
    let cuts: Vec<usize> = (0..6).map(|wanted| safe_cut(&history(), wanted)).collect();
    assert_eq!(cuts, [0, 1, 1, 3, 4, 4]);
}

#[tokio::test]
async fn the_hosts_model_summarizes_what_the_compressor_names() {
    let model = ScriptedModel::new([says("it was about one"), says("done")]);
    let mut config = config(&model);
    let order = CompressAction::Summarize { first_kept: 3, instructions: "names".into() };
    config.compressor = Some(ScriptedCompressor::new(&Arc::default(), [order]));
    let mut context = context([]);
    context.messages = history();
    run(&context, &config).await.result.unwrap();
    let sent = model.sent();
    assert!(
        sent[0][0].contains("[toolResult]: r") && sent[0][0].ends_with("Summarize it. Keep in mind: names")
    );
    assert!(sent[1][0].contains("<summary>\nit was about one\n</summary>"), "{}", sent[1][0]);
    assert_eq!(sent[1][1..], ["asst said", "user hi"]);
}

#[tokio::test]
async fn a_summary_that_fails_leaves_the_conversation_as_it_is() {
    let model = ScriptedModel::new([fails(capstan_ports::ModelErrorKind::Auth, "no"), says("done")]);
    let mut config = config(&model);
    let order = CompressAction::Summarize { first_kept: 3, instructions: String::new() };
    config.compressor = Some(ScriptedCompressor::new(&Arc::default(), [order]));
    let mut context = context([]);
    context.messages = history();
    run(&context, &config).await.result.unwrap();
    assert_eq!(model.sent()[1].len(), 5);
}
