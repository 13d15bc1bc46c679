use std::fs;
use std::path::{Path, PathBuf};

use super::Project;
use crate::error::BuilderError;

fn parse(text: &str) -> Result<Project, BuilderError> {
    Project::parse(Path::new("/p/package.json"), text)
}

#[test]
fn a_manifest_gives_name_engine_and_the_packages_that_are_folders() {
    let project = parse(
        r#"{ "name": "@ada/word_count", "capstan": { "entry": "a.ts", "engine": "starlingmonkey" },
             "scripts": { "test": "node --test" },
             "dependencies": { "capstan-sdk": "file:../sdk", "zod": "4.6.7" } }"#,
    )
    .unwrap();
    assert_eq!((project.name.as_str(), project.engine.as_str()), ("word_count", "starlingmonkey"));
    assert_eq!(project.wasm_name(), "word-count.wasm");
    assert_eq!(
        project.folders.into_iter().collect::<Vec<_>>(),
        [("capstan-sdk".to_owned(), PathBuf::from("/p/../sdk"))]
    );
    assert!(project.has_tests);
    let plain = parse(r#"{ "name": "a", "capstan": { "entry": "a.js" } }"#).unwrap();
    assert_eq!((plain.engine.as_str(), plain.has_tests), ("quickjs", false));
}

#[test]
fn a_manifest_of_something_else_is_refused_with_what_to_add() {
    let error = parse(r#"{ "name": "website" }"#).unwrap_err();
    assert!(matches!(error, BuilderError::NoEntry { .. }), "{error}");
    assert!(error.to_string().contains(r#""capstan": { "entry": "#), "{error}");
    assert!(matches!(parse(r#"{ "capstan": { "entry": "a" } }"#), Err(BuilderError::NoPackage { .. })));
    assert!(matches!(parse("{"), Err(BuilderError::PackageJson { .. })));
}

#[test]
fn the_sdk_is_found_where_node_finds_it() {
    let root = tempfile::tempdir().unwrap();
    let bin = root.path().join("node_modules/capstan-sdk/bin");
    let dir = root.path().join("packages/a");
    fs::create_dir_all(&dir).unwrap();
    let project = || Project::parse(&dir.join("package.json"), r#"{ "name": "a", "capstan": {} }"#).unwrap();
    assert_eq!(project().sdk(), None);
    fs::create_dir_all(&bin).unwrap();
    fs::write(bin.join("capstan-sdk.js"), "").unwrap();
    assert_eq!(project().sdk(), Some(bin.join("capstan-sdk.js")));
}
