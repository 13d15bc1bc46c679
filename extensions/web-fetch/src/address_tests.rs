use super::*;

#[test]
fn references_are_resolved_as_browsers_do() {
    let base = "https://example.com/a/b/c?x=1#y";
    let cases = [
        ("d", "https://example.com/a/b/d"),
        ("./d", "https://example.com/a/b/d"),
        ("../d?z", "https://example.com/a/d?z"),
        ("../../../d", "https://example.com/d"),
        ("..", "https://example.com/a/"),
        (".", "https://example.com/a/b/"),
        ("/d/./e", "https://example.com/d/e"),
        ("//other.example/d", "https://other.example/d"),
        ("?z=2", "https://example.com/a/b/c?z=2"),
        ("#z", "https://example.com/a/b/c?x=1#z"),
        ("", "https://example.com/a/b/c?x=1"),
        ("http://other.example", "http://other.example"),
        ("mailto:a@example.com", "mailto:a@example.com"),
        ("a:b", "a:b"),
        ("./a:b", "https://example.com/a/b/a:b"),
        ("d/", "https://example.com/a/b/d/"),
    ];
    for (reference, expected) in cases {
        assert_eq!(join(base, reference), expected, "{reference}");
    }
    assert_eq!(join("https://example.com", "d"), "https://example.com/d");
}

#[test]
fn origins_are_what_grants_name() {
    assert_eq!(origin("HTTPS://Example.com:8443/x").as_deref(), Some("https://example.com:8443"));
    assert_eq!(origin("https:///x"), None);
    assert_eq!(origin("example.com"), None);
}
