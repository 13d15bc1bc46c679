use super::*;
use proptest::prelude::*;

fn pattern(text: &str) -> EndpointPattern {
    EndpointPattern::parse(text).expect(text)
}

fn goes_to(pattern: &EndpointPattern, url: &str) -> bool {
    let (scheme, authority) = url.split_once("://").expect(url);
    Target::parse(scheme, authority).is_ok_and(|target| pattern.matches(&target))
}

// N2
#[test]
fn only_the_exact_scheme_host_and_port_match() {
    let exact = pattern("https://api.example.com");
    for url in ["https://api.example.com", "https://API.EXAMPLE.com.", "https://api.example.com:443"] {
        assert!(goes_to(&exact, url), "{url}");
    }
    for url in [
        "https://api.example.com.evil.com",
        "https://evilapi.example.com",
        "https://api.example.com@evil.com",
        "https://api.example.com:8443",
        "http://api.example.com",
        "http://api.example.com:443",
        "https://example.com",
        "https://x.api.example.com",
        // A Cyrillic letter in it.
        "https://аpi.example.com",
    ] {
        assert!(!goes_to(&exact, url), "{url}");
    }
    assert!(goes_to(&pattern("http://localhost:8080"), "http://LOCALHOST:8080"));
    assert!(goes_to(&pattern("https://bücher.example"), "https://xn--bcher-kva.example"));
}

// N2
#[test]
fn a_wildcard_means_every_name_below_and_nothing_else() {
    let below = pattern("https://*.example.com:8443");
    for url in ["https://a.example.com:8443", "https://a.b.example.com:8443"] {
        assert!(goes_to(&below, url), "{url}");
    }
    for url in [
        "https://example.com:8443",
        "https://aexample.com:8443",
        "https://a.example.com",
        "https://a.example.com.evil.com:8443",
        "https://a.example.community:8443",
        "https://127.0.0.1:8443",
    ] {
        assert!(!goes_to(&below, url), "{url}");
    }
}

#[test]
fn patterns_that_mean_too_much_or_nothing_are_refused_with_a_reason() {
    for (text, words) in [
        ("*", "scheme://host"),
        ("https://*", "whole beginning"),
        ("https://*.com", "two parts"),
        ("https://*.localhost", "two parts"),
        ("https://a.*.example.com", "whole beginning"),
        ("https://*example.com", "whole beginning"),
        ("https://*.*.example.com", "no part of a host"),
        ("https://*.10.0.0.1", "not with addresses"),
        ("https://*.[::1]", "not with addresses"),
        ("https://api.example.com/", "paths cannot be granted"),
        ("https://api.example.com/v1", "paths cannot be granted"),
        ("https://user@api.example.com", "user name"),
        ("*://api.example.com", "neither http nor https"),
        ("ftp://api.example.com", "neither http nor https"),
        ("api.example.com", "scheme://host"),
        ("https://api.example.com:*", "no port"),
        ("https://", "no host"),
        ("http://0.0.0.0", "unspecified"),
        ("http://[::]", "unspecified"),
        ("http://224.0.0.1", "multicast"),
        ("http://255.255.255.255", "broadcast"),
        ("http://[2002:7f00:1::]", "hides an IPv4"),
        ("http://[::ffff:127.0.0.1]", "127.0.0.1 itself"),
    ] {
        let refused = EndpointPattern::parse(text).expect_err(text).to_string();
        assert!(refused.contains(words), "{text}: {refused}");
        assert!(refused.contains(text), "{text}: {refused}");
    }
}

// N3
#[test]
fn an_address_that_is_not_public_is_reached_only_where_the_grant_names_it() {
    let named = pattern("https://api.example.com");
    let local = pattern("http://localhost");
    let literal = pattern("http://10.0.0.7");
    for (text, by_name, by_localhost, by_literal) in [
        ("8.8.8.8", true, false, false),
        ("127.0.0.1", false, true, false),
        ("::1", false, true, false),
        ("10.0.0.7", false, false, true),
        ("10.0.0.8", false, false, false),
        ("169.254.169.254", false, false, false),
        ("fd00:ec2::254", false, false, false),
    ] {
        let address = text.parse().expect(text);
        assert_eq!(named.may_lead_to(address), by_name, "{text}");
        assert_eq!(local.may_lead_to(address), by_localhost, "{text}");
        assert_eq!(literal.may_lead_to(address), by_literal, "{text}");
        assert_eq!(pattern("https://*.example.com").may_lead_to(address), by_name, "{text}");
    }
}

#[test]
fn a_secret_goes_to_one_host_and_not_in_the_clear() {
    for good in [
        "https://api.example.com",
        "http://localhost:8080",
        "http://127.0.0.1:1",
        "http://[::1]",
        "https://8.8.8.8",
    ] {
        assert_eq!(pattern(good).check_for_secret(), Ok(()), "{good}");
    }
    for (bad, words) in [
        ("https://*.example.com", "one host"),
        ("http://api.example.com", "in the clear"),
        ("http://8.8.8.8", "in the clear"),
    ] {
        let refused = pattern(bad).check_for_secret().expect_err(bad).to_string();
        assert!(refused.contains(words), "{bad}: {refused}");
    }
}

proptest! {
    #[test]
    fn what_a_pattern_shows_is_the_same_pattern(text in "(http|https|HTTPS)://(\\*\\.)?[a-zA-Z0-9.\\-]{1,30}(:[0-9]{1,5})?") {
        if let Ok(pattern) = EndpointPattern::parse(&text) {
            prop_assert_eq!(EndpointPattern::parse(&pattern.to_string()), Ok(pattern));
        }
    }

    #[test]
    fn a_wildcard_matches_no_name_that_does_not_end_in_its_parent(name in "[a-z0-9.\\-]{1,40}") {
        let below = pattern("https://*.example.com");
        if let Ok(target) = Target::parse("https", &name) && below.matches(&target) {
            prop_assert!(target.host.to_string().ends_with(".example.com"));
        }
    }
}
