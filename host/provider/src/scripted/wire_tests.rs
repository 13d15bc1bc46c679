use super::*;

fn data(events: &[String]) -> Vec<Value> {
    events
        .iter()
        .map(|event| {
            assert!(
                event.ends_with("\n\n") && event.matches("\n\n").count() == 1,
                "one event each: {event:?}"
            );
            let line = event.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
            serde_json::from_str(line).unwrap_or(Value::Null)
        })
        .collect()
}

#[test]
fn openai_chunks_end_with_reason_usage_and_end_mark() {
    let events = openai_sse(&Answer::text("a b").and_call("t", json!({})), "m");
    assert_eq!(events.last().map(String::as_str), Some("data: [DONE]\n\n"));
    let data = data(&events);
    assert_eq!(data[data.len() - 3]["choices"][0]["finish_reason"], "tool_calls");
    assert!(data[data.len() - 2]["usage"]["completion_tokens"].as_u64().unwrap() > 0);
    assert!(data.iter().take(data.len() - 1).all(|chunk| chunk["model"] == "m"));
}

#[test]
fn anthropic_events_are_framed_by_message_start_and_stop() {
    let events = anthropic_sse(&Answer::text("a\n\nb").with_thinking("hm"), "m");
    let types: Vec<_> =
        data(&events).iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect();
    assert_eq!((types[0].as_str(), types[types.len() - 1].as_str()), ("message_start", "message_stop"));
    assert_eq!(types.iter().filter(|kind| *kind == "content_block_start").count(), 2);
    for (event, kind) in events.iter().zip(types) {
        assert!(event.starts_with(&format!("event: {kind}\n")));
    }
}

#[test]
fn a_cut_or_failing_answer_has_no_end_mark() {
    for answer in [Answer::text("x").cut_off(), Answer::error(ModelErrorKind::Server, "down").with_text("x")]
    {
        assert!(!openai_sse(&answer, "m").concat().contains("[DONE]"));
        assert!(!anthropic_sse(&answer, "m").concat().contains("message_stop"));
    }
}
