use super::*;
use crate::faulty::FaultyDisk;
use std::io::ErrorKind;

const OLD: &[u8] = b"header\n";
const LINE: &[u8] = "{\"größe\":1}\n".as_bytes();

fn writer(disk: &Arc<FaultyDisk>) -> Writer {
    Writer::new(PathBuf::from("s.jsonl"), Arc::clone(disk) as Arc<dyn Disk>, OLD.len() as u64, None)
}

fn lines(n: usize) -> Vec<u8> {
    [OLD, &LINE.repeat(n)].concat()
}

// J5: a write that fails after any number of bytes leaves nothing, and the retry is a line of its own.
#[test]
fn a_write_that_fails_after_any_byte_is_cut_off() {
    for kind in [ErrorKind::StorageFull, ErrorKind::Other, ErrorKind::QuotaExceeded] {
        for k in 0..=LINE.len() {
            let disk = Arc::new(FaultyDisk::with(OLD));
            let mut writer = writer(&disk);
            disk.fail_after(0, k, kind);
            let error = writer.append(LINE).unwrap_err();
            assert!(matches!(error, SessionError::Io { action: "append", .. }), "{error}");
            assert_eq!(disk.bytes(), OLD, "{kind} after {k} bytes");
            writer.append(LINE).unwrap();
            assert_eq!(disk.bytes(), lines(1));
        }
    }
}

// J5: also when the remains cannot be cut off at once.
#[test]
fn remains_that_cannot_be_cut_off_are_cut_before_the_next_write() {
    for k in 0..=LINE.len() {
        let disk = Arc::new(FaultyDisk::with(OLD));
        let mut writer = writer(&disk);
        disk.fail_after(0, k, ErrorKind::StorageFull);
        disk.fail_after(1, 0, ErrorKind::Other);
        disk.fail_after(2, 0, ErrorKind::Other);
        assert!(matches!(writer.append(LINE), Err(SessionError::Io { action: "append", .. })));
        let left = disk.bytes();
        assert!(matches!(
            writer.append(LINE),
            Err(SessionError::Io { action: "cut off a failed write", .. })
        ));
        assert_eq!(disk.bytes(), left, "nothing is written behind remains");
        writer.append(LINE).unwrap();
        assert_eq!(disk.bytes(), lines(1));
    }
}

// J7
#[test]
fn short_and_interrupted_writes_are_continued() {
    let disk = Arc::new(FaultyDisk::with(OLD));
    let mut writer = writer(&disk);
    disk.write_short(3);
    disk.fail_after(1, 0, ErrorKind::Interrupted);
    writer.append(LINE).unwrap();
    assert_eq!(disk.bytes(), lines(1));
}

// J7
#[test]
fn a_line_is_written_with_one_call() {
    let disk = Arc::new(FaultyDisk::with(OLD));
    writer(&disk).append(LINE).unwrap();
    assert_eq!(disk.n_operations(), 1);
}

#[test]
fn a_disk_that_takes_nothing_is_an_error_and_no_endless_loop() {
    let disk = Arc::new(FaultyDisk::with(OLD));
    disk.write_short(0);
    let error = writer(&disk).append(LINE).unwrap_err();
    assert!(matches!(&error, SessionError::Io { source, .. } if source.kind() == ErrorKind::WriteZero));
}

// J13
#[test]
fn a_file_that_is_not_as_it_was_left_is_not_written_any_more() {
    let n = OLD.len() as u64;
    for (presence, word) in [
        (Presence::Gone, "deleted"),
        (Presence::Replaced, "another file"),
        (Presence::InPlace { len: n - 1 }, "cut"),
        (Presence::InPlace { len: n + 1 }, "another program wrote"),
    ] {
        let disk = Arc::new(FaultyDisk::with(OLD));
        let mut writer = writer(&disk);
        disk.pretend(presence);
        let error = writer.append(LINE).unwrap_err();
        assert!(matches!(&error, SessionError::ReadOnly { reason, .. } if reason.contains(word)), "{error}");
        disk.pretend(Presence::InPlace { len: n });
        assert!(matches!(writer.append(LINE), Err(SessionError::ReadOnly { .. })), "closed for good");
        assert_eq!(disk.n_operations(), 0);
    }
}

// J13
#[test]
fn a_file_deleted_after_the_append_is_not_confirmed() {
    let disk = Arc::new(FaultyDisk::with(OLD));
    let mut writer = writer(&disk);
    writer.append(LINE).unwrap();
    let Unsynced { len, .. } = writer.begin_sync().unwrap().unwrap();
    disk.pretend(Presence::Gone);
    assert!(matches!(writer.end_sync(len, disk.sync()), Err(SessionError::ReadOnly { .. })));
    assert!(writer.is_pending());
}

// J6
#[test]
fn a_failed_sync_is_never_asked_for_again() {
    let disk = Arc::new(FaultyDisk::with(OLD));
    let mut writer = writer(&disk);
    writer.append(LINE).unwrap();
    let Unsynced { len, .. } = writer.begin_sync().unwrap().unwrap();
    let outcome = writer.end_sync(len, Err(ErrorKind::Other.into()));
    assert!(matches!(outcome, Err(SessionError::Io { action: "sync", .. })));
    assert!(matches!(writer.begin_sync(), Err(SessionError::ReadOnly { .. })));
    assert!(matches!(writer.append(LINE), Err(SessionError::ReadOnly { .. })));
    assert_eq!(disk.bytes(), lines(1), "what was written is left alone");
}

#[test]
fn entries_added_while_syncing_stay_pending() {
    let disk = Arc::new(FaultyDisk::with(OLD));
    let mut writer = writer(&disk);
    assert!(writer.begin_sync().unwrap().is_none());
    writer.append(LINE).unwrap();
    let Unsynced { len, .. } = writer.begin_sync().unwrap().unwrap();
    writer.append(LINE).unwrap();
    writer.end_sync(len, Ok(())).unwrap();
    assert!(writer.is_pending());
    let Unsynced { len, .. } = writer.begin_sync().unwrap().unwrap();
    writer.end_sync(len, Ok(())).unwrap();
    assert!(!writer.is_pending());
}
