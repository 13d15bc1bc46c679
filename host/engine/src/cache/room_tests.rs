use super::*;
use std::fs::File;
use tempfile::TempDir;

const OURS: u64 = 0xa1;
const OTHER: u64 = 0xb2;

struct Store {
    folder: TempDir,
    now: SystemTime,
}

impl Store {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), now: SystemTime::now() }
    }

    /// A file of the store that was last used so long ago.
    fn file(&self, name: &str, bytes: usize, age: Duration) {
        let path = self.folder.path().join(name);
        fs::write(&path, vec![0; bytes]).unwrap();
        File::open(path).unwrap().set_modified(self.now - age).unwrap();
    }

    /// Code and descriptor of one extension, 100 bytes together.
    fn entry(&self, n: u8, compatibility: u64, age: Duration) {
        let stem = format!("{}-{compatibility:016x}", Digest([n; 32]));
        self.file(&format!("{stem}.cwasm"), 90, age);
        self.file(&format!("{stem}.json"), 10, age + Duration::from_secs(5));
    }

    fn make_room(&self, max_bytes: u64) -> Removed {
        make_room(self.folder.path(), OURS, max_bytes, self.now).unwrap()
    }

    /// First bytes of the digests that are left, the most recently used first.
    fn left(&self) -> Vec<u8> {
        entries(self.folder.path()).unwrap().iter().map(|entry| entry.digest.0[0]).collect()
    }

    fn files(&self) -> usize {
        fs::read_dir(self.folder.path()).unwrap().count()
    }
}

fn minutes(n: u64) -> Duration {
    Duration::from_secs(60 * n)
}

// K10
#[test]
fn the_least_recently_used_goes_first_code_and_descriptor_together() {
    let store = Store::new();
    for (n, age) in [(1, 3), (2, 40), (3, 1), (4, 20)] {
        store.entry(n, OURS, minutes(age));
    }
    assert_eq!(store.make_room(400), Removed::default(), "all of it fits");
    assert_eq!(store.make_room(250), Removed { entries: 2, bytes: 200 });
    assert_eq!((store.left(), store.files()), (vec![3, 1], 4));
}

// K10
#[test]
fn a_bound_below_one_entry_empties_the_store() {
    let store = Store::new();
    store.entry(1, OURS, minutes(1));
    assert_eq!(store.make_room(99), Removed { entries: 1, bytes: 100 });
    assert_eq!(store.files(), 0);
}

// K7, K10
#[test]
fn code_of_other_versions_goes_when_it_is_old_whatever_the_room() {
    let store = Store::new();
    let days = |n: u64| minutes(n * 24 * 60);
    store.entry(1, OTHER, days(31));
    store.entry(2, OTHER, days(29));
    store.entry(3, OURS, days(300));
    store.make_room(u64::MAX);
    assert_eq!(store.left(), [2, 3]);
}

#[test]
fn half_written_files_go_when_nobody_can_be_writing_them_any_more() {
    let store = Store::new();
    let stem = format!("{}-{OURS:016x}", Digest([1; 32]));
    store.file(&format!("{stem}.00000000000000ff.tmp"), 50, minutes(61));
    store.file(&format!("{stem}.00000000000000aa.tmp"), 50, minutes(1));
    store.make_room(u64::MAX);
    assert_eq!(store.files(), 1);
    clear(store.folder.path()).unwrap();
    assert_eq!(store.files(), 1, "another process may be writing it");
}

#[test]
fn what_is_no_entry_is_neither_counted_nor_removed() {
    let store = Store::new();
    store.file("README", 1000, minutes(1));
    store.file("0123-0000.cwasm", 1000, minutes(1));
    fs::create_dir(store.folder.path().join("sub")).unwrap();
    store.entry(1, OURS, minutes(1));
    assert_eq!(store.make_room(100), Removed::default());
    assert_eq!(clear(store.folder.path()).unwrap(), Removed { entries: 1, bytes: 100 });
    assert_eq!(store.files(), 3);
}

#[test]
fn a_store_that_was_never_made_is_empty() {
    let store = Store::new();
    let nowhere = store.folder.path().join("nowhere");
    assert!(entries(&nowhere).unwrap().is_empty());
    assert_eq!(clear(&nowhere).unwrap(), Removed::default());
}
