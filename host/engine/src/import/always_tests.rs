use super::*;

// reliability O1, A19
#[test]
fn control_bidi_and_zero_width_characters_are_escaped() {
    assert_eq!(printable("plain\n\ttext ü", 100), "plain\n\ttext ü");
    assert_eq!(printable("\u{1b}[31mred", 100), "\\u{1b}[31mred");
    assert_eq!(printable("a\u{202e}b\u{200b}c", 100), "a\\u{202e}b\\u{200b}c");
}

#[test]
fn long_text_is_cut_at_a_character() {
    assert_eq!(printable("äää", 3), "ä…");
}
