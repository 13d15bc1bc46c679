use super::*;
use HookEvent::{PostToolUse, PreToolUse, SessionStart, UserPromptSubmit};
use serde_json::json;

fn outcome(code: i32, stdout: &str, stderr: &str) -> ProgramOutcome {
    ProgramOutcome {
        exit_code: Some(code),
        stdout: stdout.into(),
        stderr: stderr.into(),
        ..ProgramOutcome::default()
    }
}

fn says(event: HookEvent, stdout: &str) -> Result<Answer, String> {
    Answer::of(event, &outcome(0, stdout, ""))
}

fn json(output: Value) -> Answer {
    says(PreToolUse, &output.to_string()).unwrap()
}

fn permission(word: &str) -> Value {
    json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": "why",
    }})
}

#[test]
fn exit_codes_0_and_2_are_answers_and_every_other_is_a_failure() {
    assert_eq!(Answer::of(PreToolUse, &outcome(0, " \n", "noise")).unwrap(), Answer::default());
    let no = Answer::of(PreToolUse, &outcome(2, "{not looked at", "not here\n")).unwrap();
    assert_eq!(no.decision, Decision::Deny("not here".into()));
    let silent = Answer::of(PreToolUse, &outcome(2, "", "")).unwrap();
    assert_eq!(silent.decision, Decision::Deny("blocked by a hook".into()));
    let failed = Answer::of(PreToolUse, &outcome(1, "", "jq: not found")).unwrap_err();
    assert_eq!(failed, "it ended with exit code 1 (0 is an answer, 2 is a no): jq: not found");
    let signal = ProgramOutcome { exit_code: None, ..ProgramOutcome::default() };
    assert_eq!(Answer::of(PreToolUse, &signal).unwrap_err(), "it was ended by a signal");
}

#[test]
fn a_permission_decision_denies_or_asks_and_its_allow_is_silence() {
    assert_eq!(json(permission("deny")).decision, Decision::Deny("why".into()));
    assert_eq!(json(permission("ask")).decision, Decision::Ask("why".into()));
    assert_eq!(json(permission("allow")), Answer::default());
    assert!(says(PreToolUse, &permission("perhaps").to_string()).unwrap_err().contains("perhaps"));
}

#[test]
fn the_older_words_work_and_the_stricter_of_two_counts() {
    assert_eq!(json(json!({"decision": "block", "reason": "old"})).decision, Decision::Deny("old".into()));
    assert_eq!(json(json!({"decision": "approve"})), Answer::default());
    let mut both = permission("allow");
    both["decision"] = "block".into();
    assert_eq!(json(both).decision, Decision::Deny("why".into()));
}

#[test]
fn the_other_fields_are_read_and_unknown_ones_change_nothing() {
    let answer = json(json!({
        "continue": false, "stopReason": "enough", "systemMessage": "look", "suppressOutput": true,
        "hookSpecificOutput": {"updatedInput": {"command": "ls"}, "additionalContext": "note"},
    }));
    assert_eq!(
        answer,
        Answer {
            decision: Decision::None,
            updated_input: Some(json!({"command": "ls"})),
            context: Some("note".into()),
            stop: Some("enough".into()),
            message: Some("look".into()),
        }
    );
}

#[test]
fn output_out_of_form_is_a_failure() {
    for wrong in [
        "{",
        "{\"continue\": \"no\"}",
        "{\"hookSpecificOutput\": {\"updatedInput\": \"ls\"}}",
        "{\"hookSpecificOutput\": {\"hookEventName\": \"Stop\"}}",
        "{\"hookSpecificOutput\": {\"updatedToolOutput\": \"less\"}}",
        "{\"hookSpecificOutput\": {\"updatedMCPToolOutput\": \"less\"}}",
        "DENY",
    ] {
        assert!(says(PreToolUse, wrong).is_err(), "{wrong}");
    }
    let bytes = ProgramOutcome { exit_code: Some(0), stdout: vec![0xff, b'{'], ..ProgramOutcome::default() };
    assert!(Answer::of(PreToolUse, &bytes).unwrap_err().contains("no text"));
    let cut = ProgramOutcome { truncated: true, ..outcome(0, "{\"decision\": \"block\"}", "") };
    assert!(Answer::of(PreToolUse, &cut).is_err());
}

#[test]
fn plain_words_are_context_where_claude_code_takes_them_as_such() {
    assert_eq!(says(UserPromptSubmit, "it rains\n").unwrap().context.as_deref(), Some("it rains"));
    assert_eq!(says(SessionStart, "it rains").unwrap().context.as_deref(), Some("it rains"));
    assert_eq!(says(PostToolUse, "formatted").unwrap(), Answer::default());
}
