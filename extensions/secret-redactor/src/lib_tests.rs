use super::corpus::{Chance, filled};
use super::*;
use capstan_sdk::testing;
use capstan_sdk::types::Image;
use proptest::prelude::*;
use serde_json::json;

/// A token that no one has: its form, with random characters.
fn token(template: &str) -> String {
    filled(template, &mut Chance::new(11))
}

fn hook(tool: &str, result: ToolResult) -> Option<Amendment> {
    redact_result(&testing::tool_call(tool, json!({})), result, &testing::context()).unwrap()
}

fn with(config: Value, text: &str) -> Option<String> {
    let redacted = testing::with_config(config, || hook("bash", ToolResult::text(text)));
    redacted.map(|amendment| amendment.content.unwrap()[0].as_text().unwrap().to_owned())
}

#[test]
fn it_asks_for_the_power_to_rewrite_results_and_fails_closed() {
    let descriptor = testing::describe::<Extension>();
    assert_eq!(descriptor.requests.len(), 1);
    let [hook] = descriptor.hooks.as_slice() else { panic!("{descriptor:?}") };
    assert_eq!(hook.on_failure, capstan_sdk::FailureRule::Closed);
    assert!(hook.tools.is_empty() && hook.priority > 0);
    // With a stricter one the host would switch it off where it can fail closed.
    assert_eq!(descriptor.config_schema.as_deref(), Some(r#"{"type":"object"}"#));
}

#[test]
fn a_placeholder_stands_where_the_credential_stood() {
    let key = token("ghp_<alnum:36>");
    let text = format!("one\nGITHUB_TOKEN={key} # for CI\nthree\n");
    assert_eq!(
        with(json!({}), &text).unwrap(),
        "one\nGITHUB_TOKEN=[redacted: github token] # for CI\nthree\n"
    );
    assert_eq!(with(json!({}), "nothing to see\n"), None);
}

#[test]
fn details_are_looked_through_with_their_names_and_pictures_stay() {
    let key = token("AKIA<upper:16>");
    let picture = Image { media_type: "image/png".to_owned(), data: key.clone().into_bytes() };
    let details = json!({
        "exitCode": 0,
        "log": format!("used {key}"),
        "db": { "password": "hunter22", "user": "ada" },
        "tokens": [key],
        key.clone(): 1,
    });
    let result =
        ToolResult::text("fine").and_image("image/png", picture.data).with_details(&details).unwrap();
    let amendment = hook("bash", result).unwrap();
    assert_eq!(amendment.content, None, "the text and the picture are as they were");
    let details: Value = serde_json::from_str(&amendment.details.unwrap()).unwrap();
    let expected = json!({
        "exitCode": 0,
        "log": "used [redacted: aws key]",
        "db": { "password": "[redacted: password]", "user": "ada" },
        "tokens": ["[redacted: aws key]"],
        "[redacted: aws key]": 1,
    });
    assert_eq!(details, expected);
}

#[test]
fn what_was_taken_out_is_logged_by_kind_and_never_by_value() {
    let key = token("sk-ant-api03-<word:93>AA");
    let (_, recorded) = testing::Host::new().run(|| hook("bash", ToolResult::text(format!("{key} {key}"))));
    assert_eq!(recorded.logs[0].1, "took out of the result of bash: 2 × anthropic key");
    assert_eq!(recorded.logs.len(), 1);
}

#[test]
fn the_user_allows_values_and_adds_names_and_forms() {
    let key = token("AKIA<upper:16>");
    assert_eq!(with(json!({ "allow": ["AKIA*"] }), &key), None);
    assert!(with(json!({ "allow": ["ASIA*"] }), &key).is_some());
    let line = "X-Acme-Seal: open sesame";
    assert_eq!(with(json!({}), line), None);
    let named = with(json!({ "names": ["x-acme-*"] }), line).unwrap();
    assert_eq!(named, "X-Acme-Seal: [redacted: secret] sesame");
    let own = json!({ "pattern": [{ "kind": "acme token", "starts-with": "acme_", "shortest": 6 }] });
    assert_eq!(with(own.clone(), "see acme_123abc!").unwrap(), "see [redacted: acme token]!");
    assert_eq!(with(own, "see acme_12 and tacme_123abc"), None);
}

#[test]
fn tools_can_be_left_out_and_nameless_keys_put_in() {
    let key = token("AKIA<upper:16>");
    let config = json!({ "skip-tools": ["read_*"] });
    let skipped = testing::with_config(config, || hook("read_key", ToolResult::text(key.as_str())));
    assert_eq!(skipped, None);
    let nameless = token("made <b64:64>\n");
    assert_eq!(with(json!({}), &nameless), None);
    assert_eq!(with(json!({ "unnamed": true }), &nameless).unwrap(), "made [redacted: random text]\n");
}

#[test]
fn a_wrong_configuration_and_unreadable_details_are_failures_which_withhold_the_result() {
    let call = testing::tool_call("bash", json!({}));
    let run = |result| redact_result(&call, result, &testing::context());
    let wrong = testing::with_config(json!({ "alow": [] }), || run(ToolResult::text("x")));
    assert!(wrong.unwrap_err().to_string().contains("alow"));
    let broken = ToolResult { details: Some("{".to_owned()), ..ToolResult::text("x") };
    assert!(run(broken).unwrap_err().to_string().contains("details"));
}

#[test]
fn texts_made_to_be_slow_are_not() {
    // Each would take hours if a look ahead were repeated for each place.
    for part in [
        "eyJ-",
        "eyJ.",
        "a=",
        "://",
        "://a:",
        "password",
        "-----BEGIN PRIVATE KEY-----\n",
        "sk-ant-",
        "token: ",
        "\"",
        "--token \"",
    ] {
        let text = part.repeat((1 << 19) / part.len());
        redacted(&text, &Config { unnamed: true, ..Config::default() }, &mut Counts::new());
    }
}

/// Pieces of which texts are made that are full of findings.
fn piece() -> impl Strategy<Value = String> {
    let tokens = [
        "ghp_<alnum:36>",
        "AKIA<upper:16>",
        "sk-ant-<word:40>",
        "eyJ<b64url:20>.eyJ<b64url:20>.<b64url:20>",
        "<hex:40>",
    ];
    let token =
        (0..tokens.len(), any::<u64>()).prop_map(move |(n, seed)| filled(tokens[n], &mut Chance::new(seed)));
    prop_oneof![
        3 => token,
        3 => prop::sample::select(vec![
            "password", "token", "api_key", "=", ": ", "\"", "'", "\n", " ", "://", "@", ":", "a", "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----", "Authorization: ", "Bearer ", "Cookie: ", ";", "--", "\\n", "\\\"", "(", "[redacted: x]", "hunter2",
        ]).prop_map(str::to_owned),
        1 => "\\PC{0,12}",
    ]
}

proptest! {
    #[test]
    fn what_is_clean_stays_clean_and_what_is_left_was_there(pieces in prop::collection::vec(piece(), 0..24)) {
        let text = pieces.concat();
        let mut counts = Counts::new();
        let config = Config::default();
        match redacted(&text, &config, &mut counts) {
            None => prop_assert!(counts.is_empty()),
            Some(clean) => {
                prop_assert_ne!(&clean, &text);
                prop_assert_eq!(redacted(&clean, &config, &mut Counts::new()), None, "{:?} gave {:?}", text, clean);
                let found: usize = counts.values().sum();
                prop_assert!(clean.len() <= text.len() + found * 40);
                prop_assert_eq!(clean.matches('\n').count(), text.matches('\n').count());
            }
        }
    }

    #[test]
    fn any_text_and_any_json_is_read(text in "\\PC*", name in "\\PC{0,20}") {
        redacted(&text, &Config { unnamed: true, ..Config::default() }, &mut Counts::new());
        let mut value = json!({ name: text });
        redact_value(&mut value, None, &Config::default(), &mut Counts::new());
    }
}
