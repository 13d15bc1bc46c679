use super::*;
use proptest::prelude::*;

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

proptest! {
    // H6: case, separators and look-alike digits never make a new name.
    #[test]
    fn disguises_of_a_builtin_are_all_refused(which in 0..BUILTIN_TOOLS.len(), upper in any::<[bool; 4]>(), dashes in any::<[bool; 4]>()) {
        let disguised: String = BUILTIN_TOOLS[which]
            .chars()
            .enumerate()
            .flat_map(|(n, c)| {
                let c = if upper[n % 4] { c.to_ascii_uppercase() } else { c };
                [Some(c), dashes[n % 4].then_some('-')]
            })
            .flatten()
            .collect();
        prop_assert!(matches!(check(&disguised), Err(NameProblem::Builtin(_))), "{disguised}");
    }
}
