use super::*;

fn cases(text: &str) -> Cases {
    Cases::parse(text).unwrap()
}

fn misses(expect: &str, outcome: &Outcome) -> Vec<String> {
    let expect: Expect = toml::from_str(expect).unwrap();
    expect.misses(outcome, Path::new("/nowhere"))
}

fn verdict(reason: &str) -> Outcome {
    Outcome::Verdict(json!({"verdict": "block", "reason": reason}))
}

#[test]
fn a_case_asks_a_tool_or_a_hook_and_never_both() {
    let read = cases(
        r#"
        [[case]]
        name = "table"
        tool = "t"
        arguments = { n = 1 }
        [[case]]
        name = "json"
        tool = "t"
        arguments = '{"n": null}'
        [[case]]
        name = "hook"
        hook = "before-tool-call"
        input = { tool = "bash" }
        [[case]]
        name = "both"
        tool = "t"
        hook = "before-tool-call"
        "#,
    );
    let arguments = |at: usize| match read.cases[at].ask().unwrap() {
        Ask::Tool(_, arguments) => arguments,
        Ask::Hook(..) => panic!("a hook"),
    };
    assert_eq!((arguments(0), arguments(1)), (json!({"n": 1}), json!({"n": null})));
    assert!(matches!(read.cases[2].ask().unwrap(), Ask::Hook("before-tool-call", _)));
    assert!(read.cases[3].ask().is_err());
}

#[test]
fn misspelt_keys_and_empty_files_are_refused() {
    assert!(Cases::parse("[[case]]\nname = \"x\"\ntol = \"t\"").is_err());
    assert!(Cases::parse("[[case]]\nname = \"x\"\ntool = \"t\"\n[case.expect]\ncontain = [\"a\"]").is_err());
    assert!(Cases::parse("case = []").is_err());
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
        Outcome::Failure("it trapped".into()),
    ];
    for outcome in outcomes {
        let expect: Expect = serde_json::from_value(outcome.as_expectation()).unwrap();
        assert_eq!(expect.misses(&outcome, Path::new("/nowhere")), [""; 0], "{outcome:?}");
    }
}
