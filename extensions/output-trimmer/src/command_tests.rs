use super::*;

#[test]
fn programs_are_found_behind_folders_variables_and_wrappers() {
    assert_eq!(programs("cd app && RUST_LOG=1 /usr/bin/cargo test 2>&1 | tail -5"), ["cd", "cargo", "tail"]);
    assert_eq!(programs("sudo timeout 60 make -j4"), ["sudo", "timeout", "make"]);
    assert_eq!(programs("python3 -m pytest -q"), ["python3", "pytest"]);
    assert_eq!(programs("git log --grep cargo"), ["git"]);
}

#[test]
fn readers_alone_print_what_was_asked_for() {
    assert!(only_reads(&programs("cat build.log | grep -n error | head")));
    assert!(!only_reads(&programs("cargo test | tail")));
}

#[test]
fn a_comment_asks_for_everything() {
    assert!(wants_all("cargo test # full") && wants_all("cargo test  #full "));
    assert!(!wants_all("cargo test") && !wants_all("cargo test # not the full one"));
}
