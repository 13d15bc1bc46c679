use std::fs;
use std::path::PathBuf;

use super::{Project, states_release_profile};
use crate::error::{BuilderError, chain};
use crate::rust::target::GuestTarget;

const GOOD: &str = "[package]\nname = \"path-guard\"\n[lib]\ncrate-type = [\"cdylib\"]\n";

fn parse(text: &str) -> Result<Project, BuilderError> {
    Project::parse(PathBuf::from("/p/Cargo.toml"), text.to_owned())
}

#[test]
fn a_plain_project_is_built_lean_under_its_own_name() {
    let project = parse(GOOD).unwrap();
    assert_eq!((project.name.as_str(), project.lib.as_str()), ("path-guard", "path_guard"));
    assert_eq!(project.wasm_name(), "path-guard.wasm");
    assert_eq!(project.target, GuestTarget::Unknown);
    assert_eq!(project.dir, PathBuf::from("/p"));
    assert!(!project.has_release_profile);
}

#[test]
fn the_manifest_chooses_the_target() {
    let project = parse(&format!("{GOOD}[package.metadata.capstan]\ntarget = \"wasm32-wasip2\"\n")).unwrap();
    assert_eq!(project.target, GuestTarget::Wasip2);
}

#[test]
fn metadata_of_other_tools_and_other_keys_of_ours_are_no_concern() {
    let text =
        format!("{GOOD}[package.metadata.docs]\nx = 1\n[package.metadata.capstan]\nlifetime = \"session\"\n");
    assert_eq!(parse(&text).unwrap().target, GuestTarget::Unknown);
}

#[test]
fn a_target_that_does_not_exist_names_the_manifest_and_the_choices() {
    let error = parse(&format!("{GOOD}[package.metadata.capstan]\ntarget = \"wasm32-wasi\"\n")).unwrap_err();
    let text = chain(&error);
    assert!(
        text.contains("/p/Cargo.toml") && text.contains("`wasm32-wasi`") && text.contains("wasip2"),
        "{text}"
    );
}

#[test]
fn a_package_that_is_no_cdylib_is_refused() {
    for text in [
        "[package]\nname = \"a\"\n",
        "[package]\nname = \"a\"\n[lib]\nname = \"b\"\n",
        "[package]\nname = \"a\"\n[lib]\ncrate-type = [\"rlib\"]\n",
    ] {
        assert!(matches!(parse(text).unwrap_err(), BuilderError::NotCdylib { .. }), "{text}");
    }
}

#[test]
fn a_library_for_tests_as_well_as_for_wasm_is_fine() {
    let text = "[package]\nname = \"a\"\n[lib]\nname = \"other\"\ncrate-type = [\"rlib\", \"cdylib\"]\n";
    let project = parse(text).unwrap();
    assert_eq!((project.lib.as_str(), project.wasm_name().as_str()), ("other", "a.wasm"));
}

#[test]
fn a_release_profile_of_the_project_is_noticed() {
    assert!(parse(&format!("{GOOD}[profile.release]\nopt-level = 3\n")).unwrap().has_release_profile);
    assert!(!parse(&format!("{GOOD}[profile.dev]\nopt-level = 1\n")).unwrap().has_release_profile);
}

#[test]
fn a_workspace_alone_is_no_extension() {
    let error = parse("[workspace]\nmembers = [\"a\"]\n").unwrap_err();
    assert!(matches!(error, BuilderError::NoPackage { .. }), "{error}");
}

#[test]
fn a_manifest_that_is_no_toml_shows_line_and_column() {
    let error = parse("[package\nname = 1").unwrap_err();
    let text = chain(&error);
    assert!(text.contains("/p/Cargo.toml") && text.contains("line 1"), "{text}");
}

#[test]
fn a_folder_and_its_manifest_mean_the_same_project() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = folder.path().join("Cargo.toml");
    fs::write(&manifest, GOOD).unwrap();
    assert_eq!(Project::read(folder.path()).unwrap(), Project::read(&manifest).unwrap());
    assert!(!states_release_profile(&manifest).unwrap());
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let error = Project::read(&PathBuf::from("/nowhere/at/all")).unwrap_err();
    assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
}
