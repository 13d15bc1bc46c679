use super::*;
use crate::testing::{Recording, Scripted, good, run};
use capstan_ports::permission::CallAccess;
use serde_json::json;
use std::path::Path;

fn tools() -> Vec<Arc<dyn Tool>> {
    let commands = Scripted::new("", CommandEnd::Exited(0));
    builtin_tools(Arc::new(InMemoryWorkspace::new("/workspace")), Arc::new(commands))
}

#[test]
fn the_four_tools_take_little_of_the_first_request() {
    let sent: Vec<_> = tools()
        .iter()
        .map(|tool| {
            let definition = tool.definition();
            json!({
                "name": definition.name,
                "description": definition.description,
                "input_schema": definition.parameters,
            })
        })
        .collect();
    let n_bytes = serde_json::to_string(&sent).unwrap().len();
    println!("tool definitions: {n_bytes} bytes");
    assert!(n_bytes <= 2400, "{n_bytes} bytes");
}

#[test]
fn each_tool_says_what_a_call_would_touch() {
    let accesses: Vec<_> = tools()
        .iter()
        .map(|tool| tool.access(&json!({"path": "@a/../b.txt", "command": "ls | wc"})))
        .collect();
    assert_eq!(
        accesses,
        [
            CallAccess::Read("/workspace/b.txt".into()),
            CallAccess::Execute("ls | wc".into()),
            CallAccess::Write("/workspace/b.txt".into()),
            CallAccess::Write("/workspace/b.txt".into()),
        ]
    );
}

#[tokio::test]
async fn a_missing_argument_is_named() {
    for tool in tools() {
        let error = run(&*tool, json!({})).await.unwrap_err().to_string();
        let name = &tool.definition().name;
        let expected = if name == "bash" { "`command`" } else { "`path`" };
        assert!(error.contains(expected) && error.contains(name.as_str()), "{error}");
    }
}

// 001-089 001-091 001-173
#[tokio::test]
async fn what_is_written_is_read_back_and_nothing_but_the_workspace_is_touched() {
    let workspace = Arc::new(Recording::new());
    let commands = Arc::new(Scripted::new("", CommandEnd::Exited(0)));
    let tools = builtin_tools(workspace.clone(), commands.clone());
    let [read, _, edit, write] = tools.as_slice() else { panic!("four tools") };
    good(&**write, json!({"path": "a/b.txt", "content": "hello\n"})).await;
    good(&**edit, json!({"path": "a/b.txt", "edits": [{"oldText": "hello", "newText": "bye"}]})).await;
    assert_eq!(good(&**read, json!({"path": "a/b.txt"})).await, "bye\n");
    assert_eq!(
        *workspace.asked.lock().unwrap(),
        [
            "real_path a/b.txt",
            "write a/b.txt",
            "real_path a/b.txt",
            "read a/b.txt",
            "write a/b.txt",
            "read a/b.txt",
        ]
    );
    assert!(commands.asked.lock().unwrap().is_empty());
    assert!(!Path::new("/workspace/a/b.txt").exists());
}
