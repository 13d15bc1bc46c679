use proptest::prelude::*;

use super::matches;

#[test]
fn a_star_is_any_text_and_a_question_mark_one_character() {
    for (pattern, text) in
        [("", ""), ("*", ""), ("*", "a b"), ("a*c", "abbc"), ("a*b*c", "axxbyyc"), ("?\u{e9}", "x\u{e9}")]
    {
        assert!(matches(pattern, text), "{pattern:?} {text:?}");
    }
    for (pattern, text) in [("", "a"), ("?", ""), ("?", "ab"), ("a*c", "abcd"), ("a", "A"), ("a*b*c", "acb")]
    {
        assert!(!matches(pattern, text), "{pattern:?} {text:?}");
    }
}

proptest! {
    #[test]
    fn a_text_with_parts_left_out_still_matches(text in "[a-c]{0,12}", from in 0usize..13, to in 0usize..13) {
        let (from, to) = (from.min(to).min(text.len()), from.max(to).min(text.len()));
        let pattern = format!("{}*{}", &text[..from], &text[to..]);
        prop_assert!(matches(&pattern, &text), "{} {}", pattern, text);
    }
}
