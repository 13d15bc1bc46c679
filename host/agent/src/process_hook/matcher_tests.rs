use super::*;

fn takes(matcher: &str, tool: &str) -> bool {
    Matcher::new(Some(matcher)).unwrap().takes_tool(tool)
}

#[test]
fn no_matcher_an_empty_one_and_a_star_take_everything() {
    assert!(Matcher::new(None).unwrap().takes_tool("bash"));
    assert!(takes("", "bash") && takes(" * ", "anything"));
}

#[test]
fn names_are_exact_and_built_in_tools_have_two() {
    assert!(takes("bash", "bash") && takes("Bash", "bash"));
    assert!(takes("Write|edit", "write") && takes("Write | edit", "edit") && takes("Glob", "find"));
    assert!(!takes("BASH", "bash") && !takes("bas", "bash") && !takes("Edit", "write"));
    assert!(takes("repo-map", "repo-map") && !takes("repo-map", "repo"));
}

#[test]
fn anything_else_is_a_regular_expression() {
    assert!(takes("^(Ba|Wr).*", "bash") && takes("repo_.*", "repo_map") && takes("(?i)BASH", "bash"));
    assert!(!takes("^Ed", "bash"));
    assert!(Matcher::new(Some("(bash")).is_err());
}
