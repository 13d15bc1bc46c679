use super::*;
use crate::disk::Presence;
use crate::faulty::FaultyDisk;
use proptest::prelude::*;

/// The lines that are found, each with whether it has an end.
fn lines(bytes: &[u8], from: usize, stretch_bytes: u64) -> Vec<(Vec<u8>, bool)> {
    let disk = FaultyDisk::with(bytes);
    let mut found = Vec::new();
    each_line(&disk, from as u64..bytes.len() as u64, stretch_bytes, <[u8]>::to_vec, |line| {
        let ended = line.unended.is_none();
        match (&line.read, &line.unended) {
            (Some(read), Some(unended)) => assert_eq!(read, unended),
            (None, unended) => assert_eq!(unended, &None),
            (Some(_), None) => {}
        }
        let blank = || [vec![b' '; line.n_bytes - 1], vec![b'\n']].concat();
        let read = line.read.clone().unwrap_or_else(blank);
        assert_eq!(read.len(), line.n_bytes);
        found.push((read, ended));
    })
    .unwrap();
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn lines_come_whole_and_in_order_whatever_the_stretches_are(
        bytes in proptest::collection::vec(prop_oneof![4 => Just(b'x'), 1 => Just(b'\n'), 1 => Just(b'y')], 0..120),
        stretch_bytes in 1u64..40,
        from in any::<proptest::sample::Index>(),
    ) {
        let starts: Vec<_> =
            std::iter::once(0).chain(bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1)).collect();
        let from = *from.get(&starts);
        let expected: Vec<_> = bytes[from..]
            .split_inclusive(|byte| *byte == b'\n')
            .map(|line| (line.to_vec(), line.ends_with(b"\n")))
            .collect();
        prop_assert_eq!(lines(&bytes, from, stretch_bytes), expected);
    }
}

#[test]
fn a_line_may_be_longer_than_many_stretches() {
    let long = "x".repeat(10_000) + "\n";
    let bytes = format!("a\n{long}b");
    let found = lines(bytes.as_bytes(), 0, 16);
    assert_eq!(found, [(b"a\n".to_vec(), true), (long.into_bytes(), true), (b"b".to_vec(), false)]);
}

#[test]
fn the_first_line_is_found_however_long_it_is() {
    for n in [0, 1, 4_094, 4_095, 4_096, 4_097, 20_000] {
        let first = "h".repeat(n) + "\n";
        let disk = FaultyDisk::with(format!("{first}rest").as_bytes());
        assert_eq!(first_line(&disk, disk.n_bytes().unwrap()).unwrap(), first.as_bytes());
        let without_end = FaultyDisk::with("h".repeat(n).as_bytes());
        assert_eq!(first_line(&without_end, n as u64).unwrap(), "h".repeat(n).as_bytes());
    }
}

/// A file that is cut while it is read.
struct Shrinking(FaultyDisk);

impl Disk for Shrinking {
    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        self.0.append(bytes)
    }
    fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }
    fn truncate(&self, len: u64) -> io::Result<()> {
        self.0.truncate(len)
    }
    fn presence(&self) -> io::Result<Presence> {
        self.0.presence()
    }
    fn n_bytes(&self) -> io::Result<u64> {
        self.0.n_bytes()
    }
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        let n = self.0.read_at(into, offset);
        self.0.truncate(50)?;
        n
    }
}

// J13
#[test]
fn a_file_that_becomes_shorter_while_it_is_read_is_an_error_and_no_shorter_session() {
    let disk = Shrinking(FaultyDisk::with("0123456789\n".repeat(100).as_bytes()));
    let error = each_line(&disk, 0..1100, 10, |_| (), drop).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
}
