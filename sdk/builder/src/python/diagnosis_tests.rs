use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::diagnose_in;
use crate::finding::Status;
use crate::python::interpreter::Surroundings;

#[test]
fn a_machine_without_python_is_told_what_brings_it() {
    let cache = tempfile::tempdir().unwrap();
    let bare = Surroundings { chosen: None, path: Vec::new(), may_install: true, has_apt: true };
    let findings = diagnose_in(&bare, cache.path());
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].status, Status::Missing);
    assert!(findings[0].remedy.as_deref().unwrap().contains("python3-venv"), "{findings:?}");
}

#[test]
fn a_python_without_the_tool_says_who_installs_it() {
    let cache = tempfile::tempdir().unwrap();
    let program = cache.path().join("python3");
    fs::write(&program, "#!/bin/sh\necho '3 12 1 True'\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let online = Surroundings { chosen: Some(program), path: Vec::new(), may_install: true, has_apt: true };
    let status = |surroundings: &Surroundings| {
        diagnose_in(surroundings, cache.path()).into_iter().map(|finding| finding.status).collect::<Vec<_>>()
    };
    assert_eq!(status(&online), [Status::Ready, Status::CanBeMade]);
    assert_eq!(status(&Surroundings { may_install: false, ..online }), [Status::Ready, Status::Missing]);
}
