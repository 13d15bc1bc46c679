use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::Surroundings;
use crate::error::BuilderError;

fn python(folder: &Path, name: &str, answer: &str) {
    let program = folder.join(name);
    fs::write(&program, format!("#!/bin/sh\necho '{answer}'\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
}

fn around(folder: &Path) -> Surroundings {
    Surroundings { chosen: None, path: vec![folder.to_path_buf()], may_install: false, has_apt: true }
}

#[test]
fn the_first_that_is_new_enough_and_whole_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    python(folder.path(), "python3", "3 9 2 True");
    python(folder.path(), "python3.13", "3 13 1 False");
    python(folder.path(), "python3.12", "3 12 4 True");
    let found = around(folder.path()).interpreter().unwrap();
    assert_eq!((found.version(), found.program), ("3.12.4".to_owned(), folder.path().join("python3.12")));
}

#[test]
fn what_is_missing_is_named_with_the_command_that_brings_it() {
    let folder = tempfile::tempdir().unwrap();
    let told = |surroundings: &Surroundings| {
        let error = surroundings.interpreter().unwrap_err();
        assert!(matches!(error, BuilderError::NoPython { .. }), "{error}");
        error.to_string()
    };
    let none = told(&around(folder.path()));
    assert!(none.contains("no python3 on PATH") && none.contains("apt-get install python3"), "{none}");
    python(folder.path(), "python3", "3 11 7 False");
    let bare = told(&around(folder.path()));
    assert!(bare.contains("without venv") && bare.ends_with("apt-get install python3-venv"), "{bare}");
    python(folder.path(), "python3", "Python 2.7");
    let odd = told(&around(folder.path()));
    assert!(odd.contains("does not answer as a Python 3 does"), "{odd}");
}

#[test]
fn a_chosen_one_is_the_only_one_that_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    python(folder.path(), "python3", "3 12 4 True");
    let chosen = Surroundings { chosen: Some(folder.path().join("mine")), ..around(folder.path()) };
    assert!(chosen.interpreter().unwrap_err().to_string().contains("mine"));
}
