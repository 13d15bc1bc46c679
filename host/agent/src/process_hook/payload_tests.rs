use super::*;
use crate::scripted_tests::call;
use serde_json::json;

fn sent(call: &ToolCall) -> Value {
    let payload = Payload::new(&SessionId::new("s1")).with_call(call, Path::new("/project"));
    serde_json::from_slice(&payload.into_bytes(HookEvent::PreToolUse, Path::new("/project"))).unwrap()
}

#[test]
fn a_call_has_the_fields_that_scripts_for_claude_code_read() {
    assert_eq!(
        sent(&call("c1", "bash", json!({"command": "ls"}))),
        json!({
            "session_id": "s1", "cwd": "/project", "hook_event_name": "PreToolUse",
            "tool_name": "bash", "tool_input": {"command": "ls"}, "tool_use_id": "c1",
        })
    );
}

#[test]
fn the_path_of_a_file_tool_stands_there_under_both_names() {
    let input = |name: &str, arguments| sent(&call("c", name, arguments))["tool_input"].clone();
    assert_eq!(input("write", json!({"path": "a/b"})), json!({"path": "a/b", "file_path": "/project/a/b"}));
    assert_eq!(input("edit", json!({"path": "./a"})), json!({"path": "./a", "file_path": "/project/a"}));
    assert_eq!(input("read", json!({"path": "/etc/x"})), json!({"path": "/etc/x", "file_path": "/etc/x"}));
    assert_eq!(input("other", json!({"path": "a"})), json!({"path": "a"}));
    assert_eq!(input("read", json!({"path": 1})), json!({"path": 1}));
}

#[test]
fn an_updated_input_comes_back_in_our_terms() {
    let write = call("c", "write", json!({"path": "a", "content": "x"}));
    let back = |input| own_arguments(&write, input, Path::new("/project"));
    assert_eq!(
        back(json!({"path": "a", "file_path": "/project/a", "content": "y"})),
        json!({"path": "a", "content": "y"})
    );
    assert_eq!(
        back(json!({"file_path": "/project/b", "content": "x"})),
        json!({"path": "/project/b", "content": "x"})
    );
    assert_eq!(back(json!({"path": "c"})), json!({"path": "c"}));
    assert_eq!(back(json!("odd")), json!("odd"));
    let bash = call("c", "bash", json!({"command": "ls"}));
    let odd = json!({"command": "ls", "file_path": "kept"});
    assert_eq!(own_arguments(&bash, odd.clone(), Path::new("/project")), odd);
}
