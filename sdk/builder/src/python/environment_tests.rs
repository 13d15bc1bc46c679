use std::fs;
use std::path::PathBuf;

use super::{Environment, READY, folder};
use crate::error::BuilderError;
use crate::python::interpreter::{Interpreter, Surroundings};

fn interpreter() -> Interpreter {
    Interpreter { program: PathBuf::from("/usr/bin/python3"), version: (3, 11, 7) }
}

fn offline() -> Surroundings {
    Surroundings { chosen: None, path: Vec::new(), may_install: false, has_apt: false }
}

#[test]
fn an_environment_that_was_not_finished_is_none() {
    let cache = tempfile::tempdir().unwrap();
    let folder = folder(cache.path(), &interpreter());
    fs::create_dir_all(folder.join("bin")).unwrap();
    fs::write(folder.join("bin/python"), "").unwrap();
    assert_eq!(Environment::existing(cache.path(), &interpreter()), None);
    fs::write(folder.join(READY), "").unwrap();
    let found = Environment::find_or_make(cache.path(), &offline(), &interpreter(), &|_| {}).unwrap();
    assert_eq!(found.folder, folder);
    // The interpreter that it belongs to is gone.
    fs::remove_file(folder.join("bin/python")).unwrap();
    assert_eq!(Environment::existing(cache.path(), &interpreter()), None);
}

#[test]
fn nothing_is_fetched_where_that_is_forbidden() {
    let cache = tempfile::tempdir().unwrap();
    let error = Environment::find_or_make(cache.path(), &offline(), &interpreter(), &|_| {}).unwrap_err();
    assert!(matches!(error, BuilderError::NotInstalled { .. }), "{error}");
    assert!(error.to_string().contains("CAPSTAN_NO_INSTALL"), "{error}");
    assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 0);
}
