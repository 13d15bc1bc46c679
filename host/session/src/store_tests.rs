use super::{BEGUN, FileStore, record};
use crate::file::SessionFile;
use capstan_ports::entry::EntryKind;
use capstan_ports::{AssistantMessage, Content, Message, Session, SessionError, SessionId, SessionStore};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

fn said(texts: &[&str]) -> Vec<Arc<Message>> {
    let message = |(at, text): (usize, &&str)| match at % 2 {
        0 => Message::User(capstan_ports::message::UserMessage {
            content: vec![Content::text(*text)],
            timestamp: 7,
        }),
        _ => Message::Assistant(AssistantMessage {
            content: vec![Content::text(*text)],
            ..AssistantMessage::default()
        }),
    };
    texts.iter().enumerate().map(message).map(Arc::new).collect()
}

fn session(texts: &[&str], note: &str) -> Session {
    let metadata = json!({ "note": note }).as_object().cloned().unwrap_or_default();
    Session { messages: said(texts), metadata }
}

fn store(root: &Path) -> FileStore {
    FileStore::new(root.join("sessions"), "/project")
}

fn id(text: &str) -> SessionId {
    SessionId::new(text)
}

// 003-156, 003-049, 003-064
#[tokio::test]
async fn a_saved_session_is_there_after_a_restart_with_its_metadata() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(store(root.path()).load(&id("s1")).await.unwrap(), Session::default());
    let first = session(&["a", "b"], "one");
    store(root.path()).save(&id("s1"), &first).await.unwrap();
    let second = session(&["a", "b", "c", "d"], "two");
    // Each store is what another process would have.
    store(root.path()).save(&id("s1"), &second).await.unwrap();
    assert_eq!(store(root.path()).load(&id("s1")).await.unwrap(), second);
    // An id that begins another one is another session.
    assert!(store(root.path()).load(&id("s")).await.unwrap().is_empty());
}

#[tokio::test]
async fn what_is_replaced_stays_in_the_file_and_is_not_written_twice() {
    let root = tempfile::tempdir().unwrap();
    let store = store(root.path());
    store.save(&id("s"), &session(&["a", "b", "c"], "")).await.unwrap();
    let other = session(&["a", "b", "instead"], "");
    store.save(&id("s"), &other).await.unwrap();
    assert_eq!(store.load(&id("s")).await.unwrap(), other);
    let path = store.file_of(&id("s")).unwrap().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let messages = text.lines().filter(|line| line.contains("\"type\":\"message\"")).count();
    assert_eq!(messages, 4, "{text}");
    // Wholly other messages begin at the root again.
    let new = session(&["x"], "");
    store.save(&id("s"), &new).await.unwrap();
    assert_eq!(store.load(&id("s")).await.unwrap(), new);
    assert!(std::fs::read_to_string(&path).unwrap().starts_with(&text));
}

// 003-156
#[tokio::test]
async fn an_id_that_is_no_file_name_is_refused_and_nothing_is_written() {
    let root = tempfile::tempdir().unwrap();
    let store = store(root.path());
    let long = "x".repeat(65);
    for odd in ["../out", "..", "a/b", "", "a b", "a.b", "\u{e9}", long.as_str()] {
        let saved = store.save(&id(odd), &session(&["a"], "")).await;
        assert!(matches!(saved, Err(SessionError::Save { .. })), "{odd:?}: {saved:?}");
        assert!(matches!(store.load(&id(odd)).await, Err(SessionError::Load { .. })), "{odd:?}");
    }
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
    store.save(&id("A_b-9"), &session(&["a"], "")).await.unwrap();
}

// 003-156
#[tokio::test(flavor = "multi_thread")]
async fn of_saves_at_the_same_time_one_stands_whole() {
    let root = tempfile::tempdir().unwrap();
    let texts: Vec<String> = (0..40).map(|n| format!("text {n}")).collect();
    let all: Vec<Session> = (0..8)
        .map(|n| session(&texts.iter().skip(n).map(String::as_str).collect::<Vec<_>>(), &n.to_string()))
        .collect();
    let saves = all.iter().cloned().map(|session| {
        // Not a clone of one store: they share nothing but the file.
        let store = store(root.path());
        tokio::spawn(async move { store.save(&id("shared"), &session).await })
    });
    // The file is there first, so that all of them meet at it.
    store(root.path()).save(&id("shared"), &Session::default()).await.unwrap();
    for save in saves.collect::<Vec<_>>() {
        save.await.unwrap().unwrap();
        assert!(store(root.path()).load(&id("shared")).await.is_ok());
    }
    let last = store(root.path()).load(&id("shared")).await.unwrap();
    assert!(all.contains(&last), "{last:?}");
}

#[tokio::test]
async fn a_save_that_was_not_finished_counts_for_nothing() {
    let root = tempfile::tempdir().unwrap();
    let store = store(root.path());
    let whole = session(&["a", "b"], "whole");
    store.save(&id("s"), &whole).await.unwrap();
    let path = store.file_of(&id("s")).unwrap().unwrap();
    let file = SessionFile::open(&path).unwrap();
    file.append_entry(record(BEGUN, None)).unwrap();
    file.append_entry(EntryKind::message(said(&["half"])[0].clone())).unwrap();
    drop(file);
    assert_eq!(store.load(&id("s")).await.unwrap(), whole);
    let next = session(&["a", "b", "c"], "next");
    store.save(&id("s"), &next).await.unwrap();
    assert_eq!(store.load(&id("s")).await.unwrap(), next);
}

//
#[tokio::test]
async fn a_session_that_was_written_entry_by_entry_can_be_loaded_and_saved() {
    let root = tempfile::tempdir().unwrap();
    let file = SessionFile::create(&root.path().join("sessions"), Path::new("/project")).unwrap();
    for message in said(&["a", "b"]) {
        file.append_entry(EntryKind::message(message)).unwrap();
    }
    let of = file.id().clone();
    drop(file);
    let store = store(root.path());
    let mut session = store.load(&of).await.unwrap();
    assert_eq!(session.messages, said(&["a", "b"]));
    session.messages = said(&["a", "b", "c"]);
    store.save(&of, &session).await.unwrap();
    let path = store.file_of(&of).unwrap().unwrap();
    let again = SessionFile::open_read_only(&path).unwrap();
    assert_eq!(again.look(crate::Tree::transcript), said(&["a", "b", "c"]));
}

// 003-071
#[tokio::test]
async fn a_session_that_is_there_is_not_made_again() {
    let root = tempfile::tempdir().unwrap();
    let store = store(root.path());
    store.create(&id("new"), &session(&["a"], "")).await.unwrap();
    let again = store.create(&id("new"), &session(&["b"], "")).await;
    assert!(matches!(again, Err(SessionError::Exists { .. })), "{again:?}");
    assert_eq!(store.load(&id("new")).await.unwrap(), session(&["a"], ""));
}
