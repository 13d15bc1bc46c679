use std::fs;

use capstan_sdk::testing;

use super::*;

/// A workspace with these files.
pub(crate) fn workspace(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let full = folder.path().join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, content).unwrap();
    }
    folder
}

fn paths(folder: &tempfile::TempDir, below: &str, limits: Limits) -> Vec<String> {
    let tree = read(folder.path(), Path::new(below), limits, &testing::call("repo_map")).unwrap();
    tree.files.into_iter().map(|file| file.path).collect()
}

#[test]
fn the_order_is_that_of_the_names_and_git_is_left_out() {
    let folder =
        workspace(&[("b/x.rs", ""), ("a.rs", ""), (".git/config", ""), ("b.rs", ""), (".hidden/y.rs", "")]);
    assert_eq!(paths(&folder, "", Limits::default()), [".hidden/y.rs", "a.rs", "b/x.rs", "b.rs"]);
}

#[test]
fn nested_ignore_files_count_and_the_closest_decides() {
    let folder = workspace(&[
        (".gitignore", "*.log\ntarget/\n/only-here\n"),
        ("a.log", ""),
        ("target/x.rs", ""),
        ("only-here", ""),
        ("sub/only-here", ""),
        ("sub/.gitignore", "!keep.log\nsecret\n"),
        ("sub/keep.log", ""),
        ("sub/b.log", ""),
        ("sub/deep/secret", ""),
        ("sub/deep/open", ""),
        ("sub/.ignore", "open\n"),
    ]);
    let expected = [".gitignore", "sub/.gitignore", "sub/.ignore", "sub/keep.log", "sub/only-here"];
    assert_eq!(paths(&folder, "", Limits::default()), expected);
    // Also when the walk starts below the ignore file.
    assert_eq!(paths(&folder, "sub/deep", Limits::default()), Vec::<String>::new());
}

#[test]
fn binary_large_and_deep_content_is_counted_and_left_out() {
    let large = "x".repeat(600 * 1024);
    let folder = workspace(&[("bin", "a\0b"), ("large", &large), ("a/b/c/d", ""), ("ok", "")]);
    let limits = Limits { depth: 2, ..Limits::default() };
    let tree = read(folder.path(), Path::new(""), limits, &testing::call("repo_map")).unwrap();
    assert_eq!((tree.binary, tree.large, tree.deep, tree.files.len()), (1, 1, 1, 1));
}

#[test]
fn links_are_not_followed() {
    let folder = workspace(&[("a/x.rs", "")]);
    #[cfg(unix)]
    std::os::unix::fs::symlink("..", folder.path().join("a/up")).unwrap();
    assert_eq!(paths(&folder, "", Limits::default()), ["a/x.rs"]);
}

#[test]
fn the_walk_stops_at_its_limit_and_reports_on_its_way() {
    let names: Vec<String> = (0..450).map(|number| format!("{number:03}")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    let folder = workspace(&files);
    let limits = Limits { files: 420, ..Limits::default() };
    let call = testing::call("repo_map");
    let (tree, told) =
        testing::Host::new().run(|| read(folder.path(), Path::new(""), limits, &call).unwrap());
    assert_eq!((tree.files.len(), tree.cut), (420, true));
    assert_eq!(told.progress, ["200 files read, now at 199", "400 files read, now at 399"]);
}

#[test]
fn an_abort_ends_the_walk() {
    let folder = workspace(&[("a", "")]);
    let call = testing::call("repo_map");
    let (answer, _) =
        testing::Host::new().cancelled().run(|| read(folder.path(), Path::new(""), Limits::default(), &call));
    assert_eq!(answer.unwrap_err().message(), "the map was cancelled");
}
