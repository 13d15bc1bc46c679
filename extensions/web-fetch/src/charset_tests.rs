use proptest::prelude::*;

use super::*;

#[test]
fn character_sets_are_taken_from_the_header_the_page_or_the_bytes() {
    let cases: [(&[u8], &str, &str); 8] = [
        ("é".as_bytes(), "text/html; charset=utf-8", "é"),
        (b"\xe9\x80", "text/html; charset=ISO-8859-1", "é€"),
        (b"\xe9\x93", "text/html; charset=\"windows-1252\"", "é“"),
        (b"<meta charset='latin1'>\xe9", "text/html", "<meta charset='latin1'>é"),
        ("é".as_bytes(), "", "é"),
        (b"\xe9 a", "", "é a"),
        (b"\xff\xfea\0\xe9\0", "", "aé"),
        (b"\xfe\xff\0a", "text/html; charset=utf-8", "a"),
    ];
    for (bytes, content_type, text) in cases {
        assert_eq!(decode(bytes, content_type), (text.to_owned(), None), "{content_type}");
    }
    assert_eq!(decode(b"\xef\xbb\xbfa", "").0, "a");
    assert_eq!(decode("né".as_bytes().split_last().unwrap().1, "").0, "n\u{fffd}", "cut within a letter");
}

#[test]
fn a_character_set_that_is_not_known_is_named() {
    assert_eq!(decode(b"a", "text/html; charset=Shift_JIS"), ("a".to_owned(), Some("shift_jis".to_owned())));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), content_type in "(charset)?[=\"' ;a-z0-9]{0,20}") {
        let _decoded = decode(&bytes, &content_type);
    }
}
