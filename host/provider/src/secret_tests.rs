use super::*;

//
#[test]
fn a_secret_shows_stars_however_it_is_printed() {
    let secret = Secret::new("  sk-very-secret-value\n");
    assert_eq!(format!("{secret} {secret:?} {:#?}", Some(&secret)), "*** *** Some(\n    ***,\n)");
    assert_eq!(secret.expose(), "sk-very-secret-value");
}

//
#[test]
fn scrubbing_hides_the_whole_key_and_its_shortened_echo() {
    let secret = Secret::new("sk-proj-abcdefghijkl");
    let text = "Incorrect API key provided: sk-proj-********ijkl (was \"sk-proj-abcdefghijkl\").";
    let clean = scrub(text, Some(&secret), &[]);
    assert_eq!(clean, "Incorrect API key provided: *** (was \"***\").");
    assert_eq!(scrub(&clean, Some(&secret), &[]), clean);
}

#[test]
fn an_empty_or_tiny_secret_hides_no_ordinary_words() {
    let text = "the quick brown fox";
    assert_eq!(scrub(text, Some(&Secret::new("")), &[Secret::new("o")]), text);
    assert_eq!(scrub(text, Some(&Secret::new("quick")), &[]), "the *** brown fox");
}

#[test]
fn a_header_value_is_hidden_whole_but_its_beginning_is_not() {
    let values = [Secret::new("https://example.test/app")];
    let text = "https://other.test and https://example.test/app";
    assert_eq!(scrub(text, None, &values), "https://other.test and ***");
}

#[test]
fn a_word_that_starts_like_the_key_may_hold_wide_characters() {
    let secret = Secret::new("schlüssel-mit-umlauten");
    assert_eq!(scrub("x schlüssel, y", Some(&secret), &[]), "x ***, y");
}
