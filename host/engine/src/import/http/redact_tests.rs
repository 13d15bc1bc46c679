use super::*;

const VALUE: &str = "s3cr3t/Val+ue \"&<'=12345";

fn redactor(secrets: &[(&str, &str)]) -> Redactor {
    Redactor::new(Arc::new(Forms::new(secrets).expect("the forms")))
}

fn clean(secrets: &[(&str, &str)], pieces: &[&[u8]]) -> String {
    let mut redactor = redactor(secrets);
    let mut out = Vec::new();
    for piece in pieces {
        redactor.push(piece, &mut out);
    }
    redactor.finish(&mut out);
    String::from_utf8(out).expect("text")
}

fn whole(text: &str) -> String {
    clean(&[("KEY", VALUE)], &[text.as_bytes()])
}

// S5
#[test]
fn a_value_that_is_echoed_becomes_its_placeholder_again() {
    assert_eq!(whole(&format!("you sent: {VALUE}!")), "you sent: {{secret:KEY}}!");
    assert_eq!(whole(&format!("{VALUE}{VALUE}")), "{{secret:KEY}}{{secret:KEY}}");
    assert_eq!(whole("nothing of it"), "nothing of it");
    assert_eq!(whole(""), "");
}

/// Forms that are found, each with the text in which a server would write it.
fn found_forms() -> Vec<(&'static str, String)> {
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};
    let hex: String = VALUE.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent: String = VALUE.bytes().map(|byte| format!("%{byte:02X}")).collect();
    vec![
        ("plain", VALUE.to_owned()),
        ("hex", hex.clone()),
        ("upper-case hex", hex.to_uppercase()),
        ("every byte percent-encoded", percent.clone()),
        ("the same in lower case", percent.to_lowercase()),
        ("encodeURIComponent", "s3cr3t%2FVal%2Bue%20%22%26%3C'%3D12345".to_owned()),
        ("the same in lower case", "s3cr3t%2fVal%2bue%20%22%26%3c'%3d12345".to_owned()),
        ("a form field", "s3cr3t%2FVal%2Bue+%22%26%3C'%3D12345".to_owned()),
        ("a query as browsers write it", "s3cr3t/Val+ue%20%22&%3C%27=12345".to_owned()),
        ("JSON", "s3cr3t/Val+ue \\\"&<'=12345".to_owned()),
        ("JSON with escaped slashes", "s3cr3t\\/Val+ue \\\"&<'=12345".to_owned()),
        ("HTML", "s3cr3t/Val+ue &quot;&amp;&lt;&#39;=12345".to_owned()),
        ("base64", STANDARD.encode(VALUE)),
        ("base64 for addresses", URL_SAFE.encode(VALUE)),
    ]
}

/// Known misses: what would have to be undone by somebody who wants the value. They pass as they are.
fn missed_forms() -> Vec<(&'static str, String)> {
    vec![
        ("reversed", VALUE.chars().rev().collect()),
        ("another case", VALUE.to_uppercase()),
        ("spelt out", VALUE.chars().map(|c| format!("{c}-")).collect()),
        ("zero-width characters in between", VALUE.chars().map(|c| format!("{c}\u{200b}")).collect()),
        ("base64 of base64", STANDARD_NO_PAD.encode(STANDARD_NO_PAD.encode(VALUE))),
        ("a half", VALUE[..12].to_owned()),
        (
            "rotated letters",
            VALUE
                .chars()
                .map(
                    |c| {
                        if c.is_ascii_lowercase() { (((c as u8 - b'a' + 13) % 26) + b'a') as char } else { c }
                    },
                )
                .collect(),
        ),
        ("UTF-16", VALUE.chars().flat_map(|c| [c, '\0']).collect()),
        (
            "JSON with every character escaped",
            VALUE.chars().map(|c| format!("\\u{:04x}", c as u32)).collect(),
        ),
    ]
}

// S8
#[test]
fn the_forms_in_which_servers_echo_are_hidden() {
    for (what, text) in found_forms() {
        let seen = whole(&format!("<{text}>"));
        assert!(seen.starts_with("<{{secret:KEY}}"), "{what}: {text} came through as {seen}");
        assert!(seen.len() <= "<{{secret:KEY}}==>".len(), "{what}: {seen}");
    }
}

// S8
#[test]
fn the_forms_that_are_not_found_are_known() {
    for (what, text) in missed_forms() {
        assert_eq!(whole(&text), text, "{what} is found by now; move it to the other table");
    }
}

// S8
#[test]
fn a_value_inside_of_a_longer_base64_text_is_hidden_wherever_it_begins() {
    for before in ["", "u", "us", "use", "user:", "user1:", "user12:"] {
        for after in ["", "x", "xy", "xyz"] {
            for encoded in [
                base64::engine::general_purpose::STANDARD.encode(format!("{before}{VALUE}{after}")),
                URL_SAFE_NO_PAD.encode(format!("{before}{VALUE}{after}")),
            ] {
                let seen = whole(&format!("Basic {encoded}"));
                let visible = seen.replace("Basic ", "").replace("{{secret:KEY}}", "");
                // What is left belongs to the neighbours, but for some bits at the borders.
                let neighbours = (before.len() + after.len()) * 8 / 6 + 6;
                assert!(
                    seen.contains("{{secret:KEY}}") && visible.len() <= neighbours,
                    "{before}…{after}: {seen}"
                );
            }
        }
    }
}

// S6
#[test]
fn a_value_that_is_split_over_pieces_at_any_place_is_hidden() {
    let text = format!("before {VALUE} after");
    for at in 0..=text.len() {
        let (one, two) = text.as_bytes().split_at(at);
        assert_eq!(clean(&[("KEY", VALUE)], &[one, two]), "before {{secret:KEY}} after", "split at {at}");
    }
    let bytes: Vec<_> = text.as_bytes().chunks(1).collect();
    assert_eq!(clean(&[("KEY", VALUE)], &bytes), "before {{secret:KEY}} after");
}

// S6
#[test]
fn only_what_may_be_a_beginning_is_held_back() {
    let mut redactor = redactor(&[("KEY", "correct-horse")]);
    let mut out = Vec::new();
    redactor.push(b"data: hello\n\n", &mut out);
    assert_eq!(out, b"data: hello\n\n", "an event is not kept waiting");
    redactor.push(b"data: corr", &mut out);
    assert_eq!(out, b"data: hello\n\ndata: ");
    redactor.push(b"ecting", &mut out);
    assert_eq!(out, b"data: hello\n\ndata: correcting");
    redactor.push(b" correct-horse", &mut out);
    redactor.finish(&mut out);
    assert_eq!(out, b"data: hello\n\ndata: correcting {{secret:KEY}}");
}

#[test]
fn one_secret_that_begins_or_overlaps_another_leaves_nothing_of_it() {
    let two = [("SHORT", "token-AAAA"), ("LONG", "token-AAAA-BBBB")];
    assert_eq!(clean(&two, &[b"<token-AAAA-BBBB>"]), "<{{secret:LONG}}>");
    assert_eq!(clean(&two, &[b"<token-AAAA-BBB>"]), "<{{secret:SHORT}}-BBB>");
    let overlapping = [("ONE", "abcdefgh1234"), ("TWO", "1234ijklmnop")];
    for at in 0..22 {
        let (one, two) = b"<abcdefgh1234ijklmnop>".split_at(at);
        let seen = clean(&overlapping, &[one, two]);
        assert!(!seen.contains("abcd") && !seen.contains("mnop"), "{at}: {seen}");
    }
}

// S9: each byte is looked at once; a search that started over after a near miss would look at some of them a thousand times.
#[test]
fn a_near_miss_that_goes_on_and_on_costs_one_look_a_byte() {
    let value = format!("{}b", "a".repeat(1_000));
    let mut redactor = redactor(&[("KEY", &value)]);
    let mut out = Vec::new();
    let piece = [b'a'; 1_000];
    for _ in 0..100 {
        redactor.push(&piece, &mut out);
        assert!(
            redactor.held.len() <= value.len(),
            "no more is held than one value: {}",
            redactor.held.len()
        );
    }
    assert_eq!(redactor.position, 100_000);
    redactor.finish(&mut out);
    assert_eq!(out.len(), 100_000);
}

// S5
#[test]
fn headers_are_searched_too() {
    let mut headers = HeaderMap::new();
    headers.insert("x-echo", HeaderValue::from_static("Bearer correct-horse"));
    headers.append("x-echo", HeaderValue::from_static("other"));
    redactor(&[("KEY", "correct-horse")]).hide_in(&mut headers).expect("hidden");
    let values: Vec<_> =
        headers.get_all("x-echo").iter().map(|value| value.to_str().expect("text")).collect();
    assert_eq!(values, ["Bearer {{secret:KEY}}", "other"]);
}

// S7
#[test]
fn the_search_does_not_show_what_it_looks_for() {
    let forms = Forms::new(&[("KEY", "correct-horse")]).expect("the forms");
    assert!(!format!("{forms:?}").contains("horse"));
}
