use super::*;
use crate::faulty::FaultyDisk;
use capstan_ports::Message;
use capstan_ports::SessionLog;
use capstan_ports::entry::EntryKind;
use std::cell::RefCell;
use std::io::ErrorKind;
use std::io::Write;
use std::os::unix::fs::symlink;
use tempfile::{TempDir, tempdir};

/// A closed session of these messages.
fn stored(texts: &[&str]) -> (TempDir, PathBuf) {
    let root = tempdir().unwrap();
    let session = SessionFile::create(root.path(), Path::new("/w")).unwrap();
    for text in texts {
        say(&session, text).unwrap();
    }
    let path = session.path().to_owned();
    (root, path)
}

fn say(session: &SessionFile, text: &str) -> Result<capstan_ports::EntryId, SessionError> {
    session.append_entry(EntryKind::message(Arc::new(Message::user(text))))
}

fn texts(session: &SessionFile) -> Vec<String> {
    session.context().unwrap().messages.iter().map(|message| message.text()).collect()
}

fn add(path: &Path, bytes: &[u8]) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(bytes).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

thread_local! {
    /// The folders that this thread made durable.
    static SYNCED: RefCell<Vec<PathBuf>> = const { RefCell::new(Vec::new()) };
}

/// Whether a name is durable cannot be seen without a power cut, so it is noted.
pub(crate) fn note_synced(folder: &Path) {
    SYNCED.with_borrow_mut(|synced| synced.push(folder.to_owned()));
}

// J19: a file that was synced is lost all the same when its name, or the name of its folder, was not.
#[test]
fn every_new_name_is_made_durable() {
    let root = tempdir().unwrap();
    let deep = root.path().join("a/b");
    let session = SessionFile::create(&deep, Path::new("/w")).unwrap();
    let folder = session.path().parent().unwrap().to_owned();
    assert_eq!(SYNCED.take(), [root.path(), &root.path().join("a"), &deep, &folder]);
    add(session.path(), b"{\"half");
    let path = session.path().to_owned();
    drop(session);
    let session = SessionFile::open(&path).unwrap();
    assert!(matches!(session.notices(), [Notice::TailCut { .. }]));
    assert_eq!(SYNCED.take(), [folder], "of the side file");
}

#[test]
fn a_new_session_is_on_disk_at_once_and_for_the_user_alone() {
    let root = tempdir().unwrap();
    let deep = root.path().join("a/b");
    let session = SessionFile::create(&deep, Path::new("/home/ada")).unwrap();
    assert_eq!(session.path().parent().unwrap(), deep.join("--home-ada--"));
    let line = fs::read_to_string(session.path()).unwrap();
    assert_eq!(line, session.header().to_line().unwrap() + "\n");
    assert_eq!(mode(session.path()), 0o600);
    assert_eq!(mode(session.path().parent().unwrap()), 0o700);
    assert_eq!(mode(&deep), 0o700);
}

// J2
#[test]
fn a_torn_last_line_is_moved_aside_and_the_next_entry_starts_a_line() {
    let (_root, path) = stored(&["one"]);
    add(&path, b"{\"type\":\"mess");
    let session = SessionFile::open(&path).unwrap();
    let [Notice::TailCut { n_bytes: 13, kept_in }] = session.notices() else {
        panic!("{:?}", session.notices())
    };
    assert_eq!(fs::read(kept_in).unwrap(), b"{\"type\":\"mess");
    assert_eq!(mode(kept_in), 0o600);
    say(&session, "two").unwrap();
    drop(session);
    let session = SessionFile::open(&path).unwrap();
    assert_eq!(texts(&session), ["one", "two"]);
    assert_eq!(session.notices(), []);
}

// J2: a second tear does not overwrite what was kept of the first.
#[test]
fn every_torn_line_gets_a_file_of_its_own() {
    let (_root, path) = stored(&["one"]);
    for n in 1..=3 {
        let tail = format!("{{\"torn\":{n}");
        add(&path, tail.as_bytes());
        drop(SessionFile::open(&path).unwrap());
        let kept = PathBuf::from(format!("{}.torn-{n}", path.display()));
        assert_eq!(fs::read_to_string(kept).unwrap(), tail);
    }
}

// J3
#[test]
fn a_line_torn_inside_a_character_is_moved_aside() {
    let (_root, path) = stored(&["one", "zwei 😀"]);
    let bytes = fs::read(&path).unwrap();
    let at = bytes.windows(4).position(|window| window == "😀".as_bytes()).unwrap() + 2;
    File::options().write(true).open(&path).unwrap().set_len(at as u64).unwrap();
    let session = SessionFile::open(&path).unwrap();
    assert!(matches!(session.notices(), [Notice::TailCut { .. }]));
    say(&session, "two").unwrap();
    drop(session);
    assert_eq!(texts(&SessionFile::open(&path).unwrap()), ["one", "two"]);
}

// J4
#[test]
fn a_whole_entry_without_its_line_end_is_kept() {
    let (_root, path) = stored(&["one", "two"]);
    let len = fs::metadata(&path).unwrap().len();
    File::options().write(true).open(&path).unwrap().set_len(len - 1).unwrap();
    let session = SessionFile::open(&path).unwrap();
    assert_eq!(session.notices(), [Notice::LineEndAdded]);
    say(&session, "three").unwrap();
    drop(session);
    let session = SessionFile::open(&path).unwrap();
    assert_eq!(texts(&session), ["one", "two", "three"]);
    assert_eq!(session.notices(), []);
}

// J4: the header alone, without its line end.
#[test]
fn a_header_without_its_line_end_is_kept() {
    let (_root, path) = stored(&[]);
    let len = fs::metadata(&path).unwrap().len();
    File::options().write(true).open(&path).unwrap().set_len(len - 1).unwrap();
    let session = SessionFile::open(&path).unwrap();
    say(&session, "one").unwrap();
    drop(session);
    assert_eq!(texts(&SessionFile::open(&path).unwrap()), ["one"]);
}

// J8: the lock belongs to the open file, so that a second open in this process stands for a second process.
#[test]
fn a_session_that_is_open_elsewhere_is_locked() {
    let (_root, path) = stored(&["one"]);
    let session = SessionFile::open(&path).unwrap();
    assert!(matches!(SessionFile::open(&path), Err(SessionError::Locked { .. })));
    let reader = SessionFile::open_read_only(&path).unwrap();
    assert_eq!(texts(&reader), ["one"]);
    assert_eq!(reader.notices(), []);
    assert!(matches!(say(&reader, "two"), Err(SessionError::ReadOnly { .. })));
    say(&session, "two").unwrap();
    drop(session);
    assert_eq!(texts(&SessionFile::open(&path).unwrap()), ["one", "two"], "released with the owner");
}

#[test]
fn a_new_session_is_locked_too() {
    let root = tempdir().unwrap();
    let session = SessionFile::create(root.path(), Path::new("/w")).unwrap();
    assert!(matches!(SessionFile::open(session.path()), Err(SessionError::Locked { .. })));
}

#[test]
fn reading_leaves_a_torn_line_to_its_writer() {
    let (_root, path) = stored(&["one"]);
    add(&path, b"{\"half");
    let before = fs::read(&path).unwrap();
    let reader = SessionFile::open_read_only(&path).unwrap();
    assert_eq!(reader.notices(), [Notice::TailIgnored { n_bytes: 6 }]);
    assert_eq!(texts(&reader), ["one"]);
    assert_eq!(fs::read(&path).unwrap(), before);
}

// 001-133, J10
#[test]
fn a_damaged_line_in_the_middle_opens_read_only_and_says_where() {
    let (root, path) = stored(&["one", "two", "three"]);
    let mut bytes = fs::read(&path).unwrap();
    let second = bytes.split_inclusive(|byte| *byte == b'\n').take(2).map(<[u8]>::len).sum::<usize>();
    bytes[second] = b'x';
    // A torn tail is not repaired either: the file is evidence now.
    bytes.extend(b"{\"half");
    fs::write(&path, &bytes).unwrap();
    let session = SessionFile::open(&path).unwrap();
    assert!(matches!(session.read_only(), Some(SessionError::Corrupt { line: 3, .. })));
    assert!(matches!(say(&session, "four"), Err(SessionError::Corrupt { line: 3, .. })));
    assert_eq!(texts(&session), ["one", "three"]);
    let [Notice::TailIgnored { .. }, Notice::ReadOnly { reason }] = session.notices() else {
        panic!("{:?}", session.notices())
    };
    assert!(reason.starts_with("line 3: "), "{reason}");
    assert_eq!(fs::read(&path).unwrap(), bytes, "left as it is");

    let copy = session.save_copy(root.path()).unwrap();
    say(&copy, "four").unwrap();
    let path = copy.path().to_owned();
    drop(copy);
    assert_eq!(texts(&SessionFile::open(&path).unwrap()), ["one", "three", "four"]);
}

// J10: two entries that another program fused are damage, not one of them.
#[test]
fn fused_lines_are_damage() {
    let (_root, path) = stored(&["one"]);
    let line = fs::read_to_string(&path).unwrap().lines().nth(1).unwrap().to_owned();
    add(&path, format!("{{\"type\":\"message\",\"id\":\"x{line}\n").as_bytes());
    let session = SessionFile::open(&path).unwrap();
    assert!(matches!(session.read_only(), Some(SessionError::Corrupt { line: 3, .. })));
}

// J17
#[test]
fn a_newer_format_is_read_and_never_written() {
    let (root, path) = stored(&["one"]);
    let text = fs::read_to_string(&path).unwrap().replacen("\"version\":3", "\"version\":4", 1) + "{\"half";
    fs::write(&path, &text).unwrap();
    let session = SessionFile::open(&path).unwrap();
    assert_eq!(texts(&session), ["one"]);
    assert!(
        matches!(say(&session, "two"), Err(SessionError::ReadOnly { reason, .. }) if reason.contains("version 4"))
    );
    assert!(matches!(session.save_copy(root.path()), Err(SessionError::ReadOnly { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

// 001-134
#[test]
fn a_file_with_a_bad_header_is_never_overwritten() {
    for text in ["", "\n", "{\"type\":\"session\",\"ver", "hello\n", "{\"type\":\"message\",\"id\":\"a\"}\n"]
    {
        let (_root, path) = stored(&[]);
        fs::write(&path, text).unwrap();
        assert!(matches!(SessionFile::open(&path), Err(SessionError::Corrupt { line: 1, .. })), "{text:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

// 001-137
#[test]
fn unknown_entries_and_fields_are_still_there_after_an_append_and_a_copy() {
    let (root, path) = stored(&["one"]);
    let odd =
        r#"{"type":"hologram","id":"00000001","parentId":null,"timestamp":"t","x":[1.50,{"y":"\ud83d"}]}"#;
    add(&path, format!("{odd}\n").as_bytes());
    let session = SessionFile::open(&path).unwrap();
    say(&session, "two").unwrap();
    let copy = session.save_copy(root.path()).unwrap();
    for file in [session.path(), copy.path()] {
        assert_eq!(fs::read_to_string(file).unwrap().lines().nth(2), Some(odd));
    }
}

#[test]
fn messages_of_unknown_kinds_are_reported() {
    let (_root, path) = stored(&["one"]);
    add(&path, b"{\"type\":\"message\",\"id\":\"x\",\"parentId\":null,\"message\":{\"role\":\"odd\"}}\n");
    assert_eq!(SessionFile::open(&path).unwrap().notices(), [Notice::OpaqueMessages { n: 1 }]);
}

// J14
#[test]
fn links_shared_folders_and_other_things_are_refused() {
    let (root, path) = stored(&["one"]);
    let link = root.path().join("link.jsonl");
    symlink(&path, &link).unwrap();
    for strange in [link.as_path(), root.path()] {
        assert!(matches!(SessionFile::open(strange), Err(SessionError::Io { .. })), "{}", strange.display());
    }
    assert!(matches!(SessionFile::open(&root.path().join("none")), Err(SessionError::NotFound { .. })));
    let folder = path.parent().unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
    for outcome in [SessionFile::open(&path), SessionFile::create(root.path(), Path::new("/w"))] {
        assert!(matches!(outcome, Err(SessionError::Io { action: "use the folder", .. })));
    }
}

// J18
#[test]
fn a_session_that_cannot_be_created_says_so_and_leaves_nothing() {
    let root = tempdir().unwrap();
    let blocker = root.path().join("sessions");
    fs::write(&blocker, "a file").unwrap();
    assert!(matches!(SessionFile::create(&blocker, Path::new("/w")), Err(SessionError::Io { .. })));
    assert_eq!(fs::read_to_string(&blocker).unwrap(), "a file");
}

// J18: the device is full when the session begins.
#[test]
fn a_session_that_cannot_be_written_whole_is_an_error() {
    let (_root, path) = stored(&[]);
    let fill = |disk: &Arc<FaultyDisk>| {
        let disk = Arc::clone(disk) as Arc<dyn Disk>;
        SessionFile::fill(&path, disk, Header::new(Path::new("/w")), Vec::new())
    };
    let granted = Arc::new(FaultyDisk::default());
    fill(&granted).unwrap();
    assert_eq!(granted.durable(), granted.bytes());
    for operation in 0..granted.n_operations() {
        let disk = Arc::new(FaultyDisk::default());
        disk.fail_after(operation, 10, ErrorKind::StorageFull);
        let error = fill(&disk).unwrap_err();
        assert!(
            matches!(&error, SessionError::Io { source, .. } if source.kind() == ErrorKind::StorageFull),
            "{error}"
        );
    }
}

#[test]
fn a_repair_that_fails_is_an_error_and_cuts_nothing() {
    let (_root, path) = stored(&["one"]);
    add(&path, b"{\"half");
    let bytes = fs::read(&path).unwrap();
    for skip in 0..2 {
        let disk = Arc::new(FaultyDisk::with(&bytes));
        disk.fail_after(skip, 0, ErrorKind::Other);
        let found = scan(&(disk.clone() as Arc<dyn Disk>)).unwrap();
        let outcome = SessionFile::settle(&path, Arc::clone(&disk) as Arc<dyn Disk>, found, None);
        assert!(matches!(outcome, Err(SessionError::Io { .. })));
        assert_eq!(disk.durable(), bytes);
    }
}

#[test]
fn a_large_copy_is_written_in_pieces_and_read_back_whole() {
    let (root, path) = stored(&[]);
    let session = SessionFile::open(&path).unwrap();
    for n in 0..30 {
        say(&session, &format!("{n} {}", "y".repeat(100_000))).unwrap();
    }
    let copy = session.save_copy(root.path()).unwrap();
    say(&copy, "last").unwrap();
    let path = copy.path().to_owned();
    drop(copy);
    assert_eq!(SessionFile::open(&path).unwrap().entries().len(), 31);
}
