use super::*;
use crate::testing::{good, run, run_in, text};
use crate::workspace::{InMemoryWorkspace, LocalWorkspace};

// 001-081
#[tokio::test]
async fn a_file_is_created_and_overwritten_and_the_result_names_path_and_size() {
    let workspace = Arc::new(InMemoryWorkspace::new("/workspace"));
    let tool = WriteTool::new(workspace.clone());
    let outcome = run(&tool, json!({"path": "a/b", "content": "h\u{e9}\r\n"})).await.unwrap();
    assert_eq!(text(&outcome), "Successfully wrote 5 bytes to a/b");
    assert_eq!(outcome.details.unwrap()["created"], true);
    assert_eq!(workspace.get("a/b").unwrap(), "h\u{e9}\r\n".as_bytes());
    let outcome = run(&tool, json!({"path": "/workspace/a/b", "content": ""})).await.unwrap();
    assert_eq!(outcome.details.unwrap()["created"], false);
    assert_eq!(workspace.get("a/b").unwrap(), b"");
}

// 001-092
#[tokio::test]
async fn folders_are_created_on_the_real_disk() {
    let folder = tempfile::tempdir().unwrap();
    let tool = WriteTool::new(Arc::new(LocalWorkspace::open(folder.path()).unwrap()));
    good(&tool, json!({"path": "deep/er/a.txt", "content": "x"})).await;
    assert_eq!(std::fs::read(folder.path().join("deep/er/a.txt")).unwrap(), b"x");
}

#[tokio::test]
async fn an_aborted_run_writes_nothing() {
    let workspace = Arc::new(InMemoryWorkspace::new("/workspace"));
    let tool = WriteTool::new(workspace.clone());
    let context = crate::testing::context();
    context.cancel.cancel();
    let error = run_in(&tool, json!({"path": "a", "content": "x"}), &context).await.unwrap_err();
    assert!(matches!(error, ToolError::Aborted));
    assert_eq!(workspace.get("a"), None);
}
