use super::*;
use proptest::prelude::*;

fn places() -> Places {
    Places {
        workspace: PathBuf::from("/home/user/project"),
        home: Some(PathBuf::from("/home/user")),
        protected: vec![PathBuf::from("/home/user/.config/capstan")],
    }
}

#[test]
fn accepted_forms_resolve_to_host_and_guest_paths() {
    for (asked, host, guest) in [
        (".", "/home/user/project", "/workspace"),
        ("./docs", "/home/user/project/docs", "/workspace/docs"),
        ("././docs/./api", "/home/user/project/docs/api", "/workspace/docs/api"),
        ("~/notes", "/home/user/notes", "/home/user/notes"),
        ("/srv/data/", "/srv/data", "/srv/data"),
    ] {
        let resolved = resolve(asked, Access::ReadOnly, &places()).unwrap();
        assert_eq!((resolved.host.to_str(), resolved.guest.as_str()), (Some(host), guest), "{asked}");
    }
}

#[test]
fn other_forms_are_refused() {
    for asked in ["", "docs", "../other", "./../other", "/a/../b", "~root/x", "~/../x", "a\0b", "$HOME/x"] {
        assert!(resolve(asked, Access::ReadOnly, &places()).is_err(), "{asked:?}");
    }
}

#[test]
fn the_hosts_own_files_cannot_be_reached_from_above_or_below() {
    let check = |path: &str| check_reach(path, Path::new(path), &places());
    assert!(check("/home/user/project").is_ok());
    for path in [
        "/",
        "/home/user",
        "/home/user/.config",
        "/home/user/.config/capstan",
        "/home/user/.config/capstan/x",
    ] {
        assert!(matches!(check(path), Err(PolicyError::Protected { .. })), "{path}");
    }
}

proptest! {
    // F1, F2: whatever a stranger writes, what comes out of a relative form lies in the workspace, and nothing panics.
    #[test]
    fn a_workspace_request_never_leaves_the_workspace(below in "[ -~]{0,40}") {
        if let Ok(resolved) = resolve(&format!("./{below}"), Access::ReadWrite, &places()) {
            prop_assert!(resolved.host.starts_with("/home/user/project"), "{resolved:?}");
            prop_assert!(resolved.guest == "/workspace" || resolved.guest.starts_with("/workspace/"), "{resolved:?}");
            prop_assert!(!resolved.host.components().any(|part| part == Component::ParentDir));
        }
    }

    #[test]
    fn any_text_is_resolved_or_refused(path in "\\PC{0,60}") {
        let resolved = resolve(&path, Access::ReadOnly, &places());
        prop_assert!(resolved.is_err() || path.starts_with(['.', '/', '~']));
    }
}
