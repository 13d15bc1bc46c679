use super::*;
use std::collections::BTreeMap;

const CANARY: &str = "canary-0123456789";

fn bound() -> BoundSecrets {
    let mut bound = BoundSecrets::default();
    for (name, endpoint) in [
        ("KEY", "https://api.example.com"),
        ("MISSING", "https://api.example.com"),
        ("SHORT", "https://api.example.com"),
    ] {
        bound.push(SecretBinding::new(name, endpoint).expect(name));
    }
    bound
}

fn stored() -> Secrets {
    let values = [("KEY", CANARY), ("SHORT", "short"), ("OTHERS", "not-granted-to-anybody")];
    Secrets::new(
        values
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect::<BTreeMap<_, _>>(),
    )
}

fn to(host: &str) -> Target {
    Target::parse("https", host).expect(host)
}

fn put_in(value: &str, host: &str) -> Result<HeaderMap, Fault> {
    let mut headers = HeaderMap::new();
    headers.insert("authorization", HeaderValue::from_str(value).expect(value));
    bound().put_in(&mut headers, &to(host), &stored()).map(|()| headers)
}

// S3
#[test]
fn a_placeholder_becomes_the_value_toward_the_bound_endpoint() {
    let headers = put_in("Bearer {{secret:KEY}}", "api.example.com").expect("put in");
    let value = &headers["authorization"];
    assert_eq!(value.as_bytes(), format!("Bearer {CANARY}").as_bytes());
    // S7
    assert!(value.is_sensitive());
    assert!(!format!("{headers:?}").contains(CANARY));
    let untouched = put_in("Bearer {{token}}", "api.example.com").expect("nothing to put in");
    assert_eq!(untouched["authorization"], "Bearer {{token}}");
}

// S4, S7
#[test]
fn a_placeholder_that_may_not_be_replaced_blocks_the_request_and_says_what_to_do() {
    for (value, host, words) in [
        (
            "{{secret:KEY}}",
            "other.example.com",
            "only for https://api.example.com, not for https://other.example.com",
        ),
        ("{{secret:KEY}}", "api.example.com:8443", "only for https://api.example.com"),
        ("{{secret:OTHERS}}", "api.example.com", "OTHERS is not granted"),
        ("{{secret:MISSING}}", "api.example.com", "capstan secret set MISSING"),
        ("{{secret:SHORT}}", "api.example.com", "fewer than 8"),
        ("{{secret:KEY", "api.example.com", "not of the form {{secret:NAME}}"),
        ("{{secret:}}", "api.example.com", "not of the form"),
        ("{{secret:KEY}} and {{secret:OTHERS}}", "api.example.com", "OTHERS is not granted"),
    ] {
        let fault = put_in(value, host).expect_err(value);
        let text = fault.to_string();
        assert!(text.contains(words), "{value}: {text}");
        assert!(fault.is_denial());
        assert!(!format!("{fault:?} {text} {:?}", fault.to_wasi()).contains(CANARY), "{text}");
    }
}

// S4
#[test]
fn a_placeholder_in_an_address_is_found_however_it_is_encoded() {
    for path in [
        "/v1?key={{secret:KEY}}",
        "/v1?key=%7B%7Bsecret:KEY%7D%7D",
        "/v1?key=%7b%7bsecret%3aKEY%7d%7d",
        "/{{secret:",
        "/%7B{%73ecret:X",
    ] {
        assert!(check_path(path).is_err(), "{path}");
    }
    for path in ["/", "/v1?q={{x}}", "/secret:KEY", "/%7B%7Bsecrets"] {
        assert!(check_path(path).is_ok(), "{path}");
    }
}

// S4
#[test]
fn a_placeholder_in_a_body_is_found_across_pieces() {
    let body = b"{\"token\": \"{{secret:KEY}}\"}";
    for size in 1..=body.len() {
        let mut search = PlaceholderSearch::default();
        assert!(body.chunks(size).any(|piece| search.finds_in(piece)), "pieces of {size}");
    }
    let mut search = PlaceholderSearch::default();
    assert!(!b"{{secre t:KEY}} {{{secret {{sec{{ret:".chunks(2).any(|piece| search.finds_in(piece)));
}

// S5
#[test]
fn all_usable_secrets_of_an_extension_are_looked_for_in_answers() {
    let mut redactor = bound().redactor(&stored()).expect("a search").expect("there is something to hide");
    let mut out = Vec::new();
    redactor.push(format!("{CANARY} not-granted-to-anybody").as_bytes(), &mut out);
    redactor.finish(&mut out);
    assert_eq!(out, b"{{secret:KEY}} not-granted-to-anybody");
    assert!(BoundSecrets::default().redactor(&stored()).expect("no search").is_none());
    assert!(bound().redactor(&Secrets::default()).expect("no search").is_none());
}
