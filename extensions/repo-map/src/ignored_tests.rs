use ignore::gitignore::GitignoreBuilder;
use proptest::prelude::*;

use super::*;

fn says(text: &str, path: &str, is_folder: bool) -> Option<bool> {
    let mut patterns = Patterns::default();
    patterns.add(text);
    patterns.says(&path.split('/').collect::<Vec<_>>(), is_folder)
}

/// What the well-known crate answers.
fn expected(text: &str, path: &str, is_folder: bool) -> Option<bool> {
    let mut builder = GitignoreBuilder::new("");
    for line in text.lines() {
        builder.add_line(None, line).ok()?;
    }
    match builder.build().ok()?.matched(path, is_folder) {
        ignore::Match::None => None,
        ignore::Match::Ignore(_) => Some(true),
        ignore::Match::Whitelist(_) => Some(false),
    }
}

#[test]
fn patterns_mean_what_git_says_they_mean() {
    let ignored = [
        ("target", "target", true),
        ("target", "a/b/target", false),
        ("/target", "target", true),
        ("*.o", "a/x.o", false),
        ("a/b", "a/b", false),
        ("build/", "x/build", true),
        ("a/**", "a/b/c", false),
        ("**/b", "a/b", false),
        ("a/**/b", "a/b", false),
        ("a/**/b", "a/x/y/b", false),
        ("x[0-9]", "x7", false),
        ("x[!0-9]", "xa", false),
        ("\\#x", "#x", false),
        ("\\!x", "!x", false),
        ("x\\ ", "x ", false),
        ("x   ", "x", false),
        ("!x\nx", "x", false),
    ];
    for (text, path, is_folder) in ignored {
        assert_eq!(says(text, path, is_folder), Some(true), "{text} {path}");
    }
    let unsaid = [
        ("", "x", false),
        ("# x", "# x", false),
        ("/target", "a/target", true),
        ("build/", "build", false),
        ("a/b", "x/a/b", false),
        ("a/**", "a", true),
        ("*.o", "x.obj", false),
        ("x[", "x[", false),
        ("a*/b", "a/c/b", false),
    ];
    for (text, path, is_folder) in unsaid {
        assert_eq!(says(text, path, is_folder), None, "{text} {path}");
    }
    assert_eq!(says("*.log\n!keep.log", "keep.log", false), Some(false));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn the_matcher_agrees_with_the_ignore_crate(
        lines in prop::collection::vec("!?/?([ab*?]{1,3}|\\*\\*|\\[[ab]\\]|\\[!a\\]b?)(/([ab*?]{1,2}|\\*\\*|a)){0,3}/?", 1..3),
        path in "[abc]{1,2}(/[abc]{1,2}){0,3}",
        is_folder: bool,
    ) {
        let text = lines.join("\n");
        // Three stars in a row, or `**` beside other signs, mean different things to different programs.
        prop_assume!(!lines.iter().any(|line| line.split('/').any(|step| step.contains("**") && step != "**")));
        prop_assert_eq!(says(&text, &path, is_folder), expected(&text, &path, is_folder), "{} {}", text, path);
    }

    #[test]
    fn no_text_makes_the_matcher_panic(text in "(?s).{0,60}", path in ".{0,20}") {
        let _answer = says(&text, &path, false);
    }
}
