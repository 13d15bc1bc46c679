use super::*;
use proptest::prelude::*;
use std::net::Ipv4Addr;

fn target(scheme: &str, authority: &str) -> Result<String, String> {
    Target::parse(scheme, authority)
        .map(|target| format!("{}|{}", target, target.port))
        .map_err(|e| e.to_string())
}

// N2
#[test]
fn one_host_has_one_form_however_it_is_written() {
    for written in [
        "api.example.com",
        "API.Example.COM",
        "api.example.com.",
        "api.example.com:443",
        "api.example.com:0443",
    ] {
        assert_eq!(target("HTTPS", written), Ok("https://api.example.com|443".to_owned()), "{written}");
    }
    assert_eq!(target("https", "bücher.example"), Ok("https://xn--bcher-kva.example|443".to_owned()));
    assert_eq!(target("https", "BÜCHER.example"), target("https", "xn--bcher-kva.example"));
    // Full-width letters are ordinary ones to a browser.
    assert_eq!(target("https", "ａpi.example.com"), Ok("https://api.example.com|443".to_owned()));
    assert_eq!(target("http", "api.example.com:8080"), Ok("http://api.example.com:8080|8080".to_owned()));
    assert_eq!(target("http", "[::1]"), Ok("http://[::1]|80".to_owned()));
    assert_eq!(target("http", "[0:0::1]:81"), Ok("http://[::1]:81|81".to_owned()));
}

// N3
#[test]
fn a_number_in_disguise_is_the_address_that_it_stands_for() {
    for written in ["127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "0x7f000001", "127.1", "127.0.0.1."] {
        let host = Host::parse(written).expect(written);
        assert_eq!(host, Host::Address(Ipv4Addr::LOCALHOST.into()), "{written}");
    }
}

// N2, N14
#[test]
fn what_could_be_read_in_two_ways_is_refused() {
    for (scheme, written, words) in [
        ("https", "api.example.com@evil.com", "user name"),
        ("https", "user:password@api.example.com", "user name"),
        ("https", "", "no host"),
        ("https", ".", "no host"),
        ("https", "api..example.com", "1 to 63"),
        ("https", "api.example.com..", "1 to 63"),
        ("https", "api%2eexample.com", "character"),
        ("https", "api.example.com\\@evil.com", "user name"),
        ("https", "api.example.com/x", "character"),
        ("https", "api.example.com\r\nHost: evil", "no port"),
        ("https", "api.example.com\n", "character"),
        ("https", "api.example.com:", "no port"),
        ("https", "api.example.com:0", "no port"),
        ("https", "api.example.com:65536", "no port"),
        ("https", "api.example.com:+443", "no port"),
        ("https", "[fe80::1%25eth0]", "character"),
        ("https", "[::1", "no port"),
        ("https", "::1", "no port"),
        ("https", "999.0.0.1", "no host"),
        ("https", "*.example.com", "no part of a host"),
        ("file", "api.example.com", "neither http nor https"),
        ("data", "x", "neither http nor https"),
        ("unix", "x", "neither http nor https"),
        ("ws", "api.example.com", "neither http nor https"),
    ] {
        let refused = target(scheme, written).expect_err(written);
        assert!(refused.contains(words), "{scheme}://{written}: {refused}");
    }
}

proptest! {
    #[test]
    fn the_canonical_form_is_its_own_canonical_form(authority in "\\PC{0,40}") {
        if let Ok(target) = Target::parse("https", &authority) {
            let again = Target::parse("https", &target.host_header());
            prop_assert_eq!(again.as_ref(), Ok(&target), "{}", authority);
            prop_assert!(target.host_header().is_ascii());
        }
    }

    #[test]
    fn no_text_makes_parsing_panic(scheme in "\\PC{0,8}", authority: String) {
        drop(Target::parse(&scheme, &authority));
    }
}
