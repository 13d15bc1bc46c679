use super::*;

#[test]
fn names_and_values_are_held_to_a_form() {
    for good in ["GITHUB_TOKEN", "a", "api.key-2"] {
        assert_eq!(check_name(good), Ok(()));
    }
    for bad in ["", "a b", "a}", "ä", "a/b", &"a".repeat(65)] {
        assert!(check_name(bad).is_err(), "{bad}");
    }
    assert_eq!(check_value("N", "Basic dXNlcjpwYXNz"), Ok(()));
    for (bad, words) in [
        ("short", "fewer than 8"),
        ("with\nline break", "line breaks"),
        ("with \u{e9}\u{e9}\u{e9}\u{e9}", "line breaks"),
        (" leading space", "space"),
        ("{{secret:OTHER}}", "placeholder"),
        (&*"x".repeat(4097), "4,096"),
    ] {
        let refused = check_value("N", bad).expect_err(words).to_string();
        assert!(refused.contains(words) && !refused.contains(bad), "{refused}");
    }
}

// S4
#[test]
fn a_secret_is_bound_to_exactly_its_endpoint() {
    let binding = SecretBinding::new("KEY", "https://api.example.com").expect("a binding");
    let to = |url: &str| {
        let (scheme, authority) = url.split_once("://").expect(url);
        binding.is_bound_to(&Target::parse(scheme, authority).expect(url))
    };
    assert!(to("https://api.example.com"));
    for other in [
        "https://api.example.com:8443",
        "http://api.example.com",
        "https://example.com",
        "https://a.api.example.com",
    ] {
        assert!(!to(other), "{other}");
    }
    assert!(SecretBinding::new("KEY", "https://*.example.com").is_err());
    assert!(SecretBinding::new("K Y", "https://api.example.com").is_err());
}

#[test]
fn a_header_value_is_taken_apart_at_its_placeholders() {
    assert_eq!(pieces("plain {{text}}"), Some(vec![Piece::Text("plain {{text}}")]));
    assert_eq!(pieces(""), Some(Vec::new()));
    assert_eq!(
        pieces("Bearer {{secret:A}}{{secret:b.c}}!"),
        Some(vec![Piece::Text("Bearer "), Piece::Secret("A"), Piece::Secret("b.c"), Piece::Text("!")])
    );
    assert_eq!(pieces(&placeholder("A")), Some(vec![Piece::Secret("A")]));
    for broken in ["{{secret:A", "{{secret:}}", "{{secret:a b}}", "x {{secret:{{secret:A}}", "{{secret:A}"] {
        assert_eq!(pieces(broken), None, "{broken}");
    }
}
