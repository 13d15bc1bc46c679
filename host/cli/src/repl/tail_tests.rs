use super::*;

#[test]
fn only_what_is_new_of_the_output_is_shown() {
    let mut followed = Followed::default();
    assert_eq!(followed.take("one\n"), Some("one\n"));
    assert_eq!(followed.take("one\ntwo\n"), Some("two\n"));
    assert_eq!(followed.take("one\ntwo\n"), Some(""));
    assert_eq!(followed.take("two\nthree\n"), None, "its beginning is gone");
    assert_eq!(followed.take("one\ntwo\nfour\n"), None, "and it stays lost");
}

fn plain(shown: &str) -> String {
    shown.replace(&DIM.render().to_string(), "").replace(&DIM.render_reset().to_string(), "")
}

#[test]
fn complete_lines_of_each_call_are_shown_once() {
    let mut tails = Tails::default();
    assert_eq!(plain(&tails.update("a", "one\ntw")), "  | one\n");
    assert_eq!(plain(&tails.update("b", "other\n")), "  | other\n");
    assert_eq!(plain(&tails.update("a", "one\ntwo\n")), "  | two\n");
    assert_eq!(plain(&tails.update("a", "one\ntwo\n")), "");
    tails.end("a");
    assert_eq!(plain(&tails.update("a", "again\n")), "  | again\n");
}

// O3, O6
#[test]
fn much_output_is_few_lines_and_none_of_it_acts_on_the_terminal() {
    let mut tails = Tails::default();
    let lines: String = (0..1000).map(|n| format!("{n}\u{1b}[2J\n")).collect();
    let shown = plain(&tails.update("a", &lines));
    assert_eq!(shown.lines().count(), MAX_LINES + 1, "{shown}");
    assert!(shown.ends_with("  | …\n") && !shown.contains('\u{1b}'), "{shown:?}");
    assert_eq!(tails.update("a", &format!("{lines}more\n")), "");
    let long = plain(&tails.update("b", &format!("{}\n", "x".repeat(10_000))));
    assert!(long.chars().count() < 200, "{}", long.len());
}
