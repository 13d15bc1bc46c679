use super::*;
use crate::testing::{good, run, text};
use crate::workspace::{InMemoryWorkspace, LocalWorkspace};
use proptest::prelude::*;

fn memory(paths: &[&str]) -> FindTool {
    let workspace = InMemoryWorkspace::new("/workspace");
    for path in paths {
        workspace.insert(path, "x");
    }
    FindTool::new(Arc::new(workspace))
}

// 001-099
#[tokio::test]
async fn a_pattern_takes_names_at_any_depth_and_one_with_a_slash_paths() {
    let tool = memory(&["a.rs", "src/b.rs", "src/deep/c.rs", "src/deep/C.txt", ".hidden/d.rs"]);
    let cases = [
        (json!({"pattern": "*.rs"}), ".hidden/d.rs\na.rs\nsrc/b.rs\nsrc/deep/c.rs"),
        (json!({"pattern": "src/*.rs"}), "src/b.rs"),
        (json!({"pattern": "./src/**/*.rs"}), "src/b.rs\nsrc/deep/c.rs"),
        (json!({"pattern": "deep/*"}), "src/deep/C.txt\nsrc/deep/c.rs"),
        (json!({"pattern": "c.*"}), "src/deep/C.txt\nsrc/deep/c.rs"),
        (json!({"pattern": "C.*"}), "src/deep/C.txt"),
        (json!({"pattern": "{a,b}.rs", "path": "src"}), "b.rs"),
        (json!({"pattern": "deep"}), "src/deep/"),
        (json!({"pattern": "*.rs", "path": "src/deep"}), "c.rs"),
        (json!({"pattern": "*", "path": "a.rs"}), "a.rs"),
        (json!({"pattern": "*.py"}), "No files found matching pattern"),
    ];
    for (arguments, expected) in cases {
        assert_eq!(good(&tool, arguments.clone()).await, expected, "{arguments}");
    }
    let error = run(&tool, json!({"pattern": "a[", "path": "."})).await.unwrap_err();
    assert!(matches!(&error, ToolError::InvalidArguments(text) if text.contains("a[ is no glob")), "{error}");
    let error = run(&tool, json!({"pattern": "*", "path": "nothing"})).await.unwrap_err().to_string();
    assert!(error.contains("nothing does not exist"), "{error}");
}

// 001-099
#[tokio::test]
async fn results_beyond_the_limit_are_announced_and_not_those_at_it() {
    let names: Vec<_> = (0..1001).map(|n| format!("{n:04}")).collect();
    let tool = memory(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let outcome = run(&tool, json!({"pattern": "*"})).await.unwrap();
    let shown = text(&outcome);
    assert!(shown.contains("\n0999\n\n[The limit of 1000 results is reached. Use limit=2000"), "{shown}");
    assert_eq!(outcome.details.unwrap()["resultLimitReached"], 1000);
    assert!(good(&tool, json!({"pattern": "*", "limit": 1001})).await.ends_with("\n1000"));
}

// 001-099
#[tokio::test]
async fn paths_of_more_than_50_kilobytes_are_cut_on_a_whole_line() {
    let names: Vec<_> = (0..900).map(|n| format!("{n:0>200}")).collect();
    let tool = memory(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let outcome = run(&tool, json!({"pattern": "*"})).await.unwrap();
    let shown = text(&outcome);
    assert!(shown.ends_with("\n\n[The limit of 50KB is reached]"), "{shown}");
    assert!(shown.len() < 51 * 1024);
    assert_eq!(outcome.details.unwrap()["truncation"]["truncatedBy"], "bytes");
}

// 001-099
#[tokio::test]
async fn the_same_on_the_real_disk_and_nothing_outside_of_it() {
    let base = tempfile::tempdir().unwrap();
    let work = base.path().join("work");
    std::fs::create_dir_all(work.join("sub")).unwrap();
    std::fs::create_dir(base.path().join("other")).unwrap();
    std::fs::write(base.path().join("other/secret.txt"), "x").unwrap();
    std::fs::write(work.join("sub/a.txt"), "x").unwrap();
    std::os::unix::fs::symlink("../other", work.join("link")).unwrap();
    std::os::unix::fs::symlink("../other/secret.txt", work.join("linked.txt")).unwrap();
    let tool = FindTool::new(Arc::new(LocalWorkspace::open(&work).unwrap()));
    // The link itself is in the workspace; what it leads to is not.
    assert_eq!(good(&tool, json!({"pattern": "*.txt"})).await, "linked.txt\nsub/a.txt");
    assert_eq!(good(&tool, json!({"pattern": "*.txt", "path": "@sub"})).await, "a.txt");
    for path in ["..", "link", "/etc"] {
        let error = run(&tool, json!({"pattern": "*", "path": path})).await.unwrap_err();
        assert!(matches!(error, ToolError::Denied(_)), "{path}: {error}");
    }
}

proptest! {
    #[test]
    fn no_pattern_makes_trouble(pattern in ".{0,40}", path in "[a-z/.]{1,20}") {
        if let Ok(names) = Names::new(&pattern) {
            names.take(Path::new(&path));
        }
    }

    #[test]
    fn a_name_without_special_characters_finds_itself_at_any_depth(
        folders in prop::collection::vec("[a-z0-9_.-]{1,8}", 0..4),
        name in "[A-Za-z0-9_.-]{1,12}",
    ) {
        prop_assume!(name != "." && name != ".." && !name.starts_with("./"));
        let names = Names::new(&name).unwrap();
        let path = folders.iter().collect::<std::path::PathBuf>().join(&name);
        prop_assert!(names.take(&path));
    }
}
