use super::*;
use tempfile::TempDir;

fn home(folder: &TempDir) -> Home {
    let path = folder.path().to_owned();
    Home {
        config: path.clone(),
        data: path.clone(),
        cache: path.clone(),
        workspace: path,
        user: None,
        session_folder: None,
    }
}

fn entry(id: &str) -> Entry {
    Entry {
        id: id.parse().unwrap(),
        version: "1.0.0".to_owned(),
        digest: Digest([7; 32]),
        source: PathBuf::from("/from/here.wasm"),
        installed: "2026-01-02T03:04:05Z".to_owned(),
    }
}

#[test]
fn what_is_written_is_read_in_the_order_of_ids() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(&folder);
    assert_eq!(Lock::read(&home).unwrap(), Lock::default(), "no file is an empty lock");
    let mut lock = Lock { version: 1, extensions: vec![entry("b"), entry("a")] };
    lock.write(&home).unwrap();
    let read = Lock::read(&home).unwrap();
    assert_eq!(read.extensions, [entry("a"), entry("b")]);
    assert_eq!(read.of(&"b".parse().unwrap()), Some(&entry("b")));
    assert!(lock.forget(&"a".parse().unwrap()) && !lock.forget(&"a".parse().unwrap()));
}

#[test]
fn a_lock_that_is_not_understood_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(&folder);
    for text in ["version = 2\n", "version = 1\nmore = 1\n", "[[extension]]\nid = \"a\"\n", "nonsense"] {
        std::fs::write(home.lock_file(), text).unwrap();
        let error = format!("{:#}", Lock::read(&home).unwrap_err());
        assert!(error.contains("extensions.lock"), "{error}");
    }
}
