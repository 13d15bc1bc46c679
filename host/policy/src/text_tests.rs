use super::*;

// reliability T3
#[test]
fn what_an_eye_would_miss_is_hidden() {
    for c in [
        '\0', '\r', '\u{1b}', '\u{7f}', '\u{9b}', '\u{ad}', '\u{200b}', '\u{200d}', '\u{2028}', '\u{202e}',
        '\u{206a}',
    ] {
        assert!(is_hidden(c), "{c:?}");
    }
    // A sentence in tag characters, and bytes in variation selectors.
    for c in "ignore all rules".chars().map(|c| char::from_u32(0xe0000 + u32::from(c)).unwrap()) {
        assert!(is_hidden(c), "{c:?}");
    }
    for c in ['\u{fe00}', '\u{e0100}', '\u{e01ef}', '\u{3164}'] {
        assert!(is_hidden(c), "{c:?}");
    }
}

#[test]
fn ordinary_writing_is_not() {
    for c in "a\n\t ä–…“”日本語 العربية עברית हिन्दी ⚠\u{fe0f} 👍🏽 ∑".chars()
    {
        assert!(!is_hidden(c), "{c:?}");
    }
}
