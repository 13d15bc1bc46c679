use super::*;
use std::path::PathBuf;

#[test]
fn each_mode_rules_as_documented() {
    use PermissionMode::{All, Ask, ReadOnly, Workspace};
    let read = CallAccess::Read(PathBuf::from("/w/a"));
    let write = CallAccess::Write(PathBuf::from("/w/a"));
    let execute = CallAccess::Execute("ls".to_owned());
    let outside = CallAccess::Outside("server__tool {}".to_owned());
    let sandboxed = CallAccess::Sandboxed("map".to_owned());
    let is = |mode, access: &CallAccess| match rule(mode, "tool", access) {
        Ruling::Allow => "allow",
        Ruling::Ask => "ask",
        Ruling::Deny(_) => "deny",
    };
    for mode in PermissionMode::ALL {
        assert_eq!(is(mode, &read), "allow", "{mode}");
        assert_eq!(is(mode, &sandboxed), "allow", "{mode}");
    }
    let table = [
        (ReadOnly, "deny", "deny"),
        (Ask, "ask", "ask"),
        (Workspace, "allow", "ask"),
        (All, "allow", "allow"),
    ];
    for (mode, writing, executing) in table {
        assert_eq!((is(mode, &write), is(mode, &execute)), (writing, executing), "{mode}");
        assert_eq!(is(mode, &outside), executing, "{mode}: like a command");
    }
}

#[test]
fn a_denial_names_the_flag_that_would_allow_it() {
    let Ruling::Deny(text) = rule(PermissionMode::ReadOnly, "bash", &CallAccess::Execute("ls".to_owned()))
    else {
        panic!("read-only denies commands")
    };
    assert!(text.contains("bash") && text.contains("--permissions all"), "{text}");
}

#[test]
fn modes_are_read_as_they_are_written() {
    for mode in PermissionMode::ALL {
        assert_eq!(mode.to_string().parse(), Ok(mode));
    }
    assert!("yolo".parse::<PermissionMode>().is_err());
}
