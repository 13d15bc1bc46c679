use super::*;
use crate::testing::{good, run, text};
use crate::workspace::{InMemoryWorkspace, LocalWorkspace};
use std::os::unix::fs::symlink;

fn memory(paths: &[&str]) -> LsTool {
    let workspace = InMemoryWorkspace::new("/workspace");
    for path in paths {
        workspace.insert(path, "x");
    }
    LsTool::new(Arc::new(workspace))
}

// 001-099
#[tokio::test]
async fn names_are_sorted_without_regard_to_case_and_directories_end_in_a_slash() {
    let tool = memory(&["b", "A", ".hidden", "c/d/e", "C2"]);
    assert_eq!(good(&tool, json!({})).await, ".hidden\nA\nb\nc/\nC2");
    assert_eq!(good(&tool, json!({"path": "c"})).await, "d/");
    let run_on = run(&tool, json!({"path": "b"})).await.unwrap_err().to_string();
    assert!(run_on.contains("b is not a directory"), "{run_on}");
    let missing = run(&tool, json!({"path": "nothing"})).await.unwrap_err().to_string();
    assert!(missing.contains("nothing does not exist"), "{missing}");
}

// 001-099
#[tokio::test]
async fn an_empty_directory_is_said_to_be_one() {
    assert_eq!(good(&memory(&[]), json!({"path": ""})).await, "(empty directory)");
}

// 001-099
#[tokio::test]
async fn more_entries_than_the_limit_are_counted() {
    let names: Vec<_> = (0..501).map(|n| format!("{n:03}")).collect();
    let tool = memory(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let outcome = run(&tool, json!({})).await.unwrap();
    let shown = text(&outcome);
    assert!(shown.ends_with("\n499\n\n[Showing 500 of 501 entries. Use limit=501 for all]"), "{shown}");
    assert_eq!(outcome.details.unwrap()["entryLimitReached"], 500);
    assert!(good(&tool, json!({"limit": 501.0})).await.ends_with("\n500"));
    assert!(good(&tool, json!({"limit": 2})).await.starts_with("000\n001\n\n[Showing 2 of 501"));
}

// 001-099
#[tokio::test]
async fn names_of_more_than_50_kilobytes_are_cut_on_a_whole_line() {
    let names: Vec<_> = (0..300).map(|n| format!("{n:0>200}")).collect();
    let tool = memory(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let outcome = run(&tool, json!({})).await.unwrap();
    let shown = text(&outcome);
    assert!(shown.ends_with("\n\n[The limit of 50KB is reached]"), "{shown}");
    assert_eq!(outcome.details.unwrap()["truncation"]["totalLines"], 300);
    assert!(shown.lines().take(200).all(|line| line.len() == 200));
}

// 001-099; F4, F18
#[tokio::test]
async fn on_the_disk_only_links_that_stay_inside_show_what_they_lead_to() {
    let base = tempfile::tempdir().unwrap();
    let work = base.path().join("work");
    std::fs::create_dir_all(work.join("folder/inner")).unwrap();
    std::fs::create_dir(base.path().join("outside")).unwrap();
    std::fs::write(base.path().join("outside/secret"), "x").unwrap();
    symlink("folder", work.join("near")).unwrap();
    symlink("../inner", work.join("folder/up")).unwrap();
    symlink(base.path().join("outside"), work.join("out")).unwrap();
    symlink("nowhere", work.join("broken")).unwrap();
    std::fs::write(work.join("line\nbreak"), "x").unwrap();
    let tool = LsTool::new(Arc::new(LocalWorkspace::open(&work).unwrap()));
    assert_eq!(good(&tool, json!({})).await, "broken\nfolder/\nline\\nbreak\nnear/\nout");
    assert_eq!(good(&tool, json!({"path": "near"})).await, "inner/\nup");
    for path in ["out", "..", "/etc", "near/../../outside"] {
        let error = run(&tool, json!({"path": path})).await.unwrap_err();
        assert!(matches!(&error, ToolError::Denied(text) if text.contains("--add-dir")), "{path}: {error}");
    }
}

#[tokio::test]
async fn an_aborted_run_lists_nothing() {
    let context = crate::testing::context();
    context.cancel.cancel();
    let error = crate::testing::run_in(&memory(&["a"]), json!({}), &context).await.unwrap_err();
    assert!(matches!(error, ToolError::Aborted));
}
