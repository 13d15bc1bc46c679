use super::*;
use proptest::prelude::*;

fn loose(text: &str) -> Folded {
    Folded::new(text, Folding::Loose)
}

#[test]
fn line_ends_quotes_dashes_spaces_and_unicode_forms_fold_to_the_plain_ones() {
    assert_eq!(Folded::new("a\r\nb\rc\n", Folding::LineEnds).text, "a\nb\rc\n");
    assert_eq!(loose("\u{201C}a\u{201D} \u{2018}b\u{2019} c\u{2014}d\u{00A0}e").text, "\"a\" 'b' c-d e");
    assert_eq!(loose("e\u{301} \u{FB01}n").text, "\u{e9} fin");
    assert_eq!(loose("a  \t\r\n  b \nc").text, "a\n  b\nc");
}

#[test]
fn spaces_at_the_very_end_are_dropped_and_reported() {
    let folded = loose("a \t");
    assert_eq!((folded.text.as_str(), folded.trimmed_at_end), ("a", true));
    assert!(!loose("a \n").trimmed_at_end);
}

#[test]
fn a_stretch_leads_back_to_the_bytes_it_stands_for() {
    let original = "x = \u{201C}a\u{201D}  \r\nend";
    let folded = loose(original);
    assert_eq!(folded.text, "x = \"a\"\nend");
    let at = folded.text.find("\"a\"").unwrap();
    assert_eq!(&original[folded.original(at..at + 3).unwrap()], "\u{201C}a\u{201D}");
    assert_eq!(&original[folded.original(at..at + 7).unwrap()], "\u{201C}a\u{201D}  \r\nend");
    assert_eq!(&original[folded.original(0..3).unwrap()], "x =");
}

#[test]
fn a_stretch_that_splits_what_was_folded_as_a_whole_leads_nowhere() {
    let folded = loose("\u{FB01}n");
    assert_eq!(folded.text, "fin");
    assert_eq!(folded.original(1..3), None);
    assert_eq!(folded.original(0..1), None);
    assert_eq!(folded.original(0..2), Some(0..3));
    assert_eq!(folded.original(0..0), None);
}

proptest! {
    #[test]
    fn every_way_back_lies_on_characters_and_folds_to_the_stretch(text in "[ab \t\r\n\u{301}e\u{e9}\u{201C}\u{FB01}\u{3000}\u{1100}\u{1161}]{0,30}", from in 0..40usize, length in 1..40usize) {
        for folding in [Folding::LineEnds, Folding::Loose] {
            let folded = Folded::new(&text, folding);
            let range = from..from + length;
            if folded.text.get(range.clone()).is_some()
                && let Some(original) = folded.original(range.clone())
            {
                prop_assert!(text.get(original.clone()).is_some());
                if folding == Folding::LineEnds {
                    let again = Folded::new(&text[original], folding).text;
                    prop_assert_eq!(again, &folded.text[range]);
                }
            }
        }
    }
}
