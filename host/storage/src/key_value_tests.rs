use super::*;
use std::os::unix::fs::PermissionsExt;

fn id(name: &str) -> ExtensionId {
    name.parse().unwrap()
}

fn files() -> (tempfile::TempDir, KeyValueFiles) {
    let root = tempfile::tempdir().unwrap();
    let files = KeyValueFiles::new(root.path().join("storage"));
    (root, files)
}

#[tokio::test]
async fn what_was_set_is_there_in_another_process_and_after_a_restart() {
    let (root, files) = files();
    files.set(&id("a"), "k", b"one", 100).await.unwrap();
    files.set(&id("a"), "k", b"two", 100).await.unwrap();
    let other = KeyValueFiles::new(root.path().join("storage"));
    assert_eq!(other.get(&id("a"), "k").await.unwrap().as_deref(), Some(&b"two"[..]));
    other.remove(&id("a"), "k").await.unwrap();
    assert_eq!(files.get(&id("a"), "k").await.unwrap(), None);
    files.remove(&id("a"), "never").await.unwrap();
}

#[tokio::test]
async fn extensions_do_not_see_each_others_keys() {
    let (_root, files) = files();
    files.set(&id("a"), "k", b"a's", 100).await.unwrap();
    assert_eq!(files.get(&id("b"), "k").await.unwrap(), None);
    assert_eq!(files.list_keys(&id("b"), "").await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn keys_are_listed_by_prefix_in_the_order_of_their_bytes() {
    let (_root, files) = files();
    for key in ["b", "a%", "a_", "a", "ä", "ab", "aä"] {
        files.set(&id("a"), key, b"", 1000).await.unwrap();
    }
    assert_eq!(files.list_keys(&id("a"), "a").await.unwrap(), ["a", "a%", "a_", "ab", "aä"]);
    assert_eq!(files.list_keys(&id("a"), "").await.unwrap().len(), 7);
    assert_eq!(files.list_keys(&id("a"), "zz").await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn keys_and_values_together_never_exceed_the_quota() {
    let (_root, files) = files();
    files.set(&id("a"), "k1", &[7; 48], 100).await.unwrap();
    // Replacing counts the new value in place of the old one.
    files.set(&id("a"), "k1", &[8; 90], 100).await.unwrap();
    let full = files.set(&id("a"), "k2", &[0; 7], 100).await.unwrap_err();
    assert!(matches!(full, StorageError::Full { wanted: 101, quota: 100, .. }), "{full}");
    assert_eq!(files.get(&id("a"), "k2").await.unwrap(), None);
    files.set(&id("a"), "k2", &[0; 6], 100).await.unwrap();
}

#[tokio::test]
async fn many_writers_at_once_lose_nothing_and_stay_within_the_quota() {
    let (root, _files) = files();
    let writers = (0..8).map(|writer| {
        // Each with a connection of its own, as separate processes have.
        let files = KeyValueFiles::new(root.path().join("storage"));
        tokio::spawn(async move {
            let mut kept = 0;
            for n in 0..20 {
                let set = files.set(&id("a"), &format!("{writer:02}-{n:02}"), &[0; 5], 1000).await;
                kept += usize::from(set.is_ok());
            }
            kept
        })
    });
    let mut kept = 0;
    for writer in writers.collect::<Vec<_>>() {
        kept += writer.await.unwrap();
    }
    let files = KeyValueFiles::new(root.path().join("storage"));
    assert_eq!(files.list_keys(&id("a"), "").await.unwrap().len(), kept);
    assert_eq!(kept, 100, "a key and its value take ten bytes of a thousand");
}

// S10
#[tokio::test]
async fn folder_and_file_are_the_users_alone() {
    let (root, files) = files();
    files.set(&id("a"), "k", b"v", 100).await.unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = root.path().join("storage/a");
    assert_eq!(mode(&folder), 0o700);
    for file in std::fs::read_dir(&folder).unwrap() {
        let path = file.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[tokio::test]
async fn reading_makes_no_file() {
    let (root, files) = files();
    assert_eq!(files.get(&id("a"), "k").await.unwrap(), None);
    assert!(!root.path().join("storage").exists());
}

#[tokio::test]
async fn a_damaged_file_is_an_error_that_names_it_and_is_left_alone() {
    let (root, files) = files();
    let path = root.path().join("storage/a").join(FILE);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, [b'x'; 4096]).unwrap();
    let error = files.get(&id("a"), "k").await.unwrap_err().to_string();
    assert!(error.contains("values.sqlite") && error.contains("move that file away"), "{error}");
    assert!(files.set(&id("a"), "k", b"v", 100).await.is_err());
    assert_eq!(std::fs::read(&path).unwrap(), [b'x'; 4096]);
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_not_touched() {
    let (root, files) = files();
    files.set(&id("a"), "k", b"v", 100).await.unwrap();
    let path = root.path().join("storage/a").join(FILE);
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 9).unwrap();
    let other = KeyValueFiles::new(root.path().join("storage"));
    let error = other.get(&id("a"), "k").await.unwrap_err().to_string();
    assert!(error.contains("layout 9"), "{error}");
}
