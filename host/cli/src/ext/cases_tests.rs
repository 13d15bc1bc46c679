use super::*;
use serde_json::json;

fn cases(text: &str) -> Cases {
    Cases::parse(text).unwrap()
}

#[test]
fn a_case_calls_one_part_and_never_two() {
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
        name = "plan"
        parse = { parser = "p", raw = "1. a" }
        [[case]]
        name = "conversation"
        [case.compress]
        compressor = "c"
        messages = ["hello", { role = "assistant", content = "hi" }]
        window_tokens = 8000
        [[case]]
        name = "command"
        command = { name = "todo" }
        [[case]]
        name = "events"
        observe = [{ type = "turn_completed" }, '{"type": "agent_start"}']
        [[case]]
        name = "both"
        tool = "t"
        hook = "before-tool-call"
        [[case]]
        name = "nothing"
        [[case]]
        name = "arguments of no tool"
        hook = "before-tool-call"
        arguments = { n = 1 }
        "#,
    );
    let arguments = |at: usize| match read.cases[at].call().unwrap() {
        Call::Tool(_, arguments) => arguments,
        other => panic!("{other:?}"),
    };
    assert_eq!((arguments(0), arguments(1)), (json!({"n": 1}), json!({"n": null})));
    let calls: Vec<_> = read.cases.iter().map(Case::call).collect();
    assert!(matches!(&calls[2], Ok(Call::Hook(capstan_ports::HookStage::BeforeToolCall, _))));
    assert!(matches!(&calls[3], Ok(Call::Parse { parser, .. }) if parser == "p"));
    assert!(matches!(&calls[4], Ok(Call::Compress(name, _)) if name == "c"));
    assert!(matches!(&calls[5], Ok(Call::Command(name, line)) if name == "todo" && line.is_empty()));
    assert!(
        matches!(&calls[6], Ok(Call::Observe(events)) if events.len() == 2 && events[1]["type"] == "agent_start")
    );
    assert!(calls[7..].iter().all(Result::is_err));
}

#[test]
fn calls_before_that_of_a_case_are_written_like_it() {
    let read = cases(
        r#"
        [[case]]
        name = "twice"
        tool = "t"
        stored = { greeting = "hello", list = [1, 2] }
        [[case.before]]
        command = { name = "c" }
        "#,
    );
    assert!(matches!(read.cases[0].before[0].call(), Ok(Call::Command(..))));
    let inline = cases("[[case]]\nname = 'x'\ntool = 't'\nbefore = [{ tool = 't', arguments = { n = 1 } }]");
    assert!(matches!(inline.cases[0].before[0].call(), Ok(Call::Tool(..))));
}

#[test]
fn misspelt_keys_and_empty_files_are_refused() {
    for text in [
        "[[case]]\nname = 'x'\ntol = 't'",
        "[[case]]\nname = 'x'\ntool = 't'\n[case.expect]\ncontain = ['a']",
        "[[case]]\nname = 'x'\ntool = 't'\nbefore = [{ tol = 't' }]",
        "[[case]]\nname = 'x'\nparse = { parser = 'p', raw = '', gaol = '' }",
        "[[case]]\nname = 'x'\ncompress = { compressor = 'c', messages = [], windows_tokens = 1 }",
        "[[case]]\nname = 'x'\ncompress = { messages = [] }",
        "case = []",
    ] {
        assert!(Cases::parse(text).is_err(), "{text}");
    }
}
