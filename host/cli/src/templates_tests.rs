use super::*;

fn templates(files: &[(&str, &str)]) -> Templates {
    Templates::new(files.iter().map(|(name, text)| (Origin::User, *name, text.as_bytes())))
}

fn read(text: &str, line: &str) -> Option<String> {
    templates(&[("go", text)]).read(line).map(Result::unwrap)
}

#[test]
fn a_line_calls_a_template_by_its_whole_name() {
    for (line, text) in [
        ("/go", Some("<>")),
        ("/go  a  b ", Some("<a b>")),
        ("/go\na", Some("<a>")),
        ("/go \"a b\" c", Some("<a b c>")),
        ("/gone", None),
        ("//go", None),
        ("go", None),
        (" /go", None),
        ("/", None),
        ("", None),
    ] {
        assert_eq!(read("<$@>", line).as_deref(), text, "{line:?}");
    }
}

#[test]
fn arguments_without_a_place_are_not_lost() {
    assert_eq!(read("Review.\n", "/go src/main.rs, 'quoted'").unwrap(), "Review.\n\nsrc/main.rs, 'quoted'");
    assert_eq!(read("Review.\n", "/go").unwrap(), "Review.\n");
}

#[test]
fn front_matter_is_for_people_and_not_for_the_model() {
    let text = "---\r\ndescription: \"Reviews: all\"\r\nargument-hint: <file> [depth]\r\nother: x\r\n---\r\n\r\nReview $1.";
    let all = templates(&[("go", text)]);
    let template = all.list().next().unwrap();
    assert_eq!(
        (template.description.as_str(), template.argument_hint.as_deref()),
        ("Reviews: all", Some("<file> [depth]"))
    );
    assert_eq!(all.read("/go a").unwrap().unwrap(), "Review a.");

    let description = |text: &str| templates(&[("go", text)]).list().next().unwrap().description.clone();
    assert_eq!(description("---\ndescription: |\n  two\n  lines\n---\nx"), "two lines");
    assert_eq!(description("---\ndescription:\n---\n\n  First line.  \nx"), "First line.");
    assert_eq!(description("---\nno end\n"), "---", "without a second line of hyphens it is all text");
    assert_eq!(description(&"é".repeat(100)), format!("{}…", "é".repeat(60)));
    assert_eq!(description("---\n---\n"), "");
}

#[test]
fn names_that_cannot_be_typed_and_texts_that_are_none_are_left_out() {
    let long = "x".repeat(65);
    let all = templates(&[
        ("ok-1.x_y:z", "a"),
        ("", "a"),
        ("two words", "a"),
        ("a/b", "a"),
        ("a\u{202e}b", "a"),
        (&long, "a"),
    ]);
    assert_eq!(all.list().count(), 1);
    assert_eq!(all.notices.len(), 5);
    let all = Templates::new([(Origin::User, "go", &b"\xff"[..])]);
    assert!(all.list().next().is_none() && all.notices[0].contains("go.md is left out: it is no UTF-8"));
    assert!(
        templates(&[("go", "---\ndescription: x\n---\n")]).read("/go").unwrap().is_err(),
        "nothing to say"
    );
}

#[test]
fn what_would_fill_the_memory_is_refused() {
    let all = templates(&[("go", &"$@".repeat(30_000))]);
    let error = all.read(&format!("/go {}", "x".repeat(1000))).unwrap().unwrap_err().to_string();
    assert!(error.contains("/go") && error.contains("longer than 1 MiB"), "{error}");
    assert!(all.read("/go x").unwrap().is_ok(), "the control");
}
