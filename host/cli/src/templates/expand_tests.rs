use super::*;
use proptest::prelude::*;

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn every_kind_of_place_takes_its_arguments() {
    let arguments = words(&["a", "b c", "d"]);
    for (template, expected) in [
        ("$1|$2|$3|$4", "a|b c|d|"),
        ("$@|$ARGUMENTS", "a b c d|a b c d"),
        ("${@:2}|${@:0}|${@:9}", "b c d|a b c d|"),
        ("${@:1:2}|${@:2:0}|${@:2:99}", "a b c||b c d"),
        ("$0|$11|$99999999999999999999999", "||"),
        ("x$1y $1$1", "xay aa"),
        // None of these is a place.
        (
            "$ $$ $x ${1} ${@} ${@:} ${@:x} ${@:1 ${@:1:} ${@:1:2",
            "$ $$ $x ${1} ${@} ${@:} ${@:x} ${@:1 ${@:1:} ${@:1:2",
        ),
        ("$$1 é$1é", "$a éaé"),
        ("", ""),
    ] {
        assert_eq!(expand(template, &arguments).unwrap(), expected, "{template:?}");
    }
}

#[test]
fn words_are_kept_together_by_quotes() {
    for (line, expected) in [
        ("", &[][..]),
        ("  a\tb\n c ", &["a", "b", "c"]),
        ("\"a b\" 'c d'", &["a b", "c d"]),
        ("--x=\"a b\"c", &["--x=a bc"]),
        ("\"it's\" '\"'", &["it's", "\""]),
        ("\"\" ''", &["", ""]),
        ("don't do that, it's bad", &["don't", "do", "that,", "it's", "bad"]),
        ("say \"hello", &["say", "\"hello"]),
        ("C:\\dir\\ \\d+", &["C:\\dir\\", "\\d+"]),
    ] {
        assert_eq!(split(line), expected, "{line:?}");
    }
}

#[test]
fn only_a_template_with_a_place_takes_arguments() {
    assert!(["$1", "x $@", "$ARGUMENTS", "${@:2:1}"].iter().all(|template| takes_arguments(template)));
    assert!(["", "x", "$", "${1}", "$HOME"].iter().all(|template| !takes_arguments(template)));
}

proptest! {
    #[test]
    fn no_text_and_no_arguments_make_it_panic(template in "[$@{}:0-9ARGUMENTSé ]{0,60}", line in "\\PC{0,60}") {
        let expanded = expand(&template, &split(&line));
        prop_assert!(expanded.is_ok_and(|text| text.len() <= MAX_EXPANDED_BYTES));
    }

    #[test]
    fn arguments_are_text_whatever_they_look_like(arguments in prop::collection::vec("[$@{}:0-9a]{0,12}", 0..6)) {
        prop_assert_eq!(expand("$@", &arguments).unwrap(), arguments.join(" "));
        let first = arguments.first().cloned().unwrap_or_default();
        prop_assert_eq!(expand("<$1>", &arguments).unwrap(), format!("<{first}>"));
    }

    #[test]
    fn a_template_without_a_place_is_itself(template in "[^$]{0,80}", line in "\\PC{0,40}") {
        prop_assert_eq!(expand(&template, &split(&line)).unwrap(), template);
    }

    #[test]
    fn slices_are_slices(arguments in prop::collection::vec("[a-z]{1,3}", 0..8), from in 1_usize..10, n in 0_usize..10) {
        let expected: Vec<_> = arguments.iter().skip(from - 1).take(n).cloned().collect();
        prop_assert_eq!(expand(&format!("${{@:{from}:{n}}}"), &arguments).unwrap(), expected.join(" "));
    }

    #[test]
    fn plain_words_come_back_as_they_are(all in prop::collection::vec("[a-z0-9.\\\\/-]{1,8}", 0..8)) {
        prop_assert_eq!(split(&all.join("  ")), all);
    }
}
