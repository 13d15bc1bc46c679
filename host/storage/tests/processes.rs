//! A memory that two processes use.
//!
//! The other process is this test program again: a test that does nothing unless it is told what to be.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use capstan_ports::SessionId;
use capstan_ports::memory_store::{MemoryRecord, MemoryStore};
use capstan_runtime::SessionMemory;
use capstan_storage::SqliteMemory;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

/// The variable that makes `the_other_process` one, with the file that it is to use.
const FILE: &str = "CAPSTAN_TEST_MEMORY";
/// What it is to do there.
const TASK: &str = "CAPSTAN_TEST_TASK";
/// Records that each of two writers keeps.
const RECORDS: usize = 100;

fn facts(file: &Path, session: &str) -> SessionMemory {
    SessionMemory::of_session(Arc::new(SqliteMemory::new(file)), &SessionId::new(session))
}

fn start(file: &Path, task: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_other_process", "--test-threads=1"])
        .env(FILE, file)
        .env(TASK, task)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

fn done(mut child: Child) {
    assert!(child.wait().unwrap().success());
}

/// Waits for it without holding up the runtime.
async fn other(file: &Path, task: &str) {
    let child = start(file, task);
    tokio::task::spawn_blocking(move || done(child)).await.unwrap();
}

async fn write(file: &Path, prefix: &str) {
    let memory = SqliteMemory::new(file);
    for n in 0..RECORDS {
        memory.save(MemoryRecord::new("n", format!("{prefix}{n:03}"), "a text of two")).await.unwrap();
        memory.save(MemoryRecord::new("n", "shared", format!("{prefix} {n}"))).await.unwrap();
    }
}

#[tokio::test]
async fn the_other_process() {
    let (Ok(file), Ok(task)) = (std::env::var(FILE), std::env::var(TASK)) else { return };
    let file = Path::new(&file);
    let memory = facts(file, "s");
    match task.as_str() {
        "see" => {
            assert_eq!(memory.get("k").await.unwrap().as_deref(), Some("here"));
            assert_eq!(facts(file, "s2").get("k").await.unwrap(), None);
            let text = "<session-context>\nk: here\nl: too\n</session-context>";
            assert_eq!(memory.snapshot().await.unwrap(), text);
        }
        "change" => {
            memory.set("k", "there").await.unwrap();
            memory.remove("l").await.unwrap();
            facts(file, "s2").set("k", "another session").await.unwrap();
        }
        "clear" => memory.clear().await.unwrap(),
        "write" => write(file, "b").await,
        task => panic!("{task} is no task"),
    }
}

// 004-168, 004-070 and, between processes, 004-060 to 004-065
#[tokio::test]
async fn two_processes_share_the_facts_of_a_session() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("memory.sqlite");
    let (memory, second) = (facts(&file, "s"), facts(&file, "s2"));
    memory.set("l", "too").await.unwrap();
    memory.set("k", "here").await.unwrap();
    other(&file, "see").await;
    other(&file, "change").await;
    assert_eq!(memory.snapshot().await.unwrap(), "<session-context>\nk: there\n</session-context>");
    assert_eq!(second.get("k").await.unwrap().as_deref(), Some("another session"));
    other(&file, "clear").await;
    assert_eq!(memory.snapshot().await.unwrap(), "");
    assert_eq!(second.get("k").await.unwrap().as_deref(), Some("another session"));
}

// 004-168
#[tokio::test]
async fn two_processes_that_write_at_the_same_time_lose_nothing() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("memory.sqlite");
    // Neither finds a file: both make it.
    let child = start(&file, "write");
    write(&file, "a").await;
    tokio::task::spawn_blocking(move || done(child)).await.unwrap();
    let memory = SqliteMemory::new(&file);
    assert_eq!(memory.list("n").await.unwrap().len(), 2 * RECORDS + 1);
    assert_eq!(memory.search("n", "two", 1_000).await.unwrap().len(), 2 * RECORDS);
}
