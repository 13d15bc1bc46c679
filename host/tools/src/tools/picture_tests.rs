use super::*;

/// The first bytes of a picture of 3 by 2 pixels; nothing that looks at headers needs more.
pub(in crate::tools) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x03\0\0\0\x02";

fn png(width: u32, height: u32) -> Vec<u8> {
    [&PNG[..16], &width.to_be_bytes(), &height.to_be_bytes()].concat()
}

fn refused(bytes: &[u8]) -> String {
    let mime_type = mime_type(bytes).unwrap();
    shown("a.png", mime_type, bytes).unwrap_err().to_string()
}

// 001-097
#[test]
fn the_four_formats_are_known_by_their_first_bytes() {
    let jpeg = [
        b"\xFF\xD8\xFF\xE0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0".as_slice(),
        b"\xFF\xC0\0\x11\x08\0\x02\0\x03\x03\x01\x22\0\x02\x11\x01\x03\x11\x01",
    ]
    .concat();
    let webp = [b"RIFF\x24\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0".as_slice(), b"\x02\0\0\x01\0\0"].concat();
    let samples: [(&[u8], &str); 4] = [
        (PNG, "image/png"),
        (&jpeg, "image/jpeg"),
        (b"GIF89a\x03\0\x02\0\0\0\0", "image/gif"),
        (&webp, "image/webp"),
    ];
    for (bytes, expected) in samples {
        let outcome = shown("a", mime_type(bytes).unwrap(), bytes).unwrap();
        let image = Content::Image { data: STANDARD.encode(bytes), mime_type: expected.to_owned() };
        assert_eq!(outcome.content[1], image);
        let Content::Text { text } = &outcome.content[0] else { panic!("text first") };
        assert!(text.starts_with(&format!("[Image {expected}, 3x2 pixels, ")), "{text}");
    }
    assert_eq!(mime_type(b"BM"), None);
    assert_eq!(mime_type(b""), None);
}

// 001-097
#[test]
fn a_picture_larger_than_providers_take_is_refused_with_a_way_on() {
    let mut bytes = png(3, 2);
    bytes.resize(MAX_PICTURE_BYTES, 0);
    let whole = shown("a.png", "image/png", &bytes).unwrap();
    let Content::Image { data, .. } = &whole.content[1] else { panic!("a picture") };
    assert!(data.len() <= MAX_ENCODED_BYTES);
    bytes.push(0);
    let error = refused(&bytes);
    assert!(error.contains("3.4MB") && error.contains("scale it down with bash"), "{error}");
    assert!(refused(&png(8001, 1)).contains("8001x1 pixels"));
    assert!(shown("a.png", "image/png", &png(8000, 8000)).is_ok());
}

// 001-097
#[test]
fn a_damaged_picture_is_not_sent() {
    assert!(refused(b"\x89PNG\r\n\x1a\nrest").contains("may be damaged"));
    assert!(refused(b"\xFF\xD8\xFF").contains("may be damaged"));
}
