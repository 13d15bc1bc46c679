use super::*;
use crate::scripted_tests::{TestTool, registry};

fn names(registry: &ToolRegistry) -> Vec<String> {
    registry.list().iter().map(|definition| definition.name.clone()).collect()
}

fn tool(name: &str, label: &str) -> Arc<dyn Tool> {
    let mut tool = TestTool::echo();
    tool.definition.name = name.into();
    tool.definition.label = label.into();
    Arc::new(tool)
}

// 003-116
#[test]
fn tools_are_listed_in_order_of_registration_and_can_leave() {
    let registry = registry([TestTool::echo()]);
    registry.register(tool("b", "B")).unwrap();
    registry.register(tool("a", "A")).unwrap();
    assert_eq!(names(&registry), ["echo", "b", "a"]);
    assert_eq!(registry.unregister("b").unwrap().definition().name, "b");
    assert!(registry.unregister("b").is_none());
    assert_eq!(names(&registry), ["echo", "a"]);
    assert!(registry.snapshot().get("a").is_some());
}

// X9
#[test]
fn a_taken_name_is_refused_unless_it_is_meant_to_be_replaced() {
    let registry = registry([TestTool::echo()]);
    let error = registry.register(tool("echo", "second")).unwrap_err();
    assert!(error.to_string().contains("`echo`"), "{error}");
    assert_eq!(registry.list()[0].label, "ECHO");
    registry.replace(tool("echo", "second"));
    registry.replace(tool("new", "third"));
    assert_eq!(names(&registry), ["echo", "new"]);
    assert_eq!(registry.list()[0].label, "second");
}

// 000-010, 000-011
#[test]
fn names_are_case_sensitive_and_labels_are_listed() {
    let registry = registry([TestTool::echo()]);
    assert!(registry.snapshot().get("Echo").is_none());
    assert_eq!(registry.list()[0].label, "ECHO");
}

#[test]
fn a_snapshot_keeps_the_tools_of_its_moment() {
    let registry = registry([TestTool::echo()]);
    let before = registry.snapshot();
    registry.unregister("echo");
    assert!(before.get("echo").is_some() && registry.snapshot().get("echo").is_none());
}

// 001-125, H1
#[test]
fn all_tools_are_replaced_at_once_or_not_at_all() {
    let registry = registry([TestTool::echo()]);
    let kept = tool("kept", "same object");
    registry.register(kept.clone()).unwrap();
    let before = registry.snapshot();
    registry.replace_all([tool("new", "A"), kept.clone(), tool("echo", "second")]).unwrap();
    assert_eq!(names(&registry), ["new", "kept", "echo"]);
    assert_eq!(registry.list()[2].label, "second");
    assert_eq!(
        before.get("echo").unwrap().tool.definition().label,
        "ECHO",
        "a round that has begun keeps its set"
    );
    let same = Arc::ptr_eq(before.get("kept").unwrap(), registry.snapshot().get("kept").unwrap());
    assert!(same, "the schema of a tool that stays is not compiled again");
    let error = registry.replace_all([tool("x", "X"), tool("x", "Y")]).unwrap_err();
    assert!(error.to_string().contains("`x`"), "{error}");
    assert_eq!(names(&registry), ["new", "kept", "echo"]);
}
