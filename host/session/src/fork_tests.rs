use super::*;
use capstan_ports::entry::{EntryKind, Label};
use capstan_ports::{Message, SessionLog};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::{TempDir, tempdir};

/// Two branches after `b`: `c` with a bookmark on `a`, and `d`, where the bookmark on `b` was set.
const LINES: &str = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","theirs":1}
{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"one","timestamp":1}}
{"type":"message",  "id":"b","parentId":"a","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"two","timestamp":1,"unknown":{"deep":[1.50]}}}
{"type":"from_the_future","id":"c","parentId":"b","timestamp":"2026-01-01T00:00:00.000Z","zzz":true}
{"type":"label","id":"lc","parentId":"c","timestamp":"2026-01-01T00:00:00.000Z","targetId":"a","label":"old"}
{"type":"message","id":"e","parentId":"lc","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"left","timestamp":1}}
{"type":"message","id":"d","parentId":"b","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"right","timestamp":1}}
{"type":"label","id":"ld","parentId":"d","timestamp":"2026-01-01T00:00:00.000Z","targetId":"b","label":"found it"}
{"type":"label","id":"la","parentId":"ld","timestamp":"2026-01-01T00:00:00.000Z","targetId":"a"}
"#;

fn original() -> (TempDir, PathBuf) {
    let root = tempdir().unwrap();
    let path = root.path().join("original.jsonl");
    fs::write(&path, LINES).unwrap();
    (root, path)
}

fn lines_of(session: &SessionFile) -> Vec<String> {
    fs::read_to_string(session.path()).unwrap().lines().map(str::to_owned).collect()
}

// 001-158
#[test]
fn a_fork_has_the_lines_of_one_branch_as_they_were_and_leaves_the_original_as_it_is() {
    let (root, path) = original();
    let session = SessionFile::open(&path).unwrap();
    let fork = session.fork(root.path(), Some(&EntryId::new("e"))).unwrap();
    let (old, new): (Vec<_>, _) = (LINES.lines().collect(), lines_of(&fork));
    assert_eq!(new[1..6], old[1..6], "every byte of what was copied, also of what nobody here knows");
    assert_eq!(fork.header().parent_session.as_deref(), path.to_str());
    assert_eq!((fork.header().cwd.as_str(), &fork.header().extra["theirs"]), ("/w", &1.into()));
    assert_ne!(fork.id(), session.id());
    assert_eq!(fs::read_to_string(&path).unwrap(), LINES);

    drop(fork.append_entry(EntryKind::message(Arc::new(Message::user("goes on")))).unwrap());
    let again = SessionFile::open_read_only(fork.path()).unwrap();
    let said: Vec<_> = again.transcript().unwrap().iter().map(|message| message.text()).collect();
    assert_eq!(said, ["one", "two", "left", "goes on"]);
}

// 001-158
#[test]
fn bookmarks_on_copied_entries_say_what_they_said_wherever_they_were_set() {
    let (root, path) = original();
    let session = SessionFile::open(&path).unwrap();
    let fork = session.fork(root.path(), Some(&EntryId::new("e"))).unwrap();
    fork.look(|tree| {
        assert_eq!(tree.label(&EntryId::new("b")), Some("found it"), "it was set on the other branch");
        assert_eq!(tree.label(&EntryId::new("a")), None, "it was removed on the other branch");
        assert_eq!(tree.entries().len(), 5 + 2);
    });
    let nothing_to_add = session.fork(root.path(), Some(&EntryId::new("la"))).unwrap();
    nothing_to_add.look(|tree| {
        assert_eq!(tree.labels().into_iter().collect::<Vec<_>>(), [(&EntryId::new("b"), "found it")]);
        assert_eq!(tree.leaf(), Some(&EntryId::new("la")));
    });
}

// 001-158
#[test]
fn a_fork_from_before_every_root_is_empty_and_one_from_nowhere_is_refused() {
    let (root, path) = original();
    let session = SessionFile::open(&path).unwrap();
    let empty = session.fork(root.path(), None).unwrap();
    assert_eq!(empty.entries().len(), 0);
    assert!(empty.header().parent_session.is_some());
    let n_files = || fs::read_dir(empty.path().parent().unwrap()).unwrap().count();
    let before = n_files();
    let nowhere = session.fork(root.path(), Some(&EntryId::new("zz"))).unwrap_err();
    assert!(
        matches!(&nowhere, SessionError::UnknownEntry { entry, .. } if entry.as_str() == "zz"),
        "{nowhere}"
    );
    assert_eq!(n_files(), before);
}

// 001-158
#[test]
fn a_session_that_another_program_continues_can_be_forked_into_another_directory() {
    let (root, path) = original();
    let _writer = SessionFile::open(&path).unwrap();
    let reader = SessionFile::open_read_only(&path).unwrap();
    let fork = reader.fork_into(root.path(), Path::new("/elsewhere"), reader.leaf().as_ref()).unwrap();
    assert_eq!(fork.header().cwd, "/elsewhere");
    assert!(fork.path().starts_with(root.path().join("--elsewhere--")));
    assert!(fork.read_only().is_none());
    assert_eq!(fork.entries().len(), 5);
}

// 001-158
#[test]
fn a_session_in_memory_forks_into_another_one() {
    let session = MemorySession::new(Path::new("/w"));
    let said = |text: &str| session.append_entry(EntryKind::message(Arc::new(Message::user(text)))).unwrap();
    let (one, _two) = (said("one"), said("two"));
    let label = Label { target_id: one.clone(), label: Some("here".into()) };
    session.append_entry(EntryKind::Label(label)).unwrap();
    let fork = session.fork(Some(&one)).unwrap();
    assert_ne!(fork.id(), session.id());
    assert_eq!(fork.transcript().unwrap().len(), 1);
    assert_eq!(fork.look(|tree| tree.label(&one).map(str::to_owned)).as_deref(), Some("here"));
    assert_eq!(session.entries().len(), 3);
    assert!(session.fork(Some(&EntryId::new("zz"))).is_err());
}
