use super::*;
use capstan_ports::entry::EntryKind;
use capstan_ports::{Message, SessionLog};
use std::os::unix::fs::PermissionsExt;
use tempfile::{TempDir, tempdir};

const VERSION_ONE: &str = concat!(
    r#"{"type":"session","id":"s1","timestamp":"2025-11-01T00:00:00.000Z","cwd":"/w","provider":"p","modelId":"m"}"#,
    "\n",
    r#"{"type":"message","timestamp":"2025-11-01T00:00:01.000Z","message":{"role":"user","content":"one","timestamp":1},"odd":[1]}"#,
    "\n",
    r#"{"type":"thinking_level_change","timestamp":"2025-11-01T00:00:02.000Z","thinkingLevel":"high"}"#,
    "\n",
);
const VERSION_TWO: &str = concat!(
    r#"{"type":"session","version":2,"id":"s2","timestamp":"2025-12-01T00:00:00.000Z","cwd":"/w"}"#,
    "\n",
    r#"{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2025-12-01T00:00:01.000Z","message":{"role":"user","content":"one","timestamp":1},"odd":[1]}"#,
    "\n",
    r#"{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"2025-12-01T00:00:02.000Z","message":{"role":"hookMessage","customType":"c","content":"hook","display":true,"timestamp":1}}"#,
    "\n",
);

fn old_file(text: &str) -> (TempDir, PathBuf) {
    let root = tempdir().unwrap();
    let path = root.path().canonicalize().unwrap().join("2025-11-01T00-00-00-000Z_old.jsonl");
    fs::write(&path, text).unwrap();
    (root, path)
}

fn texts(session: &SessionFile) -> Vec<String> {
    session.context().unwrap().messages.iter().map(|message| message.text()).collect()
}

fn say(session: &SessionFile, text: &str) {
    session.append_entry(EntryKind::message(Arc::new(Message::user(text)))).unwrap();
}

fn n_sessions(path: &Path) -> usize {
    session_files(path.parent().unwrap()).unwrap().len()
}

// 001-138, 001-159
#[test]
fn the_list_shows_the_continuation_alone_until_the_older_file_grows() {
    let root = tempdir().unwrap();
    let folder = root.path().join("--w--");
    fs::create_dir(&folder).unwrap();
    let path = folder.join("2025-12-01T00-00-00-000Z_s2.jsonl");
    fs::write(&path, VERSION_TWO).unwrap();
    let listed = || -> Vec<PathBuf> {
        crate::list(root.path(), None).unwrap().into_iter().map(|listed| listed.path).collect()
    };
    assert_eq!(listed(), [path.as_path()]);
    let new = SessionFile::open(&path).unwrap().path().file_name().unwrap().to_owned();
    assert_eq!(listed(), [folder.join(new)]);
    let more = VERSION_TWO.lines().last().unwrap().replace("bbbbbbbb", "cccccccc") + "\n";
    fs::write(&path, VERSION_TWO.to_owned() + &more).unwrap();
    assert_eq!(listed().len(), 2);
}

// 001-138
#[test]
fn an_older_session_goes_on_in_a_new_file_and_its_own_is_left_as_it_is() {
    for (text, version, said) in [(VERSION_ONE, 1, &["one"][..]), (VERSION_TWO, 2, &["one", "hook"])] {
        let (_root, path) = old_file(text);
        let session = SessionFile::open(&path).unwrap();
        assert!(session.read_only().is_none());
        assert_eq!(session.notices(), [Notice::Migrated { version, from: path.clone() }]);
        assert_eq!(session.path().parent(), path.parent());
        assert_eq!(session.header().version, 3);
        assert_eq!(session.header().cwd, "/w");
        assert_eq!(session.header().parent_session.as_deref(), path.to_str());
        assert_eq!(texts(&session), said);
        say(&session, "more");
        let new = session.path().to_owned();
        drop(session);
        let session = SessionFile::open(&new).unwrap();
        assert_eq!(session.notices(), []);
        assert_eq!(texts(&session), [said, &["more"]].concat());
        assert!(fs::read_to_string(&new).unwrap().contains("\"odd\":[1]"), "unknown fields survive");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        assert_eq!(session.header().extra.get("provider").is_some(), version == 1);
    }
}

// 001-138
#[test]
fn who_opens_the_old_file_again_finds_the_continuation() {
    let (_root, path) = old_file(VERSION_ONE);
    let session = SessionFile::open(&path).unwrap();
    say(&session, "two");
    assert!(matches!(
        SessionFile::open(&path),
        Err(SessionError::Locked { path }) if path == session.path()
    ));
    drop(session);
    let again = SessionFile::open(&path).unwrap();
    assert_eq!(texts(&again), ["one", "two"]);
    assert_eq!(n_sessions(&path), 2);
    drop(again);

    // The older program went on too: that is another conversation.
    let line = VERSION_ONE.lines().nth(1).unwrap().replace("\"one\"", "\"elsewhere\"");
    fs::write(&path, format!("{VERSION_ONE}{line}\n")).unwrap();
    let other = SessionFile::open(&path).unwrap();
    assert_eq!(texts(&other), ["one", "elsewhere"]);
    assert_eq!(n_sessions(&path), 3);
}

// 001-138
#[test]
fn reading_an_older_session_writes_nothing() {
    let (root, path) = old_file(VERSION_ONE);
    let session = SessionFile::open_read_only(&path).unwrap();
    assert_eq!(texts(&session), ["one"]);
    assert_eq!(session.header().version, 1);
    assert_eq!(session.notices(), []);
    assert_eq!(n_sessions(&path), 1);
    // A copy and a fork are of the current version.
    for copy in [session.save_copy(root.path()), session.fork(root.path(), session.leaf().as_ref())] {
        let copy = copy.unwrap();
        assert_eq!(copy.header().version, 3);
        assert_eq!(SessionFile::open_read_only(copy.path()).unwrap().entries(), session.entries());
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), VERSION_ONE);
}

#[test]
fn a_damaged_older_session_is_read_only_and_left_as_it_is() {
    let text = format!("{VERSION_ONE}oops\n{}\n", VERSION_ONE.lines().nth(1).unwrap());
    let (_root, path) = old_file(&text);
    let session = SessionFile::open(&path).unwrap();
    assert!(matches!(session.read_only(), Some(SessionError::Corrupt { line: 4, .. })));
    assert_eq!(texts(&session), ["one", "one"]);
    assert_eq!(n_sessions(&path), 1);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_torn_last_line_of_an_older_session_stays_there_and_is_told() {
    let text = format!("{VERSION_TWO}{{\"half");
    let (_root, path) = old_file(&text);
    let session = SessionFile::open(&path).unwrap();
    assert!(matches!(session.notices(), [Notice::TailIgnored { n_bytes: 6 }, Notice::Migrated { .. }]));
    assert_eq!(texts(&session), ["one", "hook"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    let whole = VERSION_TWO.trim_end();
    let (_root, path) = old_file(whole);
    assert_eq!(
        texts(&SessionFile::open(&path).unwrap()),
        ["one", "hook"],
        "a whole line without its end counts"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), whole);
}

#[test]
fn where_no_file_can_be_written_the_older_session_is_shown_with_the_way_on() {
    let (_root, path) = old_file(VERSION_TWO);
    let file = fs::File::open(&path).unwrap();
    let disk: Arc<dyn Disk> = Arc::new(crate::FileDisk::new(file, path.clone()).unwrap());
    let found = crate::scan::scan(&disk).unwrap();
    // Permissions do not bind every user; nobody writes to a folder that everybody can write to.
    fs::set_permissions(path.parent().unwrap(), fs::Permissions::from_mode(0o777)).unwrap();
    let session = SessionFile::migrate(&path, disk, found).unwrap();
    assert_eq!(texts(&session), ["one", "hook"]);
    let Some(SessionError::ReadOnly { reason, .. }) = session.read_only() else {
        panic!("it can be written")
    };
    assert!(reason.contains("version 2") && reason.contains("fork it"), "{reason}");
    assert!(matches!(session.notices(), [Notice::ReadOnly { .. }]));
    assert_eq!(n_sessions(&path), 1);
}
