use super::*;
use capstan_ports::ToolOutcome;

fn misses(expect: &str, outcome: &Outcome) -> Vec<String> {
    misses_of(expect, outcome, &Traces::default())
}

fn misses_of(expect: &str, outcome: &Outcome, traces: &Traces) -> Vec<String> {
    let expect: Expect = toml::from_str(expect).unwrap();
    expect.misses(outcome, traces)
}

fn verdict(reason: &str) -> Outcome {
    Outcome::Verdict(json!({"verdict": "block", "reason": reason}))
}

#[test]
fn every_stated_expectation_must_hold() {
    let result = Outcome::Result(ToolOutcome {
        details: Some(json!({"n": 2, "list": [{"a": 1, "b": 2}]})),
        ..ToolOutcome::text("two words")
    });
    for good in [
        "text = 'two words'",
        "contains = ['two', 'words']\nlacks = ['three']",
        "details = { n = 2 }",
        "details = { list = [{ a = 1 }] }",
        "",
    ] {
        assert_eq!(misses(good, &result), [""; 0], "{good}");
    }
    for bad in [
        "text = 'two'",
        "contains = ['two', 'three']",
        "lacks = ['two']",
        "is_error = true",
        "details = { n = 3 }",
        "details = { list = [] }",
        "failure = 'two'",
        "verdict = 'pass'",
        "files = { x = '' }",
        "files = { '../x' = '' }",
    ] {
        assert_eq!(misses(bad, &result).len(), 1, "{bad}");
    }
    assert_eq!(misses("verdict = 'block'\ncontains = ['no']", &verdict("no way")), [""; 0]);
    assert_eq!(misses("answer = { verdict = 'pass' }", &verdict("no")).len(), 1);
}

#[test]
fn a_failure_is_never_taken_for_an_answer_and_an_error_result_must_be_expected() {
    let failure = Outcome::Failure("it trapped: unreachable".into());
    assert_eq!(misses("failure = 'trapped'", &failure), [""; 0]);
    assert_eq!(misses("failure = 'timed out'", &failure).len(), 1);
    assert_eq!(misses("contains = ['trapped']", &failure).len(), 1);
    let error = Outcome::Result(ToolOutcome::error("no"));
    assert_eq!(misses("text = 'no'", &error).len(), 1);
    assert_eq!(misses("text = 'no'\nis_error = true", &error), [""; 0]);
}

#[test]
fn what_came_out_holds_as_its_own_expectation() {
    let outcomes = [
        Outcome::Result(ToolOutcome { details: Some(json!({"n": 1})), ..ToolOutcome::error("no") }),
        verdict("no"),
        Outcome::Plan(vec!["one".into(), "two".into()]),
        Outcome::Action(json!({"action": "replace", "messages": ["kept"]})),
        Outcome::Shown("three items".into()),
        Outcome::Watched,
        Outcome::Failure("it trapped".into()),
    ];
    for outcome in outcomes {
        let expect: Expect = serde_json::from_value(outcome.as_expectation()).unwrap();
        assert_eq!(expect.misses(&outcome, &Traces::default()), [""; 0], "{outcome:?}");
    }
}

#[test]
fn plans_and_actions_are_compared_as_what_they_are() {
    let plan = Outcome::Plan(vec!["read".into(), "write".into()]);
    assert_eq!(misses("steps = ['read', 'write']\ncontains = ['wri']", &plan), [""; 0]);
    for bad in ["steps = ['read']", "steps = ['write', 'read']", "action = 'none'", "failure = 'read'"] {
        assert_eq!(misses(bad, &plan).len(), 1, "{bad}");
    }
    let action = Outcome::Action(json!({
        "action": "replace",
        "messages": ["first", {"role": "assistant", "content": "second"}],
    }));
    for good in [
        "action = 'replace'",
        "answer = { messages = ['first', { content = 'second' }] }",
        "text = \"\"\"first\nsecond\"\"\"",
    ] {
        assert_eq!(misses(good, &action), [""; 0], "{good}");
    }
    for bad in ["action = 'none'", "answer = { messages = ['first'] }", "steps = []", "verdict = 'pass'"] {
        assert_eq!(misses(bad, &action).len(), 1, "{bad}");
    }
}

#[test]
fn what_is_left_behind_can_be_expected() {
    let traces = Traces {
        stored: [("plain", "a text"), ("list", r#"[{"done": true, "n": 1}]"#)]
            .map(|(key, text)| (key.to_owned(), text.into()))
            .into(),
        logged: vec!["read 3 files".into()],
        emitted: vec![("saved".into(), json!({"n": 1, "at": 2}))],
        ..Traces::default()
    };
    for good in [
        "stored = { plain = 'a text', list = [{ done = true }] }",
        "stored = { list = '[{\"done\": true, \"n\": 1}]' }",
        "not_stored = ['other']",
        "logged = ['3 files', 'read']",
        "emitted = [{ label = 'saved' }, { label = 'saved', data = { n = 1 } }]",
    ] {
        assert_eq!(misses_of(good, &Outcome::Watched, &traces), [""; 0], "{good}");
    }
    for bad in [
        "stored = { plain = 'a' }",
        "stored = { other = 'a' }",
        "stored = { list = [] }",
        "not_stored = ['plain']",
        "logged = ['4 files']",
        "emitted = [{ label = 'saved', data = { n = 2 } }]",
        "emitted = [{ label = 'lost' }]",
    ] {
        assert_eq!(misses_of(bad, &Outcome::Watched, &traces).len(), 1, "{bad}");
    }
}
