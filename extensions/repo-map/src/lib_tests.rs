use capstan_sdk::testing;
use serde_json::{Value, json};

use super::*;
use crate::tree::tests::workspace;

fn run(folder: &tempfile::TempDir, arguments: &Arguments) -> Result<Output> {
    map(folder.path(), arguments, &testing::call("repo_map"))
}

#[test]
fn the_map_shows_path_size_and_items() {
    let folder =
        workspace(&[("src/lib.rs", "pub fn one() {}\n"), ("README.md", "# Title\n"), ("data.bin", "\0")]);
    let output = run(&folder, &Arguments::default()).unwrap();
    assert_eq!(
        output.as_text(),
        "2 files, 24 B in the workspace\nREADME.md 8 B\n  # Title\nsrc/lib.rs 16 B\n  pub fn one()\nleft out: 1 binary\n"
    );
    let details: Value = serde_json::from_str(&output.details.unwrap()).unwrap();
    assert_eq!(details, json!({ "files": 2, "bytes": 24, "shown": 2 }));
}

#[test]
fn a_folder_or_a_file_can_be_chosen() {
    let folder = workspace(&[("src/a.rs", ""), ("src/b.rs", ""), ("c.rs", "")]);
    for (path, files) in
        [("src", 2), ("./src/", 2), ("/workspace/src", 2), ("src/a.rs", 1), (".", 3), ("/workspace", 3)]
    {
        let output =
            run(&folder, &Arguments { path: Some(path.to_owned()), ..Arguments::default() }).unwrap();
        assert!(output.as_text().starts_with(&format!("{files} files")), "{path}: {}", output.as_text());
    }
}

#[test]
fn wrong_paths_say_what_to_write() {
    let folder = workspace(&[("a", "")]);
    let error = |path: &str| {
        run(&folder, &Arguments { path: Some(path.to_owned()), ..Arguments::default() }).unwrap_err()
    };
    assert!(error("../x").message().contains("outside the workspace"));
    assert!(error("/etc").message().contains("relative to it"));
    assert!(error("missing").message().starts_with("`missing` is not in the workspace"));
}

#[test]
fn without_the_grant_the_error_names_the_command_that_gives_it() {
    let error =
        map(Path::new("/no/such/workspace"), &Arguments::default(), &testing::call("repo_map")).unwrap_err();
    assert!(error.message().contains("capstan ext allow repo-map"), "{error}");
}

#[test]
fn the_descriptor_asks_to_read_the_workspace_and_documents_its_tool() {
    let descriptor = testing::describe::<Extension>();
    assert_eq!(descriptor.id, "repo-map");
    assert_eq!(
        descriptor.requests,
        [capstan_sdk::Request::read_directory(".", "It reads the source files that it outlines.")]
    );
    let tool = &descriptor.tools[0];
    assert!(tool.description.starts_with("Outlines the source files"));
    let schema: Value = serde_json::from_str(&tool.parameters).unwrap();
    assert_eq!(
        schema["properties"]["depth"],
        json!({
            "description": "How many folders deep to look. Default: 12.", "type": "integer", "minimum": 1, "maximum": 64
        })
    );
}

#[test]
fn unknown_arguments_are_refused_by_name() {
    let error = testing::call_tool::<Extension>("repo_map", json!({ "folder": "src" })).unwrap_err();
    assert!(error.contains("unknown field `folder`"), "{error}");
}
