use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

fn line(text: &str) -> Frame {
    Frame::Line(text.as_bytes().to_vec())
}

fn split(pieces: &[&[u8]]) -> Vec<Frame> {
    let mut splitter = Splitter::new(MAX_LINE_BYTES);
    let mut frames: Vec<_> = pieces.iter().flat_map(|piece| splitter.push(piece)).collect();
    frames.extend(splitter.finish());
    frames
}

// 001-143
#[test]
fn only_a_line_feed_ends_a_line() {
    let text = "a\u{2028}b\u{2029}c\u{85}d\u{b}e\u{c}f\rg";
    assert_eq!(split(&[format!("{text}\nnext\n").as_bytes()]), [line(text), line("next")]);
}

// 001-143
#[test]
fn a_line_of_a_megabyte_in_pieces_of_three_bytes_is_one_line() {
    let text = "\u{2028}é😀x".repeat(110_000);
    let bytes = format!("{text}\n{{}}\n");
    let pieces: Vec<&[u8]> = bytes.as_bytes().chunks(3).collect();
    assert!(text.len() > 1_000_000);
    assert_eq!(split(&pieces), [line(&text), line("{}")]);
}

#[test]
fn one_carriage_return_before_the_end_is_left_out() {
    assert_eq!(split(&[b"a\r\nb\r\r\n\r\n"]), [line("a"), line("b\r"), line("")]);
    assert_eq!(split(&[b"a\r", b"\nlast\r"]), [line("a"), line("last")]);
}

#[test]
fn the_last_line_may_lack_its_end() {
    assert_eq!(split(&[b"a\nb"]), [line("a"), line("b")]);
    assert_eq!(split(&[b"a\n"]), [line("a")]);
    assert_eq!(split(&[]), []);
}

#[test]
fn a_line_that_is_too_long_is_counted_and_not_kept() {
    let mut splitter = Splitter::new(4);
    assert_eq!(splitter.push(b"1234\n12345\n1"), [line("1234"), Frame::TooLong(5)]);
    for _ in 0..100 {
        assert_eq!(splitter.push(b"23456789"), []);
        assert!(splitter.kept.capacity() < 64);
    }
    assert_eq!(splitter.push(b"\nab\n"), [Frame::TooLong(801), line("ab")]);
    assert_eq!(splitter.finish(), None);
}

#[tokio::test]
async fn lines_come_from_a_reader_to_its_end() {
    let mut frames = lines(std::io::Cursor::new(b"a\n\nb".to_vec())).unwrap();
    let mut all = Vec::new();
    while let Some(frame) = frames.recv().await {
        all.push(frame);
    }
    assert_eq!(all, [line("a"), line(""), line("b")]);
}

proptest! {
    // 001-143: however the pipe cuts the bytes, the lines are those between the line feeds.
    #[test]
    fn the_lines_do_not_depend_on_how_the_bytes_are_cut(
        bytes in vec(prop_oneof![3 => any::<u8>(), 1 => Just(b'\n'), 1 => Just(b'\r')], 0..300),
        cuts in vec(1_usize..9, 1..50),
    ) {
        let mut expected: Vec<_> = bytes.split(|byte| *byte == b'\n').collect();
        if expected.last().is_some_and(|last| last.is_empty()) {
            expected.pop();
        }
        let expected: Vec<_> = expected
            .into_iter()
            .map(|line| Frame::Line(line.strip_suffix(b"\r").unwrap_or(line).to_vec()))
            .collect();
        let (mut rest, mut pieces, mut cut) = (&bytes[..], Vec::new(), cuts.iter().cycle());
        while !rest.is_empty() {
            let (piece, more) = rest.split_at(rest.len().min(*cut.next().unwrap()));
            pieces.push(piece);
            rest = more;
        }
        prop_assert_eq!(split(&pieces), expected);
    }
}
