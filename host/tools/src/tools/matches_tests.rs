use super::*;
use proptest::prelude::*;

proptest! {
    // 001-099
    #[test]
    fn a_line_is_cut_to_a_beginning_of_at_most_500_characters(line in "(.|\u{1F600}){0,700}") {
        let (kept, is_cut) = cut(&line);
        prop_assert!(line.starts_with(kept));
        prop_assert_eq!(kept.chars().count(), line.chars().count().min(MAX_LINE_CHARS));
        prop_assert_eq!(is_cut, kept.len() < line.len());
    }
}
