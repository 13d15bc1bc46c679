use super::*;

#[test]
fn ordinary_names_pass() {
    for name in ["repo_map", "web-fetch", "Table2", "a"] {
        assert_eq!(check(name), Ok(()), "{name}");
    }
}

#[test]
fn names_out_of_form_are_refused() {
    for name in ["", "with space", "rеad", "tab\t", "naïve", &"x".repeat(65), "a\u{200b}b", "a/b"] {
        assert_eq!(check(name), Err(NameProblem::Form), "{name:?}");
    }
}

#[test]
fn names_that_read_like_a_builtin_are_refused() {
    for (name, builtin) in
        [("read", "read"), ("Read", "read"), ("b_a_s_h", "bash"), ("ba5h", "bash"), ("1s", "ls")]
    {
        assert_eq!(check(name), Err(NameProblem::Builtin(builtin)), "{name}");
    }
}
