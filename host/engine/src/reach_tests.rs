use super::*;
use crate::directory::open;
use std::fs;

fn granted(folder: &Path) -> Arc<File> {
    Arc::new(open(folder).unwrap())
}

// F19
#[test]
fn what_is_protected_beneath_one_grant_may_be_granted_by_its_own_name() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    fs::create_dir_all(root.join(".git/hooks")).unwrap();
    let whole = Reach::new(vec![granted(&root)], Arc::default());
    assert!(whole.may_change(&root.join("src/main.rs")));
    assert!(!whole.may_change(&root.join(".git/hooks/pre-commit")));
    assert!(!whole.may_change(&root.join("sub/.GIT/config")));
    let both = Reach::new(vec![granted(&root), granted(&root.join(".git"))], Arc::default());
    assert!(both.may_change(&root.join(".git/hooks/pre-commit")));
    assert!(!both.may_change(&root.join(".idea/x")));
}

#[test]
fn what_lies_outside_every_grant_is_not_changed() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    fs::create_dir(root.join("rw")).unwrap();
    let reach = Reach::new(vec![granted(&root.join("rw"))], Arc::default());
    assert!(reach.may_change(&root.join("rw/a")));
    assert!(!reach.may_change(&root.join("rwx/a")));
    assert!(!reach.may_change(&root.join("a")));
    assert!(!Reach::default().may_change(&root.join("rw/a")));
}

#[test]
fn a_granted_directory_that_is_moved_stays_granted() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    fs::create_dir(root.join("rw")).unwrap();
    let reach = Reach::new(vec![granted(&root.join("rw"))], Arc::default());
    fs::rename(root.join("rw"), root.join("moved")).unwrap();
    assert!(reach.may_change(&root.join("moved/a")));
    assert!(!reach.may_change(&root.join("rw/a")));
}

// F21
#[test]
fn the_hosts_own_files_are_out_of_reach_wherever_they_are() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    let reach = Reach::new(vec![granted(&root)], vec![root.join("own")].into());
    assert!(reach.may_change(&root.join("owner")));
    assert!(!reach.may_change(&root.join("own/policy.toml")));
    assert!(reach.is_own(&root.join("own")));
}
