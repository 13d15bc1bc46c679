use super::*;
use crate::{MemorySession, SessionFile};
use capstan_ports::Message;
use capstan_ports::entry::{EntryKind, SessionInfo};
use std::fs;
use std::sync::Arc;
use std::time::Duration;
use tempfile::{TempDir, tempdir};

fn touch(path: &Path, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + seconds);
    File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

fn said(text: &str) -> EntryKind {
    EntryKind::message(Arc::new(Message::user(text)))
}

fn named(name: Option<&str>) -> EntryKind {
    EntryKind::SessionInfo(SessionInfo { name: name.map(str::to_owned) })
}

fn session(root: &Path, cwd: &str, seconds: u64, entries: Vec<EntryKind>) -> SessionFile {
    let session = SessionFile::create(root, Path::new(cwd)).unwrap();
    for entry in entries {
        session.append_entry(entry).unwrap();
    }
    touch(session.path(), seconds);
    session
}

/// A file of `--w--` with this text.
fn file(text: &str) -> (TempDir, PathBuf) {
    let root = tempdir().unwrap();
    fs::create_dir(root.path().join("--w--")).unwrap();
    let path = root.path().join("--w--/2026-01-01T00-00-00-000Z_0198.jsonl");
    fs::write(&path, text).unwrap();
    (root, path)
}

fn only(root: &Path) -> Listed {
    let mut listed = list(root, Some(Path::new("/w"))).unwrap();
    assert_eq!(listed.len(), 1);
    listed.remove(0)
}

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"0198","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
const SAID: &str = r#"{"type":"message","id":"a","parentId":null,"timestamp":"","message":{"role":"user","content":"hello","timestamp":1}}"#;

// 001-159
#[test]
fn the_session_that_was_written_last_is_listed_first_with_what_is_known_of_it() {
    let root = tempdir().unwrap();
    let old = session(root.path(), "/w", 10, vec![said("  first\nline "), said("second")]);
    let new = session(root.path(), "/w", 20, vec![named(Some("one")), said("hi"), named(Some("two"))]);
    let other = session(root.path(), "/x", 30, vec![]);
    let all = list(root.path(), None).unwrap();
    assert_eq!(
        all.iter().map(|one| one.path.as_path()).collect::<Vec<_>>(),
        [other.path(), new.path(), old.path()]
    );
    let here = list(root.path(), Some(Path::new("/w"))).unwrap();
    assert_eq!(here, all[1..]);
    assert_eq!(
        here[1],
        Listed {
            path: old.path().to_owned(),
            id: old.id().clone(),
            cwd: "/w".into(),
            began: old.header().timestamp,
            parent_session: None,
            name: None,
            first_message: Some("first\nline".into()),
            n_messages: 2,
            is_whole: true,
            modified: SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_010),
            condition: Condition::Good,
        }
    );
    assert_eq!((here[0].name.as_deref(), here[0].n_messages), (Some("two"), 1));
}

// 001-009
#[test]
fn a_name_can_be_set_replaced_and_removed_and_no_model_hears_of_it() {
    let root = tempdir().unwrap();
    let file = session(root.path(), "/w", 0, vec![said("x")]);
    let memory = MemorySession::new(Path::new("/w"));
    for name in [Some("one"), Some("two"), None, Some("three")] {
        file.append_entry(named(name)).unwrap();
        memory.append_entry(named(name)).unwrap();
        assert_eq!(only(root.path()).name.as_deref(), name);
        assert_eq!(file.look(|tree| tree.name().map(str::to_owned)).as_deref(), name);
        assert_eq!(memory.look(|tree| tree.name().map(str::to_owned)).as_deref(), name);
    }
    assert_eq!(file.look(|tree| tree.context().messages.len()), 1);
    assert_eq!(memory.look(|tree| tree.context().messages.len()), 0);
}

// 001-159
#[test]
fn files_that_are_damaged_or_no_sessions_are_listed_as_such() {
    for (text, expected) in [
        (String::new(), "empty"),
        ("\0\0\0\0".into(), "not a JSON object"),
        (format!("{SAID}\n"), "session"),
        ("{\"type\":\"session\"}\n".into(), "id"),
    ] {
        let (root, _) = file(&text);
        let listed = only(root.path());
        let Condition::Unreadable { reason } = &listed.condition else { panic!("{listed:?}") };
        assert!(reason.contains(expected), "{reason}");
        assert_eq!(listed.id.as_str(), "0198", "the name of the file says it");
    }
    for (lines, line) in [(format!("{SAID}\n\0\0\0\n{SAID}"), 3), (format!("{{\"type\":\"mes\n{SAID}"), 2)] {
        let (root, _) = file(&format!("{HEADER}\n{lines}\n"));
        let listed = only(root.path());
        assert_eq!(listed.condition, Condition::Damaged { line });
        assert_eq!(listed.first_message.as_deref(), Some("hello"));
    }
    let (root, _) = file(&HEADER.replace(":3", ":4"));
    assert_eq!(only(root.path()).condition, Condition::OtherVersion(4));
}

// 001-159
#[test]
fn a_line_that_is_being_written_is_no_damage() {
    let whole = format!("{HEADER}\n{SAID}\n{SAID}");
    for cut in HEADER.len() + SAID.len() + 2..=whole.len() {
        let (root, _) = file(&whole[..cut]);
        let listed = only(root.path());
        assert_eq!(listed.condition, Condition::Good, "{}", &whole[..cut]);
        assert_eq!(listed.n_messages, if cut == whole.len() { 2 } else { 1 });
    }
}

#[test]
fn lines_in_another_spelling_count_as_well() {
    let other = r#" { "message" : {"content":[{"type":"image","data":"","mimeType":"image/png"},{"type":"text","text":"pic"}], "role" : "user"}, "id":"b", "\u0074ype" : "message" } "#;
    let bot = r#"{"type":"message","id":"c","message":{"role":"assistant","content":[{"type":"text","text":"\"user\""}]}}"#;
    let (root, _) = file(&format!("{HEADER}\r\n\n{bot}\r\n{other}\r\n{SAID}\r\n"));
    let listed = only(root.path());
    assert_eq!((listed.condition, listed.n_messages), (Condition::Good, 3));
    assert_eq!(listed.first_message.as_deref(), Some("pic"));
}

#[test]
fn of_a_huge_file_both_ends_are_read() {
    let (root, path) = file(&format!("{HEADER}\n{SAID}\n"));
    let mut text = fs::read(&path).unwrap();
    let filler = format!("{{\"type\":\"custom\",\"id\":\"f\",\"x\":\"{}\"}}\n", "x".repeat(100_000));
    while text.len() < usize::try_from(MAX_READ_BYTES).unwrap() + 1 {
        text.extend_from_slice(filler.as_bytes());
    }
    text.extend_from_slice(
        format!("{SAID}\n{{\"type\":\"session_info\",\"id\":\"n\",\"name\":\"end\"}}\n").as_bytes(),
    );
    fs::write(&path, text).unwrap();
    let listed = only(root.path());
    assert_eq!((listed.name.as_deref(), listed.first_message.as_deref()), (Some("end"), Some("hello")));
    assert_eq!((listed.n_messages, listed.is_whole, listed.condition), (2, false, Condition::Good));
}

#[test]
fn where_nothing_was_kept_nothing_is_listed() {
    let root = tempdir().unwrap();
    for root in [root.path().to_owned(), root.path().join("missing")] {
        assert_eq!(list(&root, None).unwrap(), []);
        assert_eq!(list(&root, Some(Path::new("/w"))).unwrap(), []);
    }
    fs::write(root.path().join("file"), "").unwrap();
    let error = list(&root.path().join("file"), None).unwrap_err();
    assert!(matches!(error, SessionError::Io { action: "list sessions", .. }), "{error}");
}

#[test]
fn sessions_of_another_directory_that_shares_the_folder_are_not_listed() {
    let root = tempdir().unwrap();
    let mine = session(root.path(), "/a/b", 0, vec![]);
    let other = session(root.path(), "/a-b", 0, vec![]);
    assert_eq!(mine.path().parent(), other.path().parent());
    let listed = list(root.path(), Some(Path::new("/a/b"))).unwrap();
    assert_eq!(listed.iter().map(|one| &one.id).collect::<Vec<_>>(), [mine.id()]);
}
