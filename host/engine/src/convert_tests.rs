use super::*;

fn refusal(text: &str) -> String {
    json(text, "details").unwrap_err().to_string()
}

// reliability A13: neither parsing nor dropping recurses deeply.
#[test]
fn json_that_is_nested_too_deeply_is_garbage() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(refusal(&deep).contains("recursion limit"), "{}", refusal(&deep));
    let fits = format!("{}{}", "[".repeat(100), "]".repeat(100));
    assert!(json(&fits, "details").is_ok());
}

// reliability A14
#[test]
fn each_odd_form_of_json_has_one_meaning() {
    // Of two equal keys the last counts, as in most readers.
    assert_eq!(json(r#"{"a": 1, "a": 2}"#, "details").unwrap(), serde_json::json!({"a": 2}));
    // A number beyond an integer is the nearest floating-point number; one beyond all numbers is none.
    let large = json("123456789012345678901234567890", "details").unwrap();
    assert_eq!(large.as_f64(), Some(123_456_789_012_345_678_901_234_567_890_f64));
    for garbage in ["1e999", r#""\ud800""#, "{} x", "{}{}", "NaN", "'a'", "{a: 1}", "[1,]", "", "\u{feff}{}"]
    {
        assert!(refusal(garbage).starts_with("it did something"), "{garbage}: {}", refusal(garbage));
    }
}
