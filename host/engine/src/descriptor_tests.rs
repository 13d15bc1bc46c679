use super::*;

fn raw() -> wit::Descriptor {
    wit::Descriptor {
        id: "sample".to_owned(),
        version: "1.0.0".to_owned(),
        summary: "A sample".to_owned(),
        tools: vec![tool("sample_tool", r#"{"type":"object"}"#)],
        hooks: Vec::new(),
        plan_parsers: Vec::new(),
        compressors: Vec::new(),
        commands: Vec::new(),
        requests: Vec::new(),
        config_schema: None,
        lifetime: wit::Lifetime::Call,
    }
}

fn tool(name: &str, parameters: &str) -> wit::Tool {
    wit::Tool {
        name: name.to_owned(),
        label: String::new(),
        description: "Does something".to_owned(),
        parameters: parameters.to_owned(),
        execution: wit::Execution::Parallel,
    }
}

fn hook(stage: wit::Stage, tools: &[&str]) -> wit::Hook {
    wit::Hook {
        stage,
        tools: tools.iter().map(|&tool| tool.to_owned()).collect(),
        priority: 5,
        on_failure: wit::FailureRule::Standard,
    }
}

fn exports() -> BTreeSet<Interface> {
    BTreeSet::from([Interface::Extension, Interface::Tools, Interface::BeforeToolCall])
}

fn refusal(raw: wit::Descriptor) -> String {
    check(raw, &exports()).expect_err("must be refused").to_string()
}

#[test]
fn a_sound_descriptor_is_taken_over() {
    let descriptor = check(raw(), &exports()).unwrap();
    assert_eq!(descriptor.tools[0].label, "sample_tool");
    assert_eq!(descriptor.hooks[0].stage, HookStage::BeforeToolCall, "exported but not listed: the defaults");
}

// reliability A16, H6
#[test]
fn tool_names_out_of_form_confusable_or_double_are_refused() {
    for name in ["", "re ad", "rеad", "bash", "Ba5h", "\u{1b}[31m"] {
        let text = refusal(wit::Descriptor { tools: vec![tool(name, r#"{"type":"object"}"#)], ..raw() });
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
    let twice = vec![tool("map", r#"{"type":"object"}"#), tool("M_ap", r#"{"type":"object"}"#)];
    assert!(refusal(wit::Descriptor { tools: twice, ..raw() }).contains("reads like"));
}

// reliability A15
#[test]
fn schemas_must_be_local_objects_of_bounded_size() {
    let large = format!(r#"{{"type":"object","x":"{}"}}"#, "y".repeat(MAX_SCHEMA_BYTES));
    for parameters in [
        "not json",
        "[]",
        r#"{"type":"string"}"#,
        r#"{"type":"object","properties":{"a":{"$ref":"https://example.com/schema"}}}"#,
        &large,
    ] {
        refusal(wit::Descriptor { tools: vec![tool("map", parameters)], ..raw() });
    }
    let local =
        r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}"##;
    assert!(check(wit::Descriptor { tools: vec![tool("map", local)], ..raw() }, &exports()).is_ok());
}

// reliability T3
#[test]
fn invisible_characters_in_texts_are_refused() {
    for text in ["two\u{200b}words", "right\u{202e}left", "bell\u{7}"] {
        refusal(wit::Descriptor { summary: text.to_owned(), ..raw() });
        let mut tool = tool("map", r#"{"type":"object"}"#);
        tool.description = text.to_owned();
        refusal(wit::Descriptor { tools: vec![tool], ..raw() });
    }
}

#[test]
fn what_is_declared_must_be_exported() {
    let text = refusal(wit::Descriptor { plan_parsers: vec!["lines".to_owned()], ..raw() });
    assert!(text.contains("plan-parser"), "{text}");
    let text = refusal(wit::Descriptor { hooks: vec![hook(wit::Stage::AfterToolCall, &[])], ..raw() });
    assert!(text.contains("after-tool-call"), "{text}");
    let without_tools = BTreeSet::from([Interface::Extension]);
    assert!(check(raw(), &without_tools).is_err());
    assert!(check(wit::Descriptor { tools: Vec::new(), ..raw() }, &exports()).is_err());
}

#[test]
fn hook_filters_are_globs_and_listed_once() {
    let good = hook(wit::Stage::BeforeToolCall, &["ba*", "write"]);
    assert_eq!(
        check(wit::Descriptor { hooks: vec![good], ..raw() }, &exports()).unwrap().hooks[0].priority,
        5
    );
    refusal(wit::Descriptor { hooks: vec![hook(wit::Stage::BeforeToolCall, &["["])], ..raw() });
    let twice = vec![hook(wit::Stage::BeforeToolCall, &[]), hook(wit::Stage::BeforeToolCall, &[])];
    refusal(wit::Descriptor { hooks: twice, ..raw() });
}

// C14
#[test]
fn a_hostile_filter_is_refused_by_its_length_or_matches_in_linear_time() {
    let long = "*a".repeat(10_000);
    refusal(wit::Descriptor { hooks: vec![hook(wit::Stage::BeforeToolCall, &[&long])], ..raw() });
    // Backtracking over this would take longer than the universe has.
    let stars = format!("{}b", "*a".repeat(30));
    let good = hook(wit::Stage::BeforeToolCall, &[&stars]);
    assert!(check(wit::Descriptor { hooks: vec![good], ..raw() }, &exports()).is_ok());
    let matcher = globset::Glob::new(&stars).unwrap().compile_matcher();
    assert!(!matcher.is_match("a".repeat(64)));
    assert!(matcher.is_match(format!("{}b", "a".repeat(63))));
}

// reliability H7
#[test]
fn ten_thousand_hooks_are_refused_as_a_whole() {
    let hooks = vec![hook(wit::Stage::BeforeToolCall, &["bash"]); 10_000];
    let text = refusal(wit::Descriptor { hooks, ..raw() });
    assert!(text.contains("it is listed twice"), "{text}");
    let tools = vec!["bash"; 10_000];
    let text = refusal(wit::Descriptor { hooks: vec![hook(wit::Stage::BeforeToolCall, &tools)], ..raw() });
    assert!(text.contains("at most 128"), "{text}");
}
