use super::*;
use crate::testing::{Recording, Scripted, good, run};
use capstan_ports::permission::CallAccess;
use capstan_ports::tool::Tool;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

fn tools() -> Vec<Arc<dyn Tool>> {
    let commands = Scripted::new("", CommandEnd::Exited(0));
    builtin_tools(Arc::new(InMemoryWorkspace::new("/workspace")), Arc::new(commands))
}

fn all() -> Vec<Arc<dyn Tool>> {
    let commands = Scripted::new("", CommandEnd::Exited(0));
    all_tools(Arc::new(InMemoryWorkspace::new("/workspace")), Arc::new(commands))
}

fn n_bytes(tools: &[Arc<dyn Tool>]) -> usize {
    let sent: Vec<_> = tools
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
    serde_json::to_string(&sent).unwrap().len()
}

#[test]
fn the_definitions_take_little_of_the_first_request() {
    let (four, all) = (n_bytes(&tools()), n_bytes(&all()));
    println!("definitions of the four: {four} bytes, of all: {all} bytes");
    assert!(four <= 2400, "{four} bytes");
    assert!(all <= 4096, "{all} bytes");
}

// 001-099
#[test]
fn tools_are_chosen_by_name_and_an_unknown_name_is_an_error_that_lists_them() {
    let select = |names: &[&str]| {
        let commands = Scripted::new("", CommandEnd::Exited(0));
        selected_tools(
            names.iter().copied(),
            Arc::new(InMemoryWorkspace::new("/workspace")),
            Arc::new(commands),
        )
        .map(|tools| tools.iter().map(|tool| tool.definition().name.clone()).collect::<Vec<_>>())
    };
    assert_eq!(select(&["ls", "read", "grep", "ls"]).unwrap(), ["read", "grep", "ls"]);
    assert!(select(&[]).unwrap().is_empty());
    let error = select(&["read", "cat"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no built-in tool `cat`; there are read, bash, edit, write, grep, find, ls"
    );
    let names: Vec<_> = all().iter().map(|tool| tool.definition().name.clone()).collect();
    assert_eq!(names, error.known);
}

// 001-099
#[test]
fn the_optional_tools_only_read_whatever_they_are_called_with() {
    for tool in optional_tools(Arc::new(InMemoryWorkspace::new("/workspace"))) {
        for (arguments, path) in [
            (json!({"path": "../x"}), "/x"),
            (json!({"path": ""}), "/workspace"),
            (json!({}), "/workspace"),
            (json!({"path": 7}), "/workspace"),
        ] {
            assert_eq!(tool.access(&arguments), CallAccess::Read(path.into()));
        }
    }
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
            "real_path a/b.txt",
            "read a/b.txt",
        ]
    );
    assert!(commands.asked.lock().unwrap().is_empty());
    assert!(!Path::new("/workspace/a/b.txt").exists());
}
