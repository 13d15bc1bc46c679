use std::path::{Path, PathBuf};

use super::{Project, requirement_name};
use crate::error::BuilderError;

fn parse(text: &str) -> Result<Project, BuilderError> {
    let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../python");
    Project::parse(
        Path::new("/p/pyproject.toml"),
        &text.replace("SDK", &format!("sdk = {:?}", sdk.canonicalize().unwrap())),
    )
}

#[test]
fn a_project_says_what_to_import_and_what_that_needs() {
    let project = parse(
        "[project]\nname = \"word-count\"\nversion = \"1.2.0\"\ndependencies = [\"capstan-sdk\", \"Foo>=1\"]\n\
         [dependency-groups]\ndev = [\"pytest >= 8\", {include-group = \"x\"}]\nlint = [\"ruff\"]\n\
         [tool.capstan]\nSDK\n[tool.other]\nx = 1\n",
    )
    .unwrap();
    assert_eq!((project.module.as_str(), project.wasm_name().as_str()), ("word_count", "word-count.wasm"));
    assert_eq!(project.version, "1.2.0");
    assert_eq!(project.dependencies, ["Foo>=1"]);
    assert_eq!(project.test_dependencies, ["pytest >= 8"]);
    assert!(project.has_pytest());
    assert_eq!(project.source(), PathBuf::from("/p"));
}

#[test]
fn without_a_folder_the_sdk_is_a_dependency() {
    let text =
        "[project]\nname = \"a\"\ndependencies = [\"capstan_sdk~=0.1\"]\n[tool.capstan]\nmodule = \"b.c\"\n";
    let project = parse(text).unwrap();
    assert_eq!(project.dependencies, ["capstan_sdk~=0.1"]);
    assert_eq!((project.sdk, project.module.as_str()), (None, "b.c"));
}

#[test]
fn what_is_missing_is_named() {
    let told = |text: &str| parse(text).unwrap_err().to_string();
    assert!(told("[tool.capstan]\nSDK\n").contains("[project]"));
    assert!(told("[project]\nname = \"a\"\n").contains("[tool.capstan]"));
    let named = "[project]\nname = \"a\"\n[tool.capstan]\n";
    assert!(told(named).contains("names no SDK"));
    assert!(told(&format!("{named}sdk = \"/nowhere\"\n")).contains("holds no capstan_sdk"));
    assert!(told(&format!("{named}SDK\nmodule = \"a-b; import os\"\n")).contains("cannot name a module"));
    assert!(matches!(parse(&format!("{named}SDK\nmodul = \"a\"\n")), Err(BuilderError::Manifest { .. })));
}

#[test]
fn requirements_are_compared_as_indexes_do() {
    assert_eq!(requirement_name("Capstan_SDK[x]>=1; python_version < '4'"), "capstan-sdk");
    assert_eq!(requirement_name("pytest"), "pytest");
}
