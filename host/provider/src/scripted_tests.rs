use super::*;
use capstan_ports::{AssistantMessage, ThinkingLevel};
use serde_json::json;

fn request(system: &str) -> ModelRequest {
    ModelRequest {
        system: system.into(),
        messages: capstan_ports::Messages::default(),
        tools: Arc::new([]),
        thinking: ThinkingLevel::Off,
        max_output_tokens: None,
        ..ModelRequest::default()
    }
}

/// The folded content, the number of updates, and the end.
async fn ask(model: &ScriptedModel) -> (AssistantMessage, usize, Result<AssistantMessage, ModelError>) {
    let mut stream = model.stream(request("s"));
    let (mut folded, mut n_updates) = (AssistantMessage::default(), 0);
    while let Some(event) = stream.next().await {
        match event {
            ModelEvent::Update(update) => {
                folded.apply(&update);
                n_updates += 1;
            }
            ModelEvent::Done(message) => return (folded, n_updates, Ok(*message)),
            ModelEvent::Failed(error) => return (folded, n_updates, Err(error)),
        }
    }
    panic!("the stream ended without a last event");
}

#[tokio::test]
async fn answers_come_in_order_as_deltas_that_fold_to_the_message() {
    let model = ScriptedModel::new([
        Answer::calls([("echo", json!({"text": "a b"})), ("echo", json!({}))])
            .with_text("on it")
            .with_thinking("so"),
        Answer::text("done"),
    ]);
    let (folded, n_updates, end) = ask(&model).await;
    let message = end.unwrap();
    assert_eq!(folded.content, message.content);
    assert!(n_updates > 8, "{n_updates}");
    assert_eq!(message.stop_reason, StopReason::ToolUse);
    let ids: std::collections::HashSet<_> = message.tool_calls().map(|call| call.id.clone()).collect();
    assert_eq!(ids.len(), 2);
    assert_eq!((message.provider.as_str(), message.api.as_str()), ("scripted", "scripted"));
    let message = ask(&model).await.2.unwrap();
    assert_eq!((message.text().as_str(), message.stop_reason), ("done", StopReason::Stop));
    assert!(message.usage.output > 0);
}

#[tokio::test]
async fn requests_are_kept_and_a_used_up_script_says_so() {
    let model = ScriptedModel::new([Answer::text("one")]);
    let clone = model.clone();
    ask(&model).await.2.unwrap();
    let error = ask(&clone).await.2.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Protocol);
    assert!(error.message.contains("used up") && error.message.contains("request 2"), "{error}");
    assert_eq!(model.requests().len(), 2);
    assert_eq!(model.requests()[0].system, "s");
    model.push(Answer::text("two"));
    assert_eq!(model.remaining(), 1);
    assert_eq!(ask(&clone).await.2.unwrap().text(), "two");
}

// 000-028, 000-152
#[tokio::test]
async fn failures_cuts_and_broken_arguments_can_be_scripted() {
    let mut failing = Answer::error(ModelErrorKind::RateLimited, "slow down").with_text("partial");
    failing.error.as_mut().unwrap().retry_after_ms = Some(1500);
    let model = ScriptedModel::new([
        failing,
        Answer::text("half").cut_off(),
        Answer::call("t", json!("{\"a\": 1,")).with_stop_reason(StopReason::Length),
    ]);
    let (folded, _, end) = ask(&model).await;
    let error = end.unwrap_err();
    assert_eq!((folded.text().as_str(), error.kind), ("partial", ModelErrorKind::RateLimited));
    assert_eq!(error.retry_after, Some(Duration::from_millis(1500)));
    let error = ask(&model).await.2.unwrap_err();
    assert!(error.message.contains("stream ended without terminal message"), "{error}");
    let message = ask(&model).await.2.unwrap();
    assert_eq!(message.tool_calls().next().unwrap().malformed.as_deref(), Some("{\"a\": 1,"));
    assert_eq!(message.stop_reason, StopReason::Length);
}

#[tokio::test]
async fn delays_apply_before_the_first_and_between_events() {
    let model = ScriptedModel::new([Answer::text("a b c").delayed_ms(100).slowed_ms(10)]);
    let started = tokio::time::Instant::now();
    let (_, n_updates, _) = ask(&model).await;
    assert!(n_updates > 1);
    assert!(started.elapsed() >= Duration::from_millis(100 + 10 * n_updates as u64));
}

#[tokio::test]
async fn a_script_file_plays_through_the_registry() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("demo.jsonl");
    let script = concat!(
        "\u{feff}# comment\n\n",
        r#"{"thinking":"hm","tool_calls":[{"name":"ls","arguments":{"path":"."}}]}"#,
        "\r\n",
        r#"{"text":"done","usage":{"input":7,"output":1,"totalTokens":8}}"#,
        "\n",
        r#"{"error":{"kind":"server","message":"down","retry_after_ms":5}}"#,
        "\n{\"stop_reason\":\"length\",\"delay_ms\":1}"
    );
    std::fs::write(&path, script).unwrap();
    let config = ProviderConfig::new("demo", Api::Scripted, path.to_str().unwrap());
    let model = crate::model(&config, "m1").unwrap();
    assert_eq!(model.info().full_name(), "demo/m1");
    let mut ends = Vec::new();
    for _ in 0..5 {
        ends.push(model.stream(request("")).collect::<Vec<_>>().await.pop().unwrap());
    }
    assert!(matches!(&ends[0], ModelEvent::Done(message) if message.tool_calls().count() == 1));
    assert!(matches!(&ends[1], ModelEvent::Done(message) if message.usage.input == 7));
    assert!(matches!(&ends[2], ModelEvent::Failed(error) if error.kind == ModelErrorKind::Server));
    assert!(matches!(&ends[3], ModelEvent::Done(message) if message.stop_reason == StopReason::Length));
    assert!(matches!(&ends[4], ModelEvent::Failed(error) if error.kind == ModelErrorKind::Protocol));
}

#[test]
fn a_bad_script_is_refused_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.jsonl");
    let missing = ScriptedModel::from_file(&path).err().unwrap().to_string();
    assert!(missing.contains("bad.jsonl") && missing.contains("JSONL"), "{missing}");
    for (line, wanted) in [
        ("{\"text\": ", "this is no answer"),
        ("{\"txt\": \"typo\"}", "txt"),
        ("[]", "this is no answer"),
        ("{\"stop_reason\": \"error\"}", "write \"error\""),
    ] {
        std::fs::write(&path, format!("# head\n{line}\n")).unwrap();
        let error = ScriptedModel::from_file(&path).err().unwrap().to_string();
        assert!(error.contains("line 2") && error.contains(wanted), "{error}");
    }
}
