use super::*;

fn joined(base: &str, location: &str) -> String {
    Url::parse(base).unwrap().join(location).unwrap()
}

#[test]
fn an_address_is_taken_apart() {
    let url = Url::parse(" https://Example.com:8443/a/b?c=d#e ").unwrap();
    assert_eq!((url.scheme, url.authority), ("https", "Example.com:8443"));
    assert_eq!(url.origin(), "https://example.com:8443");
    assert_eq!(url.path_with_query(), "/a/b?c=d");
    assert_eq!(Url::parse("http://a?b").unwrap().path_with_query(), "/?b");
    assert_eq!(Url::parse("https://me:word@a:443/").unwrap().origin(), "https://a");
}

#[test]
fn what_is_no_address_is_said() {
    for (text, why) in [
        ("example.com", "`example.com` does not begin with http:// or https://"),
        ("ftp://a/", "`ftp://a/` does not begin with http:// or https://"),
        ("https:///a", "`https:///a` has no host"),
        ("https://a/b c", "`https://a/b c` has white space in it; write %20"),
    ] {
        assert_eq!(Url::parse(text).unwrap_err().to_string(), format!("the address: {why}"));
    }
}

#[test]
fn locations_are_seen_from_the_address_that_names_them() {
    let base = "https://a/b/c?d";
    assert_eq!(joined(base, "http://x/y"), "http://x/y");
    assert_eq!(joined(base, "//x/y"), "https://x/y");
    assert_eq!(joined(base, "/y?z"), "https://a/y?z");
    assert_eq!(joined(base, "y"), "https://a/b/y");
    assert_eq!(joined(base, "../y/./z?../q"), "https://a/y/z?../q");
    assert_eq!(joined(base, "../../../y/.."), "https://a/");
    assert_eq!(joined(base, "?q"), "https://a/b/c?q");
    assert_eq!(joined("https://a", "y"), "https://a/y");
    assert!(Url::parse(base).unwrap().join("mailto:me").is_err());
}
