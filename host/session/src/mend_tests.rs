use super::*;
use proptest::prelude::*;

#[test]
fn a_lone_surrogate_becomes_the_replacement_character() {
    let mended = without_lone_surrogates(r#"{"a":"x\ud83d","b":"\udc00y"}"#).expect("something to mend");
    assert_eq!(mended, r#"{"a":"x\ufffd","b":"\ufffdy"}"#);
}

#[test]
fn pairs_and_escaped_backslashes_are_left_alone() {
    assert_eq!(without_lone_surrogates(r#"{"a":"\ud83d\ude00","b":"\\ud83d","c":"\u00e4"}"#), None);
}

#[test]
fn brackets_inside_strings_do_not_count_as_depth() {
    assert_eq!(depth(br#"{"a":["[[[[\"[["],"b":{"c":[]}}"#), 3);
}

proptest! {
    #[test]
    fn mending_any_text_neither_panics_nor_leaves_a_lone_surrogate(text in r#"([a-zé\\"u]|\\ud[89a-f]3d|😀){0,24}"#) {
        if let Some(mended) = without_lone_surrogates(&text) {
            prop_assert_eq!(without_lone_surrogates(&mended), None);
        }
    }
}
