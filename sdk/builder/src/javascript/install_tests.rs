use std::cell::RefCell;
use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use super::{Packages, command, ensure, state};
use crate::error::BuilderError;
use crate::javascript::fakes::FakeMachine;

fn ensured(fake: &FakeMachine) -> (Result<(), BuilderError>, Vec<String>) {
    let said = RefCell::new(Vec::new());
    let done = ensure(&fake.machine, &fake.project(), &|line| said.borrow_mut().push(line.to_owned()));
    (done, said.into_inner())
}

/// As if a file had been written in a while, whatever the file system's clock resolves.
fn touch(fake: &FakeMachine, path: &str) {
    let later = SystemTime::now() + Duration::from_secs(60);
    File::options().write(true).open(fake.path(path)).unwrap().set_modified(later).unwrap();
}

#[test]
fn packages_are_installed_once_and_again_when_what_names_them_changed() {
    let fake = FakeMachine::new();
    assert_eq!(state(&fake.project()).unwrap(), Packages::Missing);
    let (done, said) = ensured(&fake);
    done.unwrap();
    assert_eq!(said, ["installing the npm packages of tiny"]);
    assert_eq!(state(&fake.project()).unwrap(), Packages::Current);
    assert!(ensured(&fake).1.is_empty());
    touch(&fake, "project/package.json");
    ensured(&fake).0.unwrap();
    assert_eq!(fake.npm_calls(), "install\ninstall\n");
}

#[test]
fn a_package_that_is_a_folder_here_is_copied_anew_when_it_changed() {
    let fake = FakeMachine::new();
    ensured(&fake).0.unwrap();
    fs::write(fake.path("sdk/bin/new.js"), "").unwrap();
    touch(&fake, "sdk/bin/new.js");
    assert_eq!(state(&fake.project()).unwrap(), Packages::Outdated);
    ensured(&fake).0.unwrap();
    // Into the place of the old copy, and not below it.
    assert!(fake.path("project/node_modules/capstan-sdk/bin/new.js").is_file());
}

#[test]
fn nothing_is_fetched_when_the_user_forbids_it() {
    let mut fake = FakeMachine::new();
    fake.machine.may_install = false;
    let message = ensured(&fake).0.unwrap_err().to_string();
    assert!(message.contains("CAPSTAN_NO_INSTALL") && message.contains("npm install"), "{message}");
    fs::create_dir_all(fake.path("project/node_modules")).unwrap();
    fs::write(fake.path("project/node_modules/.package-lock.json"), "{}").unwrap();
    touch(&fake, "project/package.json");
    let (done, said) = ensured(&fake);
    done.unwrap();
    assert!(said[0].contains("may be out of date"), "{said:?}");
    assert_eq!(fake.npm_calls(), "");
}

#[test]
fn a_build_server_installs_what_was_committed() {
    let mut fake = FakeMachine::new();
    fake.machine.is_build_server = true;
    let first = |fake: &FakeMachine| command(&fake.machine, &fake.project()).unwrap().args[0].clone();
    assert_eq!(first(&fake), "install");
    fs::write(fake.path("project/package-lock.json"), "{}").unwrap();
    assert_eq!(first(&fake), "ci");
    fake.machine.is_build_server = false;
    assert_eq!(first(&fake), "install");
}

#[test]
fn a_failed_installation_is_told_and_tried_again() {
    let fake = FakeMachine::new();
    fake.npm("exit 3");
    assert!(matches!(ensured(&fake).0, Err(BuilderError::Npm { .. })));
    assert_eq!(state(&fake.project()).unwrap(), Packages::Missing);
}
