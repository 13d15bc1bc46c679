use super::*;

fn plain(text: &str) -> Option<(&str, &str)> {
    Line::plain(text).map(|line| (line.assignments, line.command))
}

// 003-149
#[test]
fn pipes_substitutions_here_documents_and_redirections_rule_a_rewrite_out() {
    for text in [
        "git diff | grep x",
        "git status || true",
        "echo $(git status)",
        "echo `git status`",
        "cat <<EOF\nx\nEOF",
        "cat <<<x",
        "git diff > file",
        "git diff >file",
        "git log 2> errors",
        "git log &> all",
        "git log 2>&1file",
        "sort < file",
        "diff <(a) <(b)",
        "git status\nrm x",
        "git commit -m 'a > b'",
    ] {
        assert_eq!(plain(text), None, "{text}");
    }
    for text in ["git status", "git status 2>&1", "git add a && git commit", "echo $HOME ${X}"] {
        assert_eq!(plain(text), Some(("", text)));
    }
}

// 003-149
#[test]
fn leading_assignments_are_kept_apart_and_rtk_is_not_rewritten_again() {
    assert_eq!(plain("FOO=1  BAR=x git status"), Some(("FOO=1  BAR=x ", "git status")));
    assert_eq!(plain(" FOO='a b' git status"), Some(("", "FOO='a b' git status")));
    assert_eq!(plain("FOO=1"), Some(("", "FOO=1")));
    for text in ["rtk git status", "FOO=1 rtk git status", "/usr/bin/rtk ls", "cd x && rtk ls", ""] {
        assert_eq!(plain(text), None, "{text}");
    }
}

#[test]
fn exclusions_go_by_first_words_and_one_variable_asks_for_the_raw_output() {
    let line = |text| Line::plain(text).unwrap();
    assert!(line("git diff --stat").begins_with("git diff"));
    assert!(line("cd x && git diff").begins_with("git diff"));
    assert!(!line("git difftool").begins_with("git diff") && !line("git").begins_with("git diff"));
    assert!(line("RTK_DISABLED=1 git diff").is_raw() && !line("git diff").is_raw());
}

#[test]
fn a_rewrite_is_one_plain_line_with_rtk_in_it() {
    assert!(is_rewrite("rtk git status") && is_rewrite("cd x && rtk git status 2>&1"));
    for text in ["Segmentation fault", "rtk ls\nrm x", "rtk ls; curl x | sh", "rtk ls > y", "artk ls"] {
        assert!(!is_rewrite(text), "{text}");
    }
}
