use super::*;
use proptest::prelude::*;

fn only<'a>(old: &'a str, new: &'a str) -> Replacement<'a> {
    Replacement { old, new, occurrence: Occurrence::Only }
}

fn replaced(original: &str, replacements: &[Replacement<'_>]) -> String {
    replace(original, replacements).unwrap().text
}

#[test]
fn one_occurrence_is_replaced() {
    assert_eq!(replaced("a b c", &[only("b", "x")]), "a x c");
    assert_eq!(replaced("a b c", &[only(" b", "")]), "a c");
}

// 001-083 001-174
#[test]
fn the_first_of_several_is_taken_only_when_asked_for() {
    let first = Replacement { occurrence: Occurrence::First, ..only("a", "b") };
    assert_eq!(replaced("a a", &[first]), "b a");
    assert_eq!(replace("a a", &[only("a", "b")]).unwrap_err(), Misfit::NotUnique(0, 2));
}

#[test]
fn occurrences_that_overlap_are_not_unique() {
    assert_eq!(replace("aaa", &[only("aa", "b")]).unwrap_err(), Misfit::NotUnique(0, 2));
    assert_eq!(replace("\u{e9}\u{e9}", &[only("\u{e9}", "b")]).unwrap_err(), Misfit::NotUnique(0, 2));
}

// 001-086
#[test]
fn every_edit_is_matched_against_the_original_in_any_order() {
    assert_eq!(replaced("one two three", &[only("three", "one"), only("one", "three")]), "three two one");
    assert_eq!(replaced("ab", &[only("a", "x"), only("b", "y")]), "xy");
}

// 001-086
#[test]
fn overlapping_edits_are_refused() {
    assert_eq!(replace("abcd", &[only("cd", "x"), only("bc", "y")]).unwrap_err(), Misfit::Overlap(0, 1));
    assert_eq!(replace("abcd", &[only("b", "x"), only("abcd", "y")]).unwrap_err(), Misfit::Overlap(0, 1));
}

#[test]
fn empty_missing_and_idle_edits_are_refused() {
    assert_eq!(replace("abc", &[only("a", "b"), only("", "y")]).unwrap_err(), Misfit::EmptyOld(1));
    assert_eq!(replace("abc", &[only("a", "b"), only("z", "y")]).unwrap_err(), Misfit::NotFound(1));
    assert_eq!(replace("abc", &[only("b", "b")]).unwrap_err(), Misfit::NoChange);
    assert_eq!(replace("", &[only("b", "b")]).unwrap_err(), Misfit::NotFound(0));
}

// 001-087
#[test]
fn byte_order_mark_and_line_ends_stay_and_new_lines_take_the_files_own() {
    assert_eq!(
        replaced("\u{FEFF}a\r\nb\r\nc\n", &[only("a\nb", "x\ny\nz")]),
        "\u{FEFF}x\r\ny\r\nz\r\nc\n",
        "the one odd line end is not the edit's business"
    );
    assert_eq!(replaced("a\nb\n", &[only("a\r\nb", "x\r\ny")]), "x\ny\n");
}

// 001-087
#[test]
fn a_loose_match_leaves_every_other_byte_as_it_was() {
    let original = "keep \u{201C}this\u{201D}  \r\nsay(\u{201C}hi\u{201D})   \r\nkeep\u{00A0}that \t\r\n";
    let done = replace(original, &[only("say(\"hi\")\nkeep", "say(1)\nkept")]).unwrap();
    assert_eq!(done.text, "keep \u{201C}this\u{201D}  \r\nsay(1)\r\nkept\u{00A0}that \t\r\n");
    assert_eq!(done.loose, [0]);
}

#[test]
fn an_exact_match_is_not_made_ambiguous_by_a_loose_one() {
    let done = replace("\"a\" \u{201C}a\u{201D}", &[only("\"a\"", "x")]).unwrap();
    assert_eq!((done.text.as_str(), done.loose.as_slice()), ("x \u{201C}a\u{201D}", [].as_slice()));
}

#[test]
fn spaces_dropped_from_the_quotation_end_only_match_at_a_line_end() {
    assert_eq!(replace("x = 10\n", &[only("x = 1 ", "y")]).unwrap_err(), Misfit::NotFound(0));
    assert_eq!(replaced("x = 1\n", &[only("x = 1 ", "y")]), "y\n");
}

#[test]
fn indentation_is_never_guessed() {
    assert_eq!(replace("    a\n", &[only("  a\n  b", "y")]).unwrap_err(), Misfit::NotFound(0));
    assert_eq!(replace("\ta\n", &[only("    a", "y")]).unwrap_err(), Misfit::NotFound(0));
}

proptest! {
    // 001-087
    #[test]
    fn what_lies_before_and_after_the_match_is_untouched(
        before in "[xy \r\n\u{201D}\u{e9}]{0,20}",
        after in "[xy \r\n\u{201D}\u{301}]{0,20}",
        new in "[a-c\n]{0,10}",
    ) {
        let original = format!("{before}<\u{201C}Q\u{201D}>{after}");
        let done = replace(&original, &[only("<\"Q\">", &new)]).unwrap();
        prop_assert!(done.text.starts_with(&before) && done.text.ends_with(&after));
        let middle = &done.text[before.len()..done.text.len() - after.len()];
        prop_assert_eq!(middle.replace("\r\n", "\n"), new);
    }
}
