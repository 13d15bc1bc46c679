use super::*;
use proptest::prelude::*;
use serde_json::json;

#[test]
fn what_plans_are_written_in_is_read() {
    let text = "steps:\n  - description: >\n      look\n      around\n    done: true\n  - 'it''s: quoted'\n  - plain\n  - {task: flow}\n";
    let expected = json!({"steps": [
        {"description": "look around\n", "done": true}, "it's: quoted", "plain", {"task": "flow"},
    ]});
    assert_eq!(read(text).unwrap(), expected);
    assert_eq!(read("").unwrap(), Value::Null);
}

#[test]
fn references_and_endless_nesting_are_refused() {
    let bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n";
    let (line, said) = read(bomb).unwrap_err();
    assert!(line == 2 && said.contains("references"), "{line} {said}");
    for text in ["[".repeat(10_000), "- ".repeat(10_000), "{a: ".repeat(10_000), "? ".repeat(10_000)] {
        assert!(read(&text).is_err());
    }
}

#[test]
fn a_mistake_is_found_with_its_line() {
    let (line, _) = read("steps:\n  - a\n - b\n").unwrap_err();
    assert_eq!(line, 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn no_text_makes_the_reader_panic(text in "[-:?,{}\\[\\]\"'#&*!|>%@ \\n\\t~a1]{0,60}") {
        let _answer = read(&text);
    }

    #[test]
    fn no_unicode_makes_the_reader_panic(text in "(?s).{0,80}") {
        let _answer = read(&text);
    }
}
