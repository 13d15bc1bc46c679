use super::*;

#[test]
fn a_file_agrees_until_it_is_another_than_the_one_read() {
    let known = KnownFiles::new();
    let path = Path::new("/a");
    assert!(known.agrees(path, &digest(b"anything")), "nothing is known of it");
    known.read(path, digest(b"one"));
    assert!(known.agrees(path, &digest(b"one")));
    assert!(!known.agrees(path, &digest(b"two")));
    known.wrote(path, digest(b"two"));
    assert!(known.agrees(path, &digest(b"two")));
    known.wrote(Path::new("/b"), digest(b"one"));
    assert!(known.agrees(Path::new("/b"), &digest(b"two")), "it was never read");
}

#[test]
fn the_memory_is_bounded_and_forgets_what_was_read_longest_ago() {
    let known = KnownFiles::new();
    let path = |n: usize| PathBuf::from(format!("/{n}"));
    known.read(&path(0), digest(b"x"));
    known.read(&path(1), digest(b"x"));
    known.read(&path(0), digest(b"x"));
    for n in 2..=MAX_FILES {
        known.read(&path(n), digest(b"x"));
    }
    assert_eq!(known.known().by_path.len(), MAX_FILES);
    assert!(known.agrees(&path(1), &digest(b"y")), "forgotten");
    assert!(!known.agrees(&path(0), &digest(b"y")), "read again since");
}
