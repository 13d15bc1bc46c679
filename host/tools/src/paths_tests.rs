use super::*;

#[test]
fn a_leading_at_sign_is_dropped_once() {
    assert_eq!(expand("@src/a.rs", None).unwrap(), Path::new("src/a.rs"));
    assert_eq!(expand("@@types/a", None).unwrap(), Path::new("@types/a"));
    assert_eq!(expand("./@types/a", None).unwrap(), Path::new("./@types/a"));
}

#[test]
fn a_tilde_means_the_home_directory_only_as_a_whole_first_component() {
    let home = Some(Path::new("/home/me"));
    assert_eq!(expand("~", home).unwrap(), Path::new("/home/me"));
    assert_eq!(expand("~/a", home).unwrap(), Path::new("/home/me/a"));
    assert_eq!(expand("~//a", home).unwrap(), Path::new("/home/me/a"));
    assert_eq!(expand("~other/a", home).unwrap(), Path::new("~other/a"));
    assert_eq!(expand("a/~/b", home).unwrap(), Path::new("a/~/b"));
    assert_eq!(expand("~/a", None).unwrap(), Path::new("~/a"));
}

#[test]
fn an_empty_path_is_an_error() {
    assert!(matches!(expand("", None), Err(RuntimeError::EmptyPath)));
    assert!(matches!(expand("@", None), Err(RuntimeError::EmptyPath)));
}

#[test]
fn dots_are_worked_out_and_never_climb_above_the_root() {
    let base = Path::new("/w");
    assert_eq!(lexical(base, Path::new("a/./b/../c")), Path::new("/w/a/c"));
    assert_eq!(lexical(base, Path::new("../../../etc")), Path::new("/etc"));
    assert_eq!(lexical(base, Path::new("/x/y")), Path::new("/x/y"));
}
