use super::*;
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn a_directory_is_opened_by_its_canonical_path() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::write(root.join("a/b/file"), "").unwrap();
    for path in [root.join("a/b"), root.clone(), "/".into()] {
        assert!(open(&path).unwrap().metadata().unwrap().is_dir(), "{}", path.display());
    }
    for path in [root.join("a/b/file"), root.join("missing"), root.join("a/b/file/below")] {
        assert!(open(&path).is_err(), "{}", path.display());
    }
}

// reliability F8, F20
#[test]
fn no_step_of_the_path_may_be_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("real/below")).unwrap();
    symlink("real", root.join("link")).unwrap();
    symlink("below", root.join("real/link")).unwrap();
    assert!(open(&root.join("real/below")).is_ok());
    for path in ["link", "link/below", "real/link"] {
        assert!(open(&root.join(path)).is_err(), "{path}");
    }
}

#[test]
fn a_directory_that_may_be_passed_but_not_read_is_passed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("gate/room")).unwrap();
    fs::set_permissions(root.join("gate"), fs::Permissions::from_mode(0o311)).unwrap();
    let opened = open(&root.join("gate/room"));
    fs::set_permissions(root.join("gate"), fs::Permissions::from_mode(0o700)).unwrap();
    if cfg!(target_os = "linux") {
        assert!(opened.is_ok(), "{opened:?}");
    }
}
