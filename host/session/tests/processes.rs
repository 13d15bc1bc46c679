//! Sessions of processes that are killed, and of two processes at once.
//!
//! The other process is this test program again: a test that does nothing unless it is told what to be.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use capstan_ports::entry::EntryKind;
use capstan_ports::{Message, SessionError, SessionLog};
use capstan_session::SessionFile;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// The variable that makes `the_other_process` one, with the file that it is to continue.
const FILE: &str = "CAPSTAN_TEST_SESSION";

/// Rounds in which a process is killed.
const ROUNDS: usize = 500;
/// Rounds that go on with one file. A fresh one after them keeps the rounds short.
const ROUNDS_PER_FILE: usize = 20;

/// Begins each line that acknowledges an entry; the test harness prints lines of its own.
const ACK: &str = "ack ";

/// What the entry with this number says. Some are long, so that a kill can come while one is being written.
fn text(number: usize) -> String {
    let n_padding = if number % 4 == 3 { 15_000 } else { 40 };
    format!("{number} {}", "ä".repeat(n_padding))
}

fn append(session: &SessionFile, number: usize) -> Result<(), SessionError> {
    session.append_entry(EntryKind::message(Arc::new(Message::user(text(number))))).map(drop)
}

/// Without a runtime a commit does not wait for another thread.
fn commit(session: &SessionFile) -> Result<(), SessionError> {
    let mut commit = session.commit();
    match commit.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => panic!("a commit waits for somebody"),
    }
}

#[test]
fn the_other_process() {
    let Ok(path) = std::env::var(FILE) else { return };
    let session = SessionFile::open(Path::new(&path)).unwrap();
    let mut stdout = std::io::stdout();
    // The harness has left its line open.
    stdout.write_all(b"\n").unwrap();
    for number in session.entries().len().. {
        append(&session, number).unwrap();
        commit(&session).unwrap();
        stdout.write_all(format!("{ACK}{number}\n").as_bytes()).unwrap();
        stdout.flush().unwrap();
    }
}

struct Other {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Other {
    fn start(path: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "the_other_process", "--nocapture", "--test-threads=1"])
            .env(FILE, path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdout }
    }

    /// The number of the next entry that is acknowledged; `None` when there will be none.
    fn next_ack(&mut self) -> Option<usize> {
        loop {
            let mut line = String::new();
            if self.stdout.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            // The last line may be cut short by the kill; it then acknowledges nothing.
            let number = line.strip_prefix(ACK).and_then(|number| number.strip_suffix('\n'));
            if let Some(number) = number {
                return Some(number.parse().unwrap());
            }
        }
    }

    /// Kills it, and returns the last of the acknowledgments that were not read yet.
    fn kill(mut self) -> Option<usize> {
        self.child.kill().unwrap();
        let last = std::iter::from_fn(|| self.next_ack()).last();
        self.child.wait().unwrap();
        last
    }
}

fn random(below: u64) -> u64 {
    RandomState::new().build_hasher().finish() % below
}

/// Opens the session as its next user would, and returns how many entries it has, all of them whole.
fn n_whole_entries(path: &Path) -> usize {
    let session = SessionFile::open(path).unwrap();
    assert!(session.read_only().is_none(), "it can be continued: {:?}", session.read_only());
    let messages = session.transcript().unwrap();
    assert_eq!(messages.len(), session.entries().len(), "all entries are on one branch");
    for (number, message) in messages.iter().enumerate() {
        assert!(message.text() == text(number), "entry {number} is another one");
    }
    messages.len()
}

// 001-132, J1
#[test]
fn what_was_acknowledged_is_there_however_often_the_process_is_killed() {
    let (mut n_acknowledged, mut n_unacknowledged) = (0, 0);
    let mut round = 0;
    while round < ROUNDS {
        let root = tempfile::tempdir().unwrap();
        let path = SessionFile::create(root.path(), Path::new("/w")).unwrap().path().to_owned();
        let mut present = 0;
        for _ in 0..ROUNDS_PER_FILE.min(ROUNDS - round) {
            let mut other = Other::start(&path);
            let mut last = None;
            for _ in 0..random(6) {
                last = other.next_ack();
            }
            std::thread::sleep(Duration::from_micros(random(2_000)));
            last = other.kill().or(last);
            let acknowledged = last.map_or(present, |number| number + 1);
            let now = n_whole_entries(&path);
            // One entry may have been written and not acknowledged yet.
            assert!(
                now == acknowledged || now == acknowledged + 1,
                "round {round}: {acknowledged} entries were acknowledged, {now} are there"
            );
            n_acknowledged += acknowledged - present.min(acknowledged);
            n_unacknowledged += now - acknowledged;
            present = now;
            round += 1;
        }
    }
    assert!(n_acknowledged > ROUNDS, "the processes did append: {n_acknowledged}, {n_unacknowledged}");
}

// 001-135, J8
#[test]
fn a_session_is_written_by_one_process_and_free_again_when_it_is_killed() {
    let root = tempfile::tempdir().unwrap();
    let path = SessionFile::create(root.path(), Path::new("/w")).unwrap().path().to_owned();
    let mut other = Other::start(&path);
    assert_eq!(other.next_ack(), Some(0));
    let refused = SessionFile::open(&path).unwrap_err();
    assert!(matches!(refused, SessionError::Locked { .. }), "{refused}");
    assert!(refused.to_string().contains("in use by another process"), "{refused}");

    // It can be read meanwhile, and a fork of it written to.
    let reader = SessionFile::open_read_only(&path).unwrap();
    assert!(matches!(append(&reader, 0), Err(SessionError::ReadOnly { .. })));
    let fork = reader.fork(root.path(), reader.leaf().as_ref()).unwrap();
    append(&fork, 0).unwrap();
    assert!(other.next_ack().is_some(), "the writer goes on");

    other.kill();
    let n = n_whole_entries(&path);
    let session = SessionFile::open(&path).unwrap();
    append(&session, n).unwrap();
    drop(session);
    assert_eq!(n_whole_entries(&path), n + 1);
}
