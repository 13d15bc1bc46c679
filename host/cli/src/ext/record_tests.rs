use super::*;
use serde_json::json;

const FILE: &str = r#"# Kept.

[[case]]
name = "first" # kept as well
tool = "t"

[case.expect]
text = "old"
details = { a = 1 }

# About the second.
[[case]]
name = "second"
tool = "t"
files = { "a.txt" = """
[[case]]
not one
""" }
"#;

fn expected(text: &str, at: usize) -> toml::Value {
    let file: toml::Table = text.parse().unwrap();
    file["case"][at]["expect"].clone()
}

#[test]
fn an_expectation_takes_the_place_of_the_old_one_and_the_rest_stays() {
    let file = FILE.replace("[[case]]\nnot one\n", "plain\n");
    let text =
        recorded(&file, &[(0, json!({"text": "two\n\"lines\"", "is_error": true, "gone": null}))]).unwrap();
    assert_eq!(
        expected(&text, 0),
        toml::Value::Table(toml::toml! { text = "two\n\"lines\""
        is_error = true })
    );
    assert!(text.starts_with("# Kept.\n") && text.contains("# kept as well"), "{text}");
    assert!(text.contains("# About the second.\n[[case]]"), "{text}");
    assert!(!text.contains("old"), "{text}");
    let text = recorded(&text, &[(1, json!({"answer": {"verdict": "pass"}}))]).unwrap();
    assert_eq!(expected(&text, 1)["answer"]["verdict"].as_str(), Some("pass"));
    assert_eq!(expected(&text, 0)["is_error"].as_bool(), Some(true));
}

#[test]
fn an_inline_expectation_is_replaced_too() {
    let text = "[[case]]\nname = \"x\"\nexpect = { text = \"a\" }\ntool = \"t\"\n";
    let text = recorded(text, &[(0, json!({"text": "b"}))]).unwrap();
    assert_eq!(expected(&text, 0)["text"].as_str(), Some("b"));
}

#[test]
fn a_file_that_cannot_be_followed_is_left_alone() {
    assert!(recorded(FILE, &[(1, json!({"text": "b"}))]).is_err());
    let text = "[[case]]\nname = \"x\"\nexpect = { text = \"\"\"a\nb\"\"\" }\n";
    assert!(recorded(text, &[(0, json!({"text": "b"}))]).is_err());
}
