use super::*;
use capstan_sdk::testing::{self, Host};
use proptest::prelude::*;
use serde_json::{Value, json};

/// The end of a round with these calls, in which each result came a second after the one before.
fn round(calls: &[(&str, &str, bool, Value)]) -> String {
    let call = |id: &str, tool: &str| json!({ "type": "toolCall", "id": id, "name": tool, "arguments": { "path": "secret.txt" } });
    let result = |n: usize, id: &str, answer: &str, is_error: bool, details: &Value| {
        json!({
            "role": "toolResult", "toolCallId": id, "content": [{ "type": "text", "text": answer }],
            "details": details, "isError": is_error, "timestamp": 1_796_089_229_000u64 + n as u64 * 1000,
        })
    };
    let event = json!({
        "message": {
            "role": "assistant", "provider": "openai", "model": "m", "timestamp": 1_796_089_228_000u64,
            "content": calls.iter().map(|(id, ..)| call(id, "read")).collect::<Vec<_>>(),
        },
        "toolResults": calls.iter().enumerate().map(|(n, (id, answer, is_error, details))| result(n, id, answer, *is_error, details)).collect::<Vec<_>>(),
    });
    format!("{{{ROUND},{}", &event.to_string()[1..])
}

fn ok(id: &str) -> String {
    round(&[(id, "contents", false, json!({}))])
}

fn audit(arguments: &str) -> String {
    show(arguments).unwrap()
}

#[test]
fn calls_are_recorded_with_what_became_of_them_and_without_contents() {
    Host::new().run(|| {
        assert_eq!(audit(""), "Nothing is recorded yet.");
        watch(&round(&[
            ("a", "contents", false, json!({})),
            ("b", "Permission denied: read-only", true, json!({})),
            ("c", "out\n\nCommand exited with code 3", true, json!({ "exitCode": 3 })),
            ("d", "x", true, json!({ "timedOut": true })),
            ("e", "Not executed, it needs approval: later", true, json!({})),
            ("f", "something else", true, json!({})),
        ]))
        .unwrap();
        let shown = audit("");
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(
            lines[0],
            "2026-12-01 01:40:29  read           ok                21 →       8 bytes  openai/m"
        );
        for (line, outcome) in
            lines[1..].iter().zip(["denied", "exit code 3", "timed out", "put off", "error"])
        {
            assert!(line.contains(outcome), "{line}");
        }
        assert_eq!(lines[6], "6 of 6 entries, times in UTC");
        assert!(!shown.contains("secret.txt") && !shown.contains("contents"));
        assert_eq!(audit("2").lines().count(), 3);
        assert_eq!(audit("clear"), "Removed 6 entries.");
        assert_eq!(audit("5"), "Nothing is recorded yet.");
    });
}

#[test]
fn the_user_can_have_contents_and_choose_tools() {
    Host::new().config(json!({ "arguments": true, "results": true })).run(|| {
        watch(&ok("a")).unwrap();
        assert!(audit("").contains("    < {\"path\":\"secret.txt\"}\n    > contents"), "{}", audit(""));
    });
    Host::new().config(json!({ "tools": ["w*"] })).run(|| {
        watch(&ok("a")).unwrap();
        assert_eq!(audit(""), "Nothing is recorded yet.");
    });
}

#[test]
fn the_oldest_make_room() {
    Host::new().config(json!({ "entries": 3 })).run(|| {
        for id in ["a", "b", "c", "d", "e"] {
            let later = ok(id).replace("1796089229", &format!("17960892{:02}", 30 + id.as_bytes()[0] - b'a'));
            watch(&later).unwrap();
        }
        let shown = audit("");
        assert!(
            shown.starts_with("2026-12-01 01:40:32") && shown.ends_with("3 of 3 entries, times in UTC"),
            "{shown}"
        );
    });
}

#[test]
fn a_call_without_a_result_and_a_model_that_failed_are_recorded_too() {
    Host::new().run(|| {
        let unanswered = ok("a").replace("\"toolCallId\":\"a\"", "\"toolCallId\":\"other\"");
        watch(&unanswered).unwrap();
        assert!(audit("").contains("no result"), "{}", audit(""));
        let failed =
            round(&[]).replace("\"model\":\"m\"", "\"model\":\"m\",\"errorMessage\":\"overloaded: …\"");
        watch(&failed).unwrap();
        assert!(
            audit("").contains("(model)        failed") && !audit("").contains("overloaded"),
            "{}",
            audit("")
        );
    });
}

#[test]
fn other_events_are_passed_over_and_wrong_ones_change_nothing() {
    Host::new().run(|| {
        watch("{\"type\":\"agent_start\"}").unwrap();
        watch("no JSON").unwrap();
        assert!(
            watch("{\"type\":\"turn_end\",\"message\":1}").unwrap_err().to_string().contains("not recorded")
        );
        assert_eq!(audit(""), "Nothing is recorded yet.");
    });
}

#[test]
fn a_wrong_argument_says_what_is_right() {
    let error = show("many").unwrap_err().to_string();
    assert!(error.contains("/audit 50"), "{error}");
}

#[test]
fn it_asks_for_storage_and_for_nothing_else() {
    let descriptor = testing::describe::<Extension>();
    assert_eq!(descriptor.requests.len(), 1);
    assert!(descriptor.hooks.is_empty() && descriptor.tools.is_empty());
    assert_eq!(descriptor.commands[0].name, "audit");
}

proptest! {
    #[test]
    fn any_round_is_recorded_in_the_order_of_time(ids in prop::collection::vec("\\PC{0,200}", 1..12)) {
        Host::new().run(|| {
            let calls: Vec<_> = ids.iter().map(|id| (id.as_str(), "x", false, json!({}))).collect();
            watch(&round(&calls)).unwrap();
            let shown = audit("100");
            let times: Vec<&str> = shown.lines().filter(|line| line.starts_with("2026")).map(|line| &line[..19]).collect();
            assert!(times.is_sorted() && !times.is_empty());
        });
    }
}
