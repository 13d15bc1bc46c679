use super::*;
use crate::disk::Presence;
use crate::faulty::FaultyDisk;
use crate::scan::scan;
use capstan_ports::Message;
use capstan_ports::entry::SessionInfo;
use capstan_ports::{AssistantMessage, Content, SessionLog, ToolCall};
use std::io::ErrorKind;
use tempfile::tempdir;

/// A session whose file is `disk`.
fn session_on(disk: &Arc<FaultyDisk>) -> SessionFile {
    let tree = scan(&(Arc::clone(disk) as Arc<dyn Disk>)).unwrap().tree;
    let len = disk.bytes().len() as u64;
    SessionFile::over("s.jsonl".into(), Arc::clone(disk) as Arc<dyn Disk>, tree, len, None, Vec::new())
}

fn new_disk() -> Arc<FaultyDisk> {
    let header = Header::new(Path::new("/w")).to_line().unwrap() + "\n";
    Arc::new(FaultyDisk::with(header.as_bytes()))
}

fn user(text: &str) -> Arc<Message> {
    Arc::new(Message::user(text))
}

fn texts(messages: &[Arc<Message>]) -> Vec<String> {
    messages.iter().map(|message| message.text()).collect()
}

fn texts_in(bytes: &[u8]) -> Vec<String> {
    let found = scan(&(Arc::new(FaultyDisk::with(bytes)) as Arc<dyn Disk>)).unwrap();
    assert!(found.damage.is_none());
    texts(&found.tree.context().messages)
}

#[tokio::test]
async fn what_was_said_is_read_back_in_order() {
    // 001-001
    let root = tempdir().unwrap();
    let session = SessionFile::create(root.path(), Path::new("/w")).unwrap();
    let first = session.append_message(user("one")).await.unwrap();
    session.append_entry(EntryKind::SessionInfo(SessionInfo { name: Some("n".into()) })).unwrap();
    let last = session.append_message(user("two")).await.unwrap();
    session.commit().await.unwrap();
    let (path, entries) = (session.path().to_owned(), session.entries());
    assert_eq!(&entries[0].id, &first);
    drop(session);

    let session = SessionFile::open(&path).unwrap();
    assert_eq!(session.entries(), entries);
    assert_eq!(session.leaf(), Some(last));
    assert_eq!(texts(&session.context().unwrap().messages), ["one", "two"]);
    assert_eq!(session.notices(), []);
    session.append_message(user("three")).await.unwrap();
    assert_eq!(texts(&session.context().unwrap().messages), ["one", "two", "three"]);
}

// J5: at the level of a session, a failed append leaves neither line nor message.
#[tokio::test]
async fn a_failed_append_can_be_repeated_and_leaves_one_entry() {
    for k in 0..200 {
        let disk = new_disk();
        let session = session_on(&disk);
        session.append_message(user("one")).await.unwrap();
        disk.fail_after(0, k, ErrorKind::StorageFull);
        assert!(matches!(session.append_message(user("two")).await, Err(SessionError::Io { .. })));
        assert_eq!(texts(&session.context().unwrap().messages), ["one"]);
        session.append_message(user("two")).await.unwrap();
        session.commit().await.unwrap();
        assert_eq!(texts_in(&disk.durable()), ["one", "two"]);
    }
}

// J6: not retried, read-only with a clear message, data kept and offered as a new file.
#[tokio::test]
async fn after_a_failed_sync_the_session_closes_and_can_be_saved_elsewhere() {
    let root = tempdir().unwrap();
    let disk = new_disk();
    let session = session_on(&disk);
    session.append_message(user("one")).await.unwrap();
    disk.fail_after(0, 0, ErrorKind::Other);
    assert!(matches!(session.commit().await, Err(SessionError::Io { action: "sync", .. })));
    assert!(matches!(session.commit().await, Err(SessionError::ReadOnly { .. })));
    assert!(matches!(session.append_message(user("two")).await, Err(SessionError::ReadOnly { .. })));
    assert_eq!(disk.n_syncs(), 1);
    let reason = session.read_only().unwrap().to_string();
    assert!(reason.contains("save it to a new file"), "{reason}");

    let copy = session.save_copy(root.path()).unwrap();
    assert_ne!(copy.id(), session.id());
    assert_eq!(copy.header().parent_session.as_deref(), Some("s.jsonl"));
    copy.append_message(user("two")).await.unwrap();
    copy.commit().await.unwrap();
    let path = copy.path().to_owned();
    drop(copy);
    let copy = SessionFile::open(&path).unwrap();
    assert_eq!(texts(&copy.context().unwrap().messages), ["one", "two"]);
}

// J6: who waits for the device may be cancelled; the failure counts all the same.
#[tokio::test]
async fn a_failed_sync_closes_the_session_although_nobody_waits_for_it() {
    let disk = new_disk();
    let session = session_on(&disk);
    session.append_message(user("one")).await.unwrap();
    disk.fail_after(0, 0, ErrorKind::Other);
    {
        let mut commit = session.commit();
        let polled =
            std::future::poll_fn(|context| std::task::Poll::Ready(commit.as_mut().poll(context))).await;
        drop(polled);
    }
    while session.read_only().is_none() {
        tokio::task::yield_now().await;
    }
    assert!(matches!(session.commit().await, Err(SessionError::ReadOnly { .. })));
}

// J9: one writer; the lines are in the order of the acknowledgments.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn appends_of_many_tasks_are_whole_lines_in_one_chain() {
    let root = tempdir().unwrap();
    let session = Arc::new(SessionFile::create(root.path(), Path::new("/w")).unwrap());
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let session = Arc::clone(&session);
            tokio::spawn(async move {
                let mut ids = Vec::new();
                for n in 0..25 {
                    ids.push(
                        session
                            .append_message(user(&format!("{task} {n} {}", "x".repeat(3000))))
                            .await
                            .unwrap(),
                    );
                    session.commit().await.unwrap();
                }
                ids
            })
        })
        .collect();
    let mut by_task = Vec::new();
    for task in tasks {
        by_task.push(task.await.unwrap());
    }
    let path = session.path().to_owned();
    drop(session);
    let session = SessionFile::open(&path).unwrap();
    let entries = session.entries();
    assert_eq!(entries.len(), 200);
    assert_eq!(entries[0].parent_id, None);
    assert!(entries.windows(2).all(|pair| pair[1].parent_id.as_ref() == Some(&pair[0].id)));
    let position = |id: &EntryId| entries.iter().position(|entry| entry.id == *id).unwrap();
    for ids in &by_task {
        assert!(ids.windows(2).all(|pair| position(&pair[0]) < position(&pair[1])));
    }
}

#[tokio::test]
async fn a_commit_without_new_entries_does_not_touch_the_device() {
    let disk = new_disk();
    let session = session_on(&disk);
    session.commit().await.unwrap();
    assert_eq!(disk.n_syncs(), 0);
    session.append_message(user("one")).await.unwrap();
    session.append_message(user("two")).await.unwrap();
    session.commit().await.unwrap();
    session.commit().await.unwrap();
    assert_eq!(disk.n_syncs(), 1);
}

#[test]
fn a_commit_works_without_a_runtime() {
    let disk = new_disk();
    let session = session_on(&disk);
    session.append_entry(EntryKind::message(user("one"))).unwrap();
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let mut commit = session.commit();
    assert!(matches!(commit.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
    assert_eq!(disk.n_syncs(), 1);
}

// J19: after a power cut the file holds what was committed, whatever was appended since.
#[tokio::test]
async fn after_a_power_cut_everything_acknowledged_is_there() {
    let disk = new_disk();
    let session = session_on(&disk);
    let mut acknowledged = Vec::new();
    for n in 0..10 {
        session.append_message(user(&n.to_string())).await.unwrap();
        assert_eq!(texts_in(&disk.durable()), acknowledged);
        if n % 3 == 0 {
            session.commit().await.unwrap();
            acknowledged = texts_in(&disk.bytes());
            assert_eq!(acknowledged.len(), n + 1);
        }
    }
}

// J19: the device may also have kept some of what was never synced, torn anywhere or with zeros in the place of bytes.
#[tokio::test]
async fn whatever_a_power_cut_leaves_of_unsynced_entries_the_acknowledged_ones_are_found() {
    let disk = new_disk();
    let session = session_on(&disk);
    for text in ["one", "zwölf"] {
        session.append_message(user(text)).await.unwrap();
    }
    session.commit().await.unwrap();
    let durable = disk.durable().len();
    session.append_message(user("drei")).await.unwrap();
    let bytes = disk.bytes();
    for kept in durable..=bytes.len() {
        let zeros = [&bytes[..kept], &vec![0; bytes.len() - kept]].concat();
        for left in [&bytes[..kept], &zeros] {
            let said = texts_in(left);
            assert_eq!(said[..2], ["one", "zwölf"], "{kept} bytes were kept");
            assert!(said.len() == 2 || kept + 1 >= bytes.len(), "{kept} bytes were kept");
        }
    }
}

// J19: every operation fails once, and the power goes at the end of it.
#[tokio::test]
async fn after_any_failure_and_a_power_cut_everything_acknowledged_is_there() {
    for n in 0.. {
        let disk = new_disk();
        let session = session_on(&disk);
        disk.fail_after(n, 5, ErrorKind::Other);
        let mut acknowledged = 0;
        for number in 0..4 {
            if session.append_message(user(&number.to_string())).await.is_ok()
                && session.commit().await.is_ok()
            {
                acknowledged = session.entries().len();
            }
            assert!(texts_in(&disk.durable()).len() >= acknowledged, "operation {n} failed");
        }
        if disk.n_operations() <= n {
            assert_eq!(acknowledged, 4);
            break;
        }
    }
}

// J13, 001-137: the lines of a file that has no name any more are still there to be copied.
#[test]
fn a_copy_of_a_deleted_file_has_its_lines_as_they_were() {
    let (root, session, lines) = with_unknown_fields();
    std::fs::remove_file(session.path()).unwrap();
    std::fs::write(session.path(), "another file\n").unwrap();
    let copy = session.save_copy(root.path()).unwrap();
    assert_eq!(copy.notices(), []);
    let copied = std::fs::read_to_string(copy.path()).unwrap();
    assert_eq!(copied.lines().skip(1).collect::<Vec<_>>(), lines);
    // The copy's own lines are copied from the copy.
    let again = copy.fork(root.path(), copy.leaf().as_ref()).unwrap();
    let again = std::fs::read_to_string(again.path()).unwrap();
    assert_eq!(again.lines().skip(1).collect::<Vec<_>>(), lines);
}

// J13: lines that are lost are written from memory, and that is said.
#[test]
fn a_copy_of_a_file_that_was_cut_or_overwritten_has_what_is_known_and_says_so() {
    let cut: fn(&Path) = |path| std::fs::File::options().write(true).open(path).unwrap().set_len(20).unwrap();
    let overwritten: fn(&Path) = |path| {
        let text = std::fs::read_to_string(path).unwrap();
        std::fs::write(path, text.replace("one", "two")).unwrap();
    };
    for change in [cut, overwritten] {
        let (root, session, _) = with_unknown_fields();
        change(session.path());
        let copy = session.save_copy(root.path()).unwrap();
        let [notice @ Notice::LinesFromMemory { n }] = copy.notices() else { panic!("{:?}", copy.notices()) };
        assert!((1..=2).contains(n));
        assert!(notice.to_string().contains("could not be read any more"));
        let texts: Vec<_> = copy.transcript().unwrap().iter().map(|message| message.text()).collect();
        assert_eq!(texts, ["one"]);
        assert_eq!(copy.entries(), session.entries());
    }
}

/// A session with a message and an entry of an unknown type, both with fields that nobody knows, and its lines.
fn with_unknown_fields() -> (tempfile::TempDir, SessionFile, Vec<String>) {
    let root = tempdir().unwrap();
    let path = SessionFile::create(root.path(), Path::new("/w")).unwrap().path().to_owned();
    let lines = [
        r#"{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"user","content":"one","x":1.50},"y":[]}"#,
        r#"{"type":"hologram", "id":"b","parentId":"a","timestamp":"t","z":1e2}"#,
    ]
    .map(str::to_owned);
    let text = std::fs::read_to_string(&path).unwrap() + &lines.join("\n") + "\n";
    std::fs::write(&path, text).unwrap();
    let session = SessionFile::open(&path).unwrap();
    (root, session, lines.to_vec())
}

// J13
#[tokio::test]
async fn a_file_that_was_deleted_replaced_or_cut_is_noticed_before_the_next_append() {
    let changes: [fn(&Path); 4] = [
        |path| std::fs::remove_file(path).unwrap(),
        |path| {
            let bytes = std::fs::read(path).unwrap();
            std::fs::remove_file(path).unwrap();
            std::fs::write(path, bytes).unwrap();
        },
        |path| std::fs::File::options().write(true).open(path).unwrap().set_len(20).unwrap(),
        |path| {
            use std::io::Write;
            std::fs::File::options().append(true).open(path).unwrap().write_all(b"{}\n").unwrap();
        },
    ];
    for change in changes {
        let root = tempdir().unwrap();
        let session = SessionFile::create(root.path(), Path::new("/w")).unwrap();
        session.append_message(user("one")).await.unwrap();
        session.commit().await.unwrap();
        change(session.path());
        let before = std::fs::read(session.path()).ok();
        assert!(matches!(session.append_message(user("two")).await, Err(SessionError::ReadOnly { .. })));
        assert_eq!(std::fs::read(session.path()).ok(), before, "nothing was written");
        assert_eq!(texts(&session.context().unwrap().messages), ["one"], "nothing is lost in memory");
        let copy = session.save_copy(root.path()).unwrap();
        assert_eq!(texts(&copy.context().unwrap().messages), ["one"]);
    }
}

#[tokio::test]
async fn an_entry_that_could_not_be_read_back_is_not_written() {
    let disk = new_disk();
    let session = session_on(&disk);
    let mut arguments = serde_json::json!({});
    for _ in 0..200 {
        arguments = serde_json::json!({ "a": arguments });
    }
    let call = ToolCall { id: "c".into(), name: "t".into(), arguments, malformed: None };
    let answer = AssistantMessage { content: vec![Content::ToolCall(call)], ..AssistantMessage::default() };
    let before = disk.bytes();
    let error = session.append_message(Arc::new(Message::Assistant(answer))).await.unwrap_err();
    assert!(error.to_string().contains("nested"), "{error}");
    assert_eq!(disk.bytes(), before);
    session.append_message(user("next")).await.unwrap();
}

#[tokio::test]
async fn the_state_of_a_missing_file_is_told_with_the_way_on() {
    let disk = new_disk();
    let session = session_on(&disk);
    disk.pretend(Presence::Gone);
    let error = session.append_message(user("one")).await.unwrap_err().to_string();
    assert!(error.contains("deleted") && error.contains("save it to a new file"), "{error}");
}
