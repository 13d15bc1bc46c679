use super::*;
use std::fs::{self, File};

#[test]
fn a_stamp_tells_states_of_a_file_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    assert_eq!(Stamp::of(&path), None);
    fs::write(&path, "one").unwrap();
    let first = Stamp::of(&path).unwrap();
    assert_eq!(Stamp::of(&path), Some(first.clone()));
    assert!(!first.is_settled(), "it was touched a moment ago");
    // The same size and time, another file.
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    let other = folder.path().join("other");
    fs::write(&other, "two").unwrap();
    File::open(&other).unwrap().set_modified(time).unwrap();
    fs::rename(&other, &path).unwrap();
    assert_ne!(Stamp::of(&path), Some(first));
}

#[test]
fn a_link_counts_by_what_it_leads_to() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    fs::write(&file, "one").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    assert_eq!(Stamp::of(&link), Stamp::of(&file));
    fs::remove_file(&file).unwrap();
    assert_eq!(Stamp::of(&link), None);
}
