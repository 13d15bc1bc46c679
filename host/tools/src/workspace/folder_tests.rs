use super::*;

// F18
#[test]
fn a_directory_with_more_names_than_are_looked_at_is_said_not_to_be_whole() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b", "c"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    let open = LocalFolder(Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap());
    let names = |max| open.names_up_to(max, &|| false).unwrap();
    assert_eq!((names(3).entries.len(), names(3).is_whole), (3, true));
    assert_eq!((names(2).entries.len(), names(2).is_whole), (2, false));
    assert!(open.names_up_to(3, &|| true).unwrap().entries.is_empty());
}
