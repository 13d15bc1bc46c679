use std::fs;
use std::path::PathBuf;

use super::build_on;
use crate::BuiltExtension;
use crate::error::BuilderError;
use crate::javascript::fakes::FakeMachine;

fn built(fake: &FakeMachine) -> Result<BuiltExtension, BuilderError> {
    build_on(&fake.machine, &fake.project(), &fake.path("cache"), &fake.path("out"), &|_| {})
}

#[test]
fn a_project_becomes_one_component_in_the_output_folder() {
    let fake = FakeMachine::new();
    let built = built(&fake).unwrap();
    assert_eq!(built.wasm, fake.path("out/tiny.wasm"));
    assert_eq!((built.bytes, built.name.as_str(), built.target.as_str()), (8, "tiny", "quickjs"));
    assert_eq!(fs::read_dir(fake.path("out")).unwrap().count(), 1);
}

#[test]
fn the_step_gets_the_contract_and_runs_in_the_project() {
    let fake = FakeMachine::new();
    fake.node(r#"ls "$4" > ../wit; pwd > ../where; printf '\0asm\015\0\001\0' > $6"#);
    built(&fake).unwrap();
    assert!(fs::read_to_string(fake.path("wit")).unwrap().contains("hooks.wit"));
    let stood = PathBuf::from(fs::read_to_string(fake.path("where")).unwrap().trim());
    assert_eq!(stood.canonicalize().unwrap(), fake.path("project").canonicalize().unwrap());
}

#[test]
fn a_step_that_fails_or_makes_something_else_publishes_nothing() {
    let fake = FakeMachine::new();
    fake.node("exit 1");
    assert!(matches!(built(&fake), Err(BuilderError::Build { .. })));
    for made in [r"printf '\0asm\001\0\0\0' > $6", "true"] {
        fake.node(made);
        let error = built(&fake).unwrap_err();
        assert!(matches!(error, BuilderError::NoComponent { .. }), "{error}");
    }
    assert!(!fake.path("out").exists());
}

#[test]
fn a_machine_without_node_or_with_an_old_one_is_told_what_to_install() {
    let mut fake = FakeMachine::new();
    fake.machine.npm = None;
    assert!(built(&fake).unwrap_err().to_string().starts_with("`npm` is not on PATH"));
    fs::write(fake.path("node"), "#!/bin/sh\necho v18.19.0\n").unwrap();
    let message = built(&fake).unwrap_err().to_string();
    assert!(message.ends_with("is v18.19.0; extensions in JavaScript need Node.js 20 or later"), "{message}");
    fake.machine.node = None;
    assert!(built(&fake).unwrap_err().to_string().contains("https://nodejs.org"));
}

#[test]
fn a_project_whose_packages_lack_the_sdk_is_told_how_to_add_it() {
    let fake = FakeMachine::new();
    fake.npm("rm -r node_modules/capstan-sdk");
    let message = built(&fake).unwrap_err().to_string();
    assert!(message.contains("npm install file:"), "{message}");
}
