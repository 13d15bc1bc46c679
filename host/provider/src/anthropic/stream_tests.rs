use super::*;
use capstan_ports::{AssistantMessage, Content};
use serde_json::json;

fn decoder() -> AnthropicDecoder {
    let scripted = crate::ScriptedModel::new([]);
    AnthropicDecoder::new(capstan_ports::Model::info(&scripted))
}

fn start(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn decode(events: &[Value]) -> AssistantMessage {
    let mut decoder = decoder();
    for event in events {
        decoder.event(event).unwrap();
    }
    let reason = decoder.stop_reason();
    decoder.draft().finish(reason)
}

fn stopped(reason: &str) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}})
}

#[test]
fn thinking_keeps_its_signature_and_encrypted_thinking_its_data() {
    let message = decode(&[
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "hm"})),
        delta(0, json!({"type": "signature_delta", "signature": "si"})),
        delta(0, json!({"type": "signature_delta", "signature": "g"})),
        stop(0),
        start(1, json!({"type": "redacted_thinking", "data": "blob"})),
        stop(1),
        start(2, json!({"type": "text", "text": "a"})),
        delta(2, json!({"type": "text_delta", "text": "b"})),
        stop(2),
        stopped("end_turn"),
    ]);
    let thinking = |thinking: &str, signature: &str, redacted| Content::Thinking {
        thinking: thinking.into(),
        thinking_signature: Some(signature.into()),
        redacted,
    };
    assert_eq!(
        message.content,
        [thinking("hm", "sig", false), thinking("", "blob", true), Content::text("ab")]
    );
    assert_eq!(message.stop_reason, StopReason::Stop);
}

#[test]
fn arguments_come_as_deltas_or_whole_with_the_start_or_not_at_all() {
    let tool = |id: &str, input: Value| json!({"type": "tool_use", "id": id, "name": "t", "input": input});
    let message = decode(&[
        start(0, tool("a", json!({}))),
        delta(0, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(0, json!({"type": "input_json_delta", "partial_json": "{\"n\":"})),
        delta(0, json!({"type": "input_json_delta", "partial_json": "1}"})),
        stop(0),
        start(1, tool("b", json!({"n": 2}))),
        stop(1),
        start(2, tool("c", json!({}))),
        stop(2),
        start(3, tool("d", json!({"n": 4}))),
        stopped("tool_use"),
    ]);
    let arguments: Vec<_> = message.tool_calls().map(|call| call.arguments.clone()).collect();
    assert_eq!(arguments, [json!({"n": 1}), json!({"n": 2}), json!({}), json!({"n": 4})]);
    assert!(message.tool_calls().all(|call| call.malformed.is_none()));
    assert_eq!(message.stop_reason, StopReason::ToolUse);
}

// 000-156, P6
#[test]
fn a_call_cut_off_by_the_output_limit_is_marked_malformed() {
    let message = decode(&[
        start(0, json!({"type": "tool_use", "id": "a", "name": "t", "input": {}})),
        delta(0, json!({"type": "input_json_delta", "partial_json": "{\"a\": 1,"})),
        stopped("max_tokens"),
    ]);
    let call = message.tool_calls().next().unwrap();
    assert_eq!((&call.arguments, call.malformed.as_deref()), (&json!({}), Some("{\"a\": 1,")));
    assert_eq!(message.stop_reason, StopReason::Length);
}

// P14
#[test]
fn unknown_blocks_deltas_and_events_and_those_out_of_order_are_left_out() {
    let message = decode(&[
        json!({"type": "something_new", "x": 1}),
        json!({"type": "ping"}),
        json!({}),
        delta(7, json!({"type": "text_delta", "text": "lost"})),
        stop(9),
        start(0, json!({"type": "server_tool_use", "id": "s", "name": "web_search"})),
        delta(0, json!({"type": "input_json_delta", "partial_json": "{}"})),
        stop(0),
        start(1, json!({"type": "text"})),
        delta(1, json!({"type": "citations_delta", "citation": {}})),
        delta(1, json!({"type": "text_delta", "text": "kept"})),
        stop(1),
        delta(1, json!({"type": "text_delta", "text": " late"})),
        stop(1),
    ]);
    assert_eq!(message.content, [Content::text("kept")]);
}

// P14
#[test]
fn usage_grows_from_start_to_end_and_odd_numbers_do_no_harm() {
    let first = json!({"input_tokens": 5, "output_tokens": 1, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 2});
    let usage =
        decode(&[json!({"type": "message_start", "message": {"usage": first}}), stopped("end_turn")]).usage;
    assert_eq!(
        (usage.input, usage.output, usage.cache_read, usage.cache_write, usage.total_tokens),
        (5, 9, 7, 2, 23)
    );
    let odd = json!({"input_tokens": -5, "output_tokens": 1e30, "cache_read_input_tokens": null});
    let usage = decode(&[json!({"type": "message_start", "message": {"usage": odd}})]).usage;
    assert_eq!((usage.input, usage.output, usage.total_tokens), (0, u64::MAX, u64::MAX));
}

#[test]
fn a_refusal_is_no_good_answer_and_unknown_reasons_are_an_end() {
    assert!(matches!(decoder().event(&stopped("refusal")), Err(Flaw::Withheld(_))));
    for (word, reason) in [
        ("stop_sequence", StopReason::Stop),
        ("pause_turn", StopReason::Stop),
        ("something_new", StopReason::Stop),
        ("model_context_window_exceeded", StopReason::Length),
        ("tool_use", StopReason::Stop),
    ] {
        assert_eq!(decode(&[stopped(word)]).stop_reason, reason, "{word} without calls");
    }
}
