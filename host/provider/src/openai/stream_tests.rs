use super::*;
use capstan_ports::{AssistantMessage, Content};
use serde_json::json;

fn decoder() -> OpenAiDecoder {
    let scripted = crate::ScriptedModel::new([]);
    OpenAiDecoder::new(capstan_ports::Model::info(&scripted))
}

fn delta(delta: Value) -> Value {
    json!({"choices": [{"delta": delta}]})
}

fn finish(reason: &str) -> Value {
    json!({"choices": [{"delta": {}, "finish_reason": reason}]})
}

fn call(index: Option<u64>, id: Option<&str>, name: Option<&str>, arguments: &str) -> Value {
    delta(
        json!({"tool_calls": [{"index": index, "id": id, "function": {"name": name, "arguments": arguments}}]}),
    )
}

fn decode(events: &[Value]) -> AssistantMessage {
    let mut decoder = decoder();
    for event in events {
        decoder.event(event).unwrap();
    }
    let reason = decoder.stop_reason();
    decoder.draft().finish(reason)
}

fn calls(message: &AssistantMessage) -> Vec<(String, Value)> {
    message.tool_calls().map(|call| (call.id.clone(), call.arguments.clone())).collect()
}

#[test]
fn interleaved_parallel_calls_are_put_together_by_index() {
    let message = decode(&[
        call(Some(0), Some("a"), Some("t"), ""),
        call(Some(1), Some("b"), Some("t"), "{\"n\":"),
        call(Some(0), None, None, "{\"n\":1"),
        call(Some(1), None, None, "2}"),
        call(Some(0), None, None, "}"),
        finish("tool_calls"),
    ]);
    assert_eq!(calls(&message), [("a".into(), json!({"n": 1})), ("b".into(), json!({"n": 2}))]);
    assert_eq!(message.stop_reason, StopReason::ToolUse);
}

#[test]
fn calls_without_index_or_all_with_index_zero_are_told_apart_by_id_and_name() {
    for index in [None, Some(0)] {
        let message = decode(&[
            call(index, Some("a"), Some("t"), "{\"n\":1}"),
            call(index, Some("b"), Some("t"), "{\"n\":"),
            call(index, Some("b"), None, "2}"),
            finish("stop"),
        ]);
        assert_eq!(calls(&message), [("a".into(), json!({"n": 1})), ("b".into(), json!({"n": 2}))]);
        assert_eq!(message.stop_reason, StopReason::ToolUse, "calls decide, not the word stop");
    }
}

#[test]
fn an_id_repeated_in_each_delta_is_one_call_and_a_late_name_loses_no_arguments() {
    let message = decode(&[
        call(Some(0), Some("a"), None, "{\"n\""),
        call(Some(0), Some("a"), Some("t"), ":1"),
        call(Some(0), Some("a"), Some("t"), "}"),
    ]);
    assert_eq!(calls(&message), [("a".into(), json!({"n": 1}))]);
}

// P13
#[test]
fn missing_and_repeated_ids_are_replaced_by_unique_ones() {
    let message = decode(&[
        call(Some(0), None, Some("t"), "{}"),
        call(Some(1), Some("x"), Some("t"), "{}"),
        call(Some(2), Some("x"), Some("t"), "{}"),
        call(Some(4_000_000_000), Some(""), Some("t"), "{}"),
    ]);
    let ids: std::collections::HashSet<_> = message.tool_calls().map(|call| call.id.clone()).collect();
    assert_eq!(ids.len(), 4);
    assert!(ids.iter().all(|id| !id.is_empty()) && ids.contains("x"));
}

#[test]
fn arguments_sent_as_an_object_or_not_at_all_are_understood() {
    let whole =
        json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "t", "arguments": {"n": 1}}}]});
    let none = json!({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "t"}}]});
    let message = decode(&[delta(whole), delta(none)]);
    assert_eq!(calls(&message), [("a".into(), json!({"n": 1})), ("b".into(), json!({}))]);
}

// 000-156, P6
#[test]
fn a_call_cut_off_by_the_output_limit_is_marked_malformed() {
    let message =
        decode(&[call(Some(0), Some("a"), Some("t"), "{\"command\": \"rm -rf /tm"), finish("length")]);
    let call = message.tool_calls().next().unwrap();
    assert_eq!(
        (&call.arguments, call.malformed.as_deref()),
        (&json!({}), Some("{\"command\": \"rm -rf /tm"))
    );
    assert_eq!(message.stop_reason, StopReason::Length);
}

#[test]
fn thinking_is_read_from_each_field_once_and_remembers_it() {
    for field in THINKING_FIELDS {
        let mut both = json!({"content": null});
        both[field] = "hm ".into();
        both["reasoning_content"] = "hm ".into();
        let message = decode(&[delta(both), delta(json!({"content": "so"}))]);
        let [Content::Thinking { thinking, thinking_signature, .. }, Content::Text { text }] =
            &message.content[..]
        else {
            panic!("{:?}", message.content)
        };
        assert_eq!((thinking.as_str(), text.as_str()), ("hm ", "so"));
        assert!(thinking_signature.is_some());
    }
}

// P14
#[test]
fn usage_is_taken_wherever_it_stands_and_odd_numbers_do_no_harm() {
    let usage =
        json!({"prompt_tokens": 10, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 6}});
    let in_choice = json!({"choices": [{"delta": {}, "usage": usage, "finish_reason": "stop"}]});
    for event in [json!({"choices": [], "usage": usage}), in_choice] {
        let got = decode(&[event]).usage;
        assert_eq!((got.input, got.cache_read, got.output, got.total_tokens), (4, 6, 4, 14));
    }
    let odd = json!({"prompt_tokens": -1, "completion_tokens": 1e40, "prompt_tokens_details": {"cached_tokens": 99}});
    let got = decode(&[json!({"usage": odd})]).usage;
    assert_eq!((got.input, got.cache_read, got.output, got.total_tokens), (0, 0, u64::MAX, u64::MAX));
}

// P14, P17
#[test]
fn unknown_shapes_are_ignored_and_an_empty_reply_is_an_end() {
    for event in [
        json!({}),
        json!({"choices": null}),
        json!({"choices": [null]}),
        json!({"choices": [{"delta": {"tool_calls": [null, 3, {}], "content": 7}}]}),
        json!({"choices": [{"delta": null, "finish_reason": ""}]}),
    ] {
        assert_eq!(decoder().event(&event).unwrap(), Progress::More, "{event}");
    }
    let message = decode(&[]);
    assert_eq!((message.content.len(), message.stop_reason), (0, StopReason::Stop));
    assert_eq!(
        decode(&[finish("tool_calls")]).stop_reason,
        StopReason::Stop,
        "no calls, nothing to wait for"
    );
}

#[test]
fn a_filtered_or_failed_answer_is_no_good_answer() {
    assert!(matches!(decoder().event(&finish("content_filter")), Err(Flaw::Withheld(_))));
    assert!(matches!(decoder().event(&finish("error")), Err(Flaw::Reported(_))));
}
