use super::*;

// reliability O1, O3
#[test]
fn what_would_act_on_a_terminal_is_shown_instead() {
    assert_eq!(visible("plain ü\n\ttext"), "plain ü\n\ttext");
    assert_eq!(visible("\u{1b}]0;title\u{7}"), "\\u{1b}]0;title\\u{7}");
    assert_eq!(visible("a\u{202e}b"), "a\\u{202e}b");
}

#[test]
fn one_line_reports_are_short_and_say_when_they_are_not_all() {
    assert_eq!(brief("short", 10), "short");
    assert_eq!(brief("first\nsecond", 10), "first…");
    assert_eq!(brief("abcdef", 3), "abc…");
}

/// What a terminal would act on, and what an eye would miss.
const HOSTILE: &[&str] = &[
    "\u{1b}[2J",
    "\u{1b}]52;c;AAAA\u{7}",
    "\u{1b}]8;;http://x\u{1b}\\",
    "\r",
    "\u{8}",
    "\u{7f}",
    "\u{9b}2J",
    "\u{9d}0;title\u{9c}",
    "\u{202e}",
    "\u{2066}",
    "\u{200b}",
    "\u{200f}",
    "\u{2028}",
    "\u{feff}",
    "\u{e0041}",
    "\u{e0101}",
];

// O3
#[test]
fn json_for_a_terminal_reads_back_as_the_same_text() {
    for text in HOSTILE {
        let line = serde_json::to_string(&[text]).unwrap();
        let shown = json_visible(&line);
        assert!(!shown.chars().any(is_hidden), "{shown:?}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&shown).unwrap(), [*text]);
    }
    assert!(matches!(json_visible("{\"a\":\"ü\"}"), Cow::Borrowed(_)));
}

// O3: an escape is no longer one if it comes in two pieces, and neither half acts.
#[test]
fn no_piece_of_a_sequence_acts_wherever_it_is_cut() {
    for text in HOSTILE {
        for (at, _) in text.char_indices().chain([(text.len(), ' ')]) {
            let mut budget = Budget::default();
            let shown = format!("{}{}", budget.show(&text[..at]), budget.show(&text[at..]));
            assert_eq!(shown, visible(text), "{text:?} at {at}");
            assert!(!shown.chars().any(is_hidden));
        }
        assert!(!brief(&format!("a{text}b"), 60).chars().any(is_hidden));
    }
}

// O6
#[test]
fn one_long_line_and_many_empty_ones_have_an_end() {
    let told = "[what follows is not shown; the session holds it]\n";
    for text in ["x".repeat(10 << 20), "\n".repeat(1_000_000), "\u{1b}".repeat(1 << 20), "é".repeat(1 << 20)]
    {
        let shown = beginning(&text);
        assert!(shown.ends_with(told) && shown.len() < 8 * MAX_SHOWN_BYTES, "{}", shown.len());
        assert!(shown.matches('\n').count() <= MAX_SHOWN_LINES + 2);
        assert!(brief(&text, 100).chars().count() <= 101);

        // The same in pieces: once the end is reached it is said once, and nothing follows.
        let mut budget = Budget::default();
        let mut pieces = String::new();
        for piece in text.as_bytes().chunks(1000).filter_map(|piece| std::str::from_utf8(piece).ok()) {
            pieces.push_str(&budget.show(piece));
        }
        assert_eq!(pieces.matches(told).count(), 1);
        assert!(pieces.len() < 8 * MAX_SHOWN_BYTES);
    }
    assert!(matches!(beginning("short\n"), Cow::Borrowed("short\n")));
}

#[test]
fn a_short_report_shortens_after_escaping() {
    assert_eq!(brief("\u{1b}\u{1b}", 7), "\\u{1b}\\…");
    assert_eq!(brief("\u{1b}", 6), "\\u{1b}");
    assert_eq!(brief(" a\r\nb ", 9), "a…");
    assert_eq!(brief("", 9), "");
    assert_eq!(brief("abc", 0), "…");
}
