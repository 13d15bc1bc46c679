use std::ffi::OsString;
use std::path::PathBuf;

use super::cache_from;

fn cache_with(vars: &[(&str, &str)]) -> PathBuf {
    let var =
        |name: &str| vars.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
    cache_from(var, PathBuf::from("/tmp"))
}

#[test]
fn capstan_home_decides_where_the_cache_is() {
    let vars = [("CAPSTAN_HOME", "/opt/capstan"), ("XDG_CACHE_HOME", "/x"), ("HOME", "/home/ada")];
    assert_eq!(cache_with(&vars), PathBuf::from("/opt/capstan/cache"));
}

#[test]
fn without_capstan_home_the_cache_follows_the_xdg_rules() {
    assert_eq!(cache_with(&[("XDG_CACHE_HOME", "/x"), ("HOME", "/home/ada")]), PathBuf::from("/x/capstan"));
    assert_eq!(cache_with(&[("HOME", "/home/ada")]), PathBuf::from("/home/ada/.cache/capstan"));
}

#[test]
fn relative_and_empty_folders_are_passed_over() {
    let vars = [("CAPSTAN_HOME", ""), ("XDG_CACHE_HOME", "cache"), ("HOME", "/home/ada")];
    assert_eq!(cache_with(&vars), PathBuf::from("/home/ada/.cache/capstan"));
}

#[test]
fn an_account_without_a_home_still_has_a_cache() {
    assert_eq!(cache_with(&[]), PathBuf::from("/tmp/capstan"));
}
