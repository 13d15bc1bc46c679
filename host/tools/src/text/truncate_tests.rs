use super::*;
use proptest::prelude::*;

#[test]
fn short_text_is_left_alone() {
    for text in ["", "a", "a\n", "a\nb", "\n\n"] {
        assert_eq!(head(text, 2, 100), Cut { text, truncation: None }, "{text:?}");
        assert_eq!(tail(text, 2, 100), Cut { text, truncation: None }, "{text:?}");
    }
}

#[test]
fn the_head_keeps_the_first_lines_and_the_tail_the_last() {
    let text = "one\ntwo\nthree\n";
    let first = head(text, 2, 100);
    assert_eq!(first.text, "one\ntwo\n");
    let truncation = first.truncation.unwrap();
    assert_eq!(
        (truncation.truncated_by, truncation.total_lines, truncation.output_lines),
        (TruncatedBy::Lines, 3, 2)
    );
    assert_eq!(tail(text, 2, 100).text, "two\nthree\n");
    assert_eq!(head(text, 9, 7).text, "one\n");
    assert_eq!(tail(text, 9, 7).text, "three\n");
}

#[test]
fn exactly_the_limit_is_not_truncated() {
    assert_eq!(head("ab\ncd\n", 2, 6).truncation, None);
    assert_eq!(tail("ab\ncd\n", 2, 6).truncation, None);
}

#[test]
fn a_single_long_line_gives_nothing_from_the_front_and_its_end_from_the_back() {
    let front = head("abcdefgh", 5, 4);
    assert_eq!((front.text, front.truncation.unwrap().line_too_long), ("", true));
    let back = tail("abcdefgh", 5, 4);
    assert_eq!((back.text, back.truncation.unwrap().line_too_long), ("efgh", true));
}

#[test]
fn sizes_are_short() {
    assert_eq!(
        [size(0), size(1023), size(1536), size(51_200), size(3 << 20)],
        ["0B", "1023B", "1.5KB", "50.0KB", "3.0MB"]
    );
}

fn texts() -> impl Strategy<Value = String> {
    // Few letters, many line ends and some long characters: what the limits are sensitive to.
    proptest::collection::vec(prop_oneof!["[ab]{0,5}", Just("\n".to_owned()), "[é€😀]"], 0..40)
        .prop_map(|parts| parts.concat())
}

proptest! {
    // 001-095
    #[test]
    fn the_head_is_the_longest_run_of_whole_lines_within_both_limits(text in texts(), lines in 1..8usize, bytes in 1..40usize) {
        let cut = head(&text, lines, bytes);
        prop_assert!(text.starts_with(cut.text));
        prop_assert!(count_lines(cut.text) <= lines && cut.text.len() <= bytes);
        if let Some(truncation) = cut.truncation {
            prop_assert!(cut.text.is_empty() || cut.text.ends_with('\n'));
            let rest = &text[cut.text.len()..];
            let next = rest.split_inclusive('\n').next().unwrap();
            prop_assert!(truncation.output_lines == lines || cut.text.len() + next.len() > bytes);
            prop_assert_eq!(truncation.total_lines, truncation.output_lines + count_lines(rest));
            prop_assert_eq!(truncation.line_too_long, cut.text.is_empty());
        } else {
            prop_assert_eq!(cut.text, text.as_str());
        }
    }

    // 001-096
    #[test]
    fn the_tail_is_the_longest_run_of_whole_lines_within_both_limits(text in texts(), lines in 1..8usize, bytes in 1..40usize) {
        let cut = tail(&text, lines, bytes);
        prop_assert!(text.ends_with(cut.text));
        prop_assert!(count_lines(cut.text) <= lines && cut.text.len() <= bytes);
        if let Some(truncation) = cut.truncation {
            let rest = &text[..text.len() - cut.text.len()];
            if truncation.line_too_long {
                prop_assert!(bytes - cut.text.len() < 4, "stops at the first character that fits");
                prop_assert!(count_lines(cut.text) <= 1);
            } else {
                prop_assert!(rest.ends_with('\n'));
                let previous = rest.split_inclusive('\n').next_back().unwrap();
                prop_assert!(truncation.output_lines == lines || cut.text.len() + previous.len() > bytes);
            }
        } else {
            prop_assert_eq!(cut.text, text.as_str());
        }
    }
}
