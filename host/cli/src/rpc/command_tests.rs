use super::*;
use serde_json::json;

fn malformed(line: &str) -> Value {
    match read(line.as_bytes()) {
        Incoming::Malformed(response) => serde_json::to_value(response).unwrap(),
        other => panic!("{line}: {other:?}"),
    }
}

fn command(value: Value) -> Command {
    match read(value.to_string().as_bytes()) {
        Incoming::Request(request) => request.command,
        other => panic!("{value}: {other:?}"),
    }
}

// 001-142
#[test]
fn a_line_that_is_no_command_is_answered_as_such() {
    for line in ["", "{", "not json", "\u{feff}{}", "{\"type\":\"get_state\"} {}"] {
        let answer = malformed(line);
        assert_eq!((&answer["command"], &answer["success"]), (&json!("parse"), &json!(false)), "{line}");
        assert_eq!(answer.get("id"), None);
        assert!(answer["error"].as_str().unwrap().contains("no JSON"), "{answer}");
    }
    for line in ["[]", "null", "\"prompt\"", "{}", "{\"id\":7,\"type\":7}", "[{\"type\":\"abort\"}]"] {
        assert_eq!(malformed(line)["command"], "parse", "{line}");
    }
    assert_eq!(malformed("{\"id\":7,\"type\":7}")["id"], 7);
    assert!(matches!(read(b"{\"type\":\"\xff\"}"), Incoming::Malformed(_)));
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(malformed(&deep)["command"], "parse");
}

// 001-142
#[test]
fn what_is_wrong_with_a_command_is_named_and_its_id_given_back() {
    let unknown = malformed("{\"id\":\"a\",\"type\":\"make_tea\"}");
    assert_eq!((&unknown["id"], &unknown["command"]), (&json!("a"), &json!("make_tea")));
    assert!(unknown["error"].as_str().unwrap().contains("no command `make_tea`; there is: prompt,"));
    let cases = [
        (json!({"type": "prompt"}), "missing field `message`"),
        (json!({"type": "set_model", "provider": "p"}), "missing field `modelId`"),
        (json!({"type": "set_auto_retry", "enabled": "yes"}), "expected a boolean"),
        (json!({"type": "set_thinking_level", "level": "extreme"}), "unknown variant `extreme`"),
        (json!({"type": "set_steering_mode", "mode": "some"}), "unknown variant `some`"),
        (json!({"type": "prompt", "message": "x", "images": [{"type": "text"}]}), "unknown variant `text`"),
        (json!({"type": "prompt", "message": "x", "streamingBehavior": "now"}), "unknown variant `now`"),
    ];
    for (mut value, says) in cases {
        value["id"] = json!({"any": ["kind"]});
        let answer = malformed(&value.to_string());
        assert_eq!((&answer["id"], &answer["command"]), (&value["id"], &value["type"]));
        assert!(answer["error"].as_str().unwrap().contains(says), "{answer}");
    }
}

#[test]
fn every_name_is_a_command_and_every_command_has_a_name() {
    for name in Command::NAMES {
        let fields = json!({
            "type": name, "message": "m", "provider": "p", "modelId": "m", "command": "c", "sessionPath": "s",
            "entryId": "e", "name": "n", "enabled": true,
            "level": "high", "mode": "all",
        });
        command(fields);
    }
    let unknown = serde_json::from_value::<Command>(json!({"type": "x"})).unwrap_err().to_string();
    assert_eq!(unknown.matches('`').count(), 2 * (Command::NAMES.len() + 1), "{unknown}");
}

#[test]
fn fields_have_the_names_that_pi_gives_them() {
    let image = json!({"type": "image", "data": "aGk=", "mimeType": "image/png"});
    let sent = json!({"id": 1, "type": "prompt", "message": "m", "images": [image], "streamingBehavior": "followUp"});
    let Command::Prompt { message: text, images, streaming_behavior } = command(sent) else { panic!() };
    assert_eq!(streaming_behavior, Some(StreamingBehavior::FollowUp));
    let built = serde_json::to_value(message(&text, images).unwrap()).unwrap();
    assert_eq!(built["content"], json!([{"type": "text", "text": "m"}, image]));
    assert!(message(" \n", None).is_none() && message("", Some(vec![])).is_none());
    let cases = [
        (
            json!({"type": "new_session", "parentSession": "p"}),
            Command::NewSession { parent_session: Some("p".into()) },
        ),
        (
            json!({"type": "compact", "customInstructions": null}),
            Command::Compact { custom_instructions: None },
        ),
        (
            json!({"type": "bash", "command": "c", "excludeFromContext": true}),
            Command::Bash { command: "c".into(), exclude_from_context: Some(true) },
        ),
        (
            json!({"type": "set_follow_up_mode", "mode": "one-at-a-time"}),
            Command::SetFollowUpMode { mode: Mode::OneAtATime },
        ),
        (
            json!({"type": "export_html", "outputPath": "o"}),
            Command::ExportHtml { output_path: Some("o".into()) },
        ),
    ];
    for (sent, expected) in cases {
        assert_eq!(command(sent), expected);
    }
}

#[test]
fn an_answer_to_a_question_is_told_apart() {
    let line = json!({"type": "extension_ui_response", "id": "q", "confirmed": true}).to_string();
    let Incoming::Reply(reply) = read(line.as_bytes()) else { panic!() };
    assert_eq!((reply.id.as_str(), reply.confirmed, reply.cancelled), ("q", Some(true), false));
    assert_eq!(malformed("{\"type\":\"extension_ui_response\"}")["command"], "extension_ui_response");
}
