use super::*;
use std::time::Duration;
use tempfile::tempdir;

fn touch(path: &Path, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + seconds);
    File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

fn session(root: &Path, cwd: &str, seconds: u64) -> PathBuf {
    let path = SessionFile::create(root, Path::new(cwd)).unwrap().path().to_owned();
    touch(&path, seconds);
    path
}

#[test]
fn the_session_written_last_is_continued() {
    let root = tempdir().unwrap();
    let older = session(root.path(), "/w", 30);
    let newer = session(root.path(), "/w", 10);
    assert_eq!(latest_in(root.path(), Path::new("/w")).found, Some(older.clone()));
    touch(&newer, 40);
    assert_eq!(latest_in(root.path(), Path::new("/w")).found, Some(newer.clone()));
    touch(&older, 40);
    let last_by_name = older.max(newer);
    assert_eq!(
        latest_in(root.path(), Path::new("/w")),
        Search { found: Some(last_by_name), skipped: vec![] }
    );
}

#[test]
fn nothing_is_found_where_nothing_was_said() {
    let root = tempdir().unwrap();
    assert_eq!(latest_in(root.path(), Path::new("/w")), Search::default());
    assert_eq!(latest_in(&root.path().join("missing"), Path::new("/w")), Search::default());
}

#[test]
fn unreadable_files_are_skipped_with_a_reason() {
    let root = tempdir().unwrap();
    let good = session(root.path(), "/w", 10);
    let folder = good.parent().unwrap();
    let empty = folder.join("z-empty.jsonl");
    let garbage = folder.join("z-garbage.jsonl");
    fs::write(&empty, "").unwrap();
    fs::write(&garbage, "{\"type\":\"message\",\"id\":\"a\"}\n").unwrap();
    fs::write(folder.join("z.jsonl.torn-1"), "rest").unwrap();
    fs::create_dir(folder.join("z-folder.jsonl")).unwrap();
    touch(&empty, 30);
    touch(&garbage, 20);
    let search = latest_in(root.path(), Path::new("/w"));
    assert_eq!(search.found, Some(good));
    let skipped: Vec<_> = search.skipped.iter().map(|skipped| skipped.path.clone()).collect();
    assert_eq!(skipped, [empty, garbage]);
    assert!(search.skipped.iter().all(|skipped| !skipped.reason.is_empty()));
}

#[test]
fn a_session_of_another_directory_with_the_same_folder_is_not_continued() {
    let root = tempdir().unwrap();
    let mine = session(root.path(), "/a/b", 10);
    let other = session(root.path(), "/a-b", 20);
    assert_eq!(mine.parent(), other.parent());
    assert_eq!(latest_in(root.path(), Path::new("/a/b")).found, Some(mine));
}

#[test]
fn a_session_is_found_by_its_id_or_an_unambiguous_beginning() {
    let root = tempdir().unwrap();
    let folder = root.path().join("--w--");
    fs::create_dir(&folder).unwrap();
    for id in ["0198aaaa", "0198bbbb", "0198"] {
        fs::write(folder.join(format!("2026-01-01T00-00-00-000Z_{id}.jsonl")), "").unwrap();
    }
    let found = |id: &str| path_by_id(root.path(), id).map(|path| id_in_name(&path).unwrap().to_owned());
    assert_eq!(found("0198aaaa").unwrap(), "0198aaaa");
    assert_eq!(found("0198b").unwrap(), "0198bbbb");
    assert_eq!(found("0198").unwrap(), "0198", "the whole id wins over a beginning");
    for (id, word) in [("019", "3 sessions"), ("", "empty"), ("../x", "no file"), ("77", "no file")] {
        let error = found(id).unwrap_err();
        assert!(
            matches!(&error, SessionError::NotFound { hint, .. } if hint.contains(word)),
            "{id}: {error}"
        );
    }
    assert!(matches!(path_by_id(&root.path().join("missing"), "a"), Err(SessionError::NotFound { .. })));
}

#[test]
fn a_session_is_opened_by_its_id() {
    let root = tempdir().unwrap();
    let id = SessionFile::create(root.path(), Path::new("/w")).unwrap().id().clone();
    assert_eq!(open_by_id(root.path(), id.as_str()).unwrap().id(), &id);
}
