use super::*;
use proptest::prelude::*;

fn allows(rule: &str, name: &str, place: &str, arguments: &[&str]) -> bool {
    let arguments: Vec<_> = arguments.iter().map(|&word| word.to_owned()).collect();
    ProgramRule::parse(rule).unwrap().allows(name, Path::new(place), &arguments)
}

#[test]
fn a_name_allows_the_program_of_that_name_with_any_arguments() {
    assert!(allows("git", "git", "/usr/bin/git", &["log", "-p"]));
    assert!(!allows("git", "gitk", "/usr/bin/gitk", &[]));
    assert!(!allows("git", "/tmp/git", "/tmp/git", &[]), "a path is not a name");
    assert!(allows("python3*", "python3.12", "/usr/bin/python3.12", &[]));
}

#[test]
fn a_path_allows_the_program_at_that_place_by_whatever_name() {
    assert!(allows("/usr/bin/git", "git", "/usr/bin/git", &[]));
    assert!(allows("/usr/bin/*", "/usr/bin/git", "/usr/bin/git", &[]));
    assert!(!allows("/usr/bin/*", "x", "/usr/bin/deep/x", &[]));
    assert!(!allows("/usr/bin/git", "git", "/usr/local/bin/git", &[]));
}

#[test]
fn arguments_are_matched_word_by_word() {
    for (rule, arguments, allowed) in [
        ("git log", &["log"][..], true),
        ("git log", &["log", "-p"], false),
        ("git log", &[], false),
        ("git log *", &["log", "a/b c"], true),
        ("git log *", &["log"], false),
        ("git log **", &["log"], true),
        ("git log **", &["log", "--oneline", "x"], true),
        ("git log **", &["push"], false),
        ("git **", &[], true),
        ("git --format=%[a]", &["--format=%[a]"], true),
        ("git --format=%[a]", &["--format=%a"], false),
    ] {
        assert_eq!(allows(rule, "git", "/usr/bin/git", arguments), allowed, "{rule} on {arguments:?}");
    }
}

#[test]
fn rules_that_nobody_could_judge_are_refused() {
    for rule in ["", "  ", "*", "/**", "/*/*", "bin/git", "../git", "/usr/../bin/git", "./git", "** x"] {
        assert!(ProgramRule::parse(rule).is_err(), "{rule:?}");
    }
}

#[test]
fn variables_that_decide_which_code_runs_are_not_harmless() {
    assert!(["LANG", "LC_ALL", "NO_COLOR"].into_iter().all(is_harmless_variable));
    for name in ["LD_PRELOAD", "PATH", "HOME", "GIT_SSH_COMMAND", "BASH_ENV", "lang", "", "EDITOR"] {
        assert!(!is_harmless_variable(name), "{name}");
    }
}

proptest! {
    #[test]
    fn any_text_is_a_rule_or_refused(rule in "\\PC{0,60}") {
        if let Ok(parsed) = ProgramRule::parse(&rule) {
            parsed.allows("git", Path::new("/usr/bin/git"), &["log".to_owned()]);
        }
    }

    #[test]
    fn words_without_signs_allow_exactly_themselves(words in prop::collection::vec("[a-z0-9=._-]{1,8}", 1..5), other in "[a-z]{1,8}") {
        prop_assume!(!words.iter().any(|word| word == "." || word == ".."));
        let rule = ProgramRule::parse(&format!("git {}", words.join(" "))).unwrap();
        let place = Path::new("/usr/bin/git");
        prop_assert!(rule.allows("git", place, &words));
        let mut more = words.clone();
        more.push(other);
        prop_assert!(!rule.allows("git", place, &more));
    }
}
