use serde_json::json;

use super::*;

#[test]
fn results_are_built_from_pieces() {
    let result = ToolResult::text("a").and_image("image/png", vec![1]).and_text("b").failed();
    assert_eq!(result.as_text(), "a\nb");
    assert!(result.is_error);
    let detailed = ToolResult::text("a").with_details(&json!({ "n": 1 })).unwrap();
    assert_eq!(detailed.details.as_deref(), Some(r#"{"n":1}"#));
}

#[test]
fn call_arguments_are_read_as_a_type_or_as_one_text() {
    let call = ToolCall {
        id: String::new(),
        name: String::new(),
        arguments: r#"{"command":"ls","n":[1,"x"]}"#.into(),
    };
    assert_eq!(call.text_argument("command").as_deref(), Some("ls"));
    assert_eq!(call.text_argument("n"), None);
    #[derive(Debug, serde::Deserialize)]
    struct Arguments {
        #[allow(dead_code, reason = "only the error is looked at")]
        n: Vec<u32>,
    }
    let error = call.arguments::<Arguments>().unwrap_err();
    assert!(error.message().starts_with("the arguments at `n[1]`: invalid type: string \"x\""), "{error}");
}

#[test]
fn host_errors_are_sentences() {
    assert_eq!(HostError::Denied("key-value".to_owned()).to_string(), "denied: key-value");
    assert_eq!(Error::from(HostError::TimedOut).message(), "timed out");
}

#[test]
fn messages_show_their_text_alone() {
    let mut message = Message::user("a");
    message.content.push(Content::Thinking("hidden".to_owned()));
    message.content.push("b".into());
    assert_eq!(message.text(), "a\nb");
}
