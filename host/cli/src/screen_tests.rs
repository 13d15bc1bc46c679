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
