use super::*;
use crate::faulty::FaultyDisk;
use capstan_ports::Message;
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// A file of a header and messages, and the offset after each line.
fn sample(texts: &[String]) -> (Vec<u8>, Vec<usize>) {
    let mut tree = Tree::new(Header::new(Path::new("/wörk")));
    let mut bytes = (tree.header().to_line().unwrap() + "\n").into_bytes();
    let mut ends = vec![bytes.len()];
    for text in texts {
        let entry = tree.next(EntryKind::message(Arc::new(Message::user(text))), None).unwrap();
        bytes.extend((entry.to_line().unwrap() + "\n").into_bytes());
        ends.push(bytes.len());
        tree.push(entry).unwrap();
    }
    (bytes, ends)
}

fn texts(scan: &mut Scan) -> Vec<String> {
    scan.tree.context().messages.iter().map(|message| message.text()).collect()
}

/// What is found in these bytes, whatever stretches they are read in.
fn scanned(bytes: &[u8]) -> Result<Scan, ScanError> {
    let disk: Arc<dyn Disk> = Arc::new(FaultyDisk::with(bytes));
    let whole = scan(&disk);
    for stretch_bytes in [1, 7, 64] {
        let pieces = scan_in_stretches(&disk, stretch_bytes);
        assert_eq!(summary(&pieces), summary(&whole), "in stretches of {stretch_bytes}");
    }
    whole
}

fn summary(found: &Result<Scan, ScanError>) -> Option<String> {
    let Scan { tree, good_len, tail, damage, n_opaque } = found.as_ref().ok()?;
    let lines: Vec<_> = tree.copies().unwrap().iter().map(|entry| entry.line().unwrap()).collect();
    Some(format!("{lines:?} {good_len} {tail:?} {damage:?} {n_opaque}"))
}

#[test]
fn a_whole_file_is_read_whole() {
    let words = ["a".to_owned(), "ü\n".into()];
    let (bytes, _) = sample(&words);
    let mut scan = scanned(&bytes[..]).unwrap();
    assert_eq!(texts(&mut scan), words);
    assert_eq!((scan.good_len, scan.tail, scan.n_opaque), (bytes.len() as u64, Tail::Empty, 0));
    assert!(scan.damage.is_none());
}

// 001-132, J2, J3, J4: a tear at every byte, also inside characters, leaves exactly the entries before it.
#[test]
fn whatever_byte_a_file_is_torn_at_the_entries_before_it_are_found() {
    let words: Vec<String> = ["first", "zwölf 😀", ""].map(String::from).to_vec();
    let (bytes, ends) = sample(&words);
    for cut in 0..=bytes.len() {
        check_tear(&bytes, &ends, &words, cut);
    }
}

fn check_tear(bytes: &[u8], ends: &[usize], words: &[String], cut: usize) {
    let found = scanned(&bytes[..cut]);
    if cut + 1 < ends[0] {
        assert!(matches!(found, Err(ScanError::Header(_))), "a torn header is no session (cut at {cut})");
        return;
    }
    let mut found = found.unwrap();
    // A line that only lacks its end counts.
    let n_whole = ends.iter().filter(|end| **end <= cut + 1).count();
    let n_ended = ends.iter().filter(|end| **end <= cut).count();
    assert_eq!(texts(&mut found), words[..n_whole - 1], "cut at {cut}");
    assert!(found.damage.is_none(), "cut at {cut}");
    let good = if n_ended == 0 { 0 } else { ends[n_ended - 1] };
    assert_eq!(found.good_len, good as u64);
    let rest = &bytes[good..cut];
    let expected = match rest {
        [] => Tail::Empty,
        _ if n_whole > n_ended => Tail::Whole(rest.len() as u64),
        _ => Tail::Torn(rest.to_vec()),
    };
    assert_eq!(found.tail, expected, "cut at {cut}");
}

// 001-133, J10
#[test]
fn a_damaged_line_is_named_and_what_follows_continues_what_was_before() {
    let words: Vec<String> = ["one", "two", "three", "four"].map(String::from).to_vec();
    let (mut bytes, ends) = sample(&words);
    bytes[ends[1] + 3] = 0;
    let mut found = scanned(&bytes[..]).unwrap();
    assert_eq!(found.damage.as_ref().unwrap().line, 3);
    assert_eq!(texts(&mut found), ["one", "three", "four"]);
    assert_eq!(found.good_len, bytes.len() as u64);
    let copies = found.tree.copies().unwrap();
    assert_eq!(copies[1].entry().parent_id.as_ref(), Some(&copies[0].entry().id), "a copy closes the gap");
}

// J11
#[test]
fn a_repeated_id_is_damage() {
    let (mut bytes, ends) = sample(&["one".into()]);
    let again = bytes[ends[0]..].to_vec();
    bytes.extend(again);
    let found = scanned(&bytes[..]).unwrap();
    let damage = found.damage.unwrap();
    assert_eq!(damage.line, 3);
    assert!(matches!(damage.error, LineError::DuplicateId(_)));
}

// J15: a clock that jumps backwards moves nothing.
#[test]
fn the_order_is_that_of_the_lines_and_not_that_of_the_times() {
    let words: Vec<String> = ["one", "two", "three"].map(String::from).to_vec();
    let (bytes, _) = sample(&words);
    let mut text = String::from_utf8(bytes).unwrap();
    let times: Vec<_> = text
        .lines()
        .skip(1)
        .map(|line| StoredEntry::parse(line.as_bytes()).unwrap().entry().timestamp.clone())
        .collect();
    for (n, time) in times.iter().enumerate() {
        let at = text.rfind(time.as_str()).unwrap();
        text.replace_range(at..at + time.len(), &format!("20{:02}-01-01T00:00:00.000Z", 30 + n));
    }
    let mut found = scanned(text.as_bytes()).unwrap();
    let entries: Vec<_> = found.tree.entries().cloned().collect();
    assert!(entries.windows(2).all(|pair| pair[0].timestamp > pair[1].timestamp), "the times go backwards");
    assert_eq!(texts(&mut found), words);
    assert_eq!(found.tree.leaf(), Some(&entries[2].id));
}

// J12: many entries in one chain. More of them with optimisations, where they take no longer.
#[test]
fn a_chain_of_very_many_entries_is_read_and_walked() {
    let n: usize = if cfg!(debug_assertions) { 200_000 } else { 1_000_000 };
    let (mut bytes, _) = sample(&[]);
    let mut parent = String::from("null");
    for at in 0..n {
        let line = format!(
            "{{\"type\":\"message\",\"id\":\"{at:08x}\",\"parentId\":{parent},\"message\":{{\"role\":\"user\",\"content\":\"\"}}}}\n"
        );
        bytes.extend(line.into_bytes());
        parent = format!("\"{at:08x}\"");
    }
    let disk: Arc<dyn Disk> = Arc::new(FaultyDisk::with(&bytes));
    let found = scan(&disk).unwrap();
    assert!(found.damage.is_none());
    assert_eq!(found.tree.branch().count(), n);
    assert_eq!(found.tree.context().messages.len(), n);
}

#[test]
fn blank_lines_mean_nothing() {
    let (mut bytes, ends) = sample(&["one".into()]);
    bytes.splice(ends[0]..ends[0], *b"\n  \r\n");
    let mut found = scanned(&bytes[..]).unwrap();
    assert_eq!(texts(&mut found), ["one"]);
    assert!(found.damage.is_none());
    assert_eq!(found.good_len, bytes.len() as u64);
}

#[test]
fn a_tail_of_zeros_is_torn() {
    let (mut bytes, ends) = sample(&["one".into()]);
    bytes.extend([0; 512]);
    let found = scanned(&bytes[..]).unwrap();
    assert_eq!(found.good_len, ends[1] as u64);
    assert_eq!(found.tail, Tail::Torn(vec![0; 512]));
}

#[test]
fn messages_that_are_not_understood_are_counted() {
    let (mut bytes, _) = sample(&[]);
    bytes.extend_from_slice(
        br#"{"type":"message","id":"a","parentId":null,"message":{"role":"bashExecution"}}"#,
    );
    bytes.push(b'\n');
    assert_eq!(scanned(&bytes[..]).unwrap().n_opaque, 1);
}

// J17, in part: lines of another shape are no damage in a newer format.
#[test]
fn a_newer_format_is_not_called_damaged() {
    let bytes = b"{\"type\":\"session\",\"version\":4,\"id\":\"a\"}\n[\"new\"]\n";
    let found = scanned(&bytes[..]).unwrap();
    assert!(found.damage.is_none());
    assert_eq!(found.tree.header().version, 4);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn recovery_after_any_tear_finds_a_prefix(
        words in proptest::collection::vec("[a-zé😀\n\"]{0,12}", 1..5),
        cut in any::<proptest::sample::Index>(),
    ) {
        let (bytes, ends) = sample(&words);
        check_tear(&bytes, &ends, &words, cut.index(bytes.len() + 1));
    }

    #[test]
    fn scanning_any_bytes_after_a_header_never_panics(
        rest in proptest::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(b'{')], 0..128),
    ) {
        let (mut bytes, _) = sample(&[]);
        bytes.extend(rest);
        let found = scanned(&bytes[..]).unwrap();
        let tail = match &found.tail {
            Tail::Empty => 0,
            Tail::Whole(n) => *n,
            Tail::Torn(bytes) => bytes.len() as u64,
        };
        prop_assert_eq!(found.good_len + tail, bytes.len() as u64);
    }

    #[test]
    fn scanning_any_bytes_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..128)) {
        prop_assert!(scanned(&bytes[..]).is_err(), "random bytes are no session");
    }
}
