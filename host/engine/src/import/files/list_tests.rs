use super::*;
use std::fs;
use std::path::Path;
use wasmtime_wasi::{FsPerms, OpenMode};

fn at(folder: &Path) -> Dir {
    Dir::new(fs::File::open(folder).unwrap(), FsPerms::ReadOnly, OpenMode::READ, false)
}

fn folder_of(files: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in 0..files {
        fs::write(folder.path().join(file.to_string()), "").unwrap();
    }
    folder
}

// F18
#[tokio::test]
async fn a_long_directory_is_given_whole_and_never_held_whole() {
    let folder = folder_of(3 * PAGE + 1);
    let mut listing = Listing::begin(&at(folder.path())).unwrap();
    let mut names = std::collections::BTreeSet::new();
    while let Some(entry) = listing.next().await.unwrap() {
        assert!(matches!(entry.type_, DescriptorType::RegularFile));
        assert!(listing.page.len() < PAGE);
        assert!(names.insert(entry.name));
    }
    assert_eq!(names.len(), 3 * PAGE + 1);
    assert!(listing.next().await.unwrap().is_none(), "the end stays the end");
}

// F18
#[tokio::test]
async fn a_directory_with_too_many_entries_ends_as_an_error() {
    let folder = folder_of(5);
    let mut exact = Listing::of_at_most(&at(folder.path()), 5).unwrap();
    for _ in 0..5 {
        assert!(exact.next().await.unwrap().is_some());
    }
    assert!(exact.next().await.unwrap().is_none());

    let mut short = Listing::of_at_most(&at(folder.path()), 4).unwrap();
    for _ in 0..4 {
        assert!(short.next().await.unwrap().is_some());
    }
    assert!(matches!(short.next().await, Err(ErrorCode::Overflow)));
    assert!(short.next().await.unwrap().is_none());
}
