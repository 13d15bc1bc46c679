//! Bytes of a page as text.

/// What bytes 0x80 to 0x9f mean on pages that call themselves Latin-1: browsers read them as Windows-1252. The five that are not
/// assigned stay as they are.
const WINDOWS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// How far into a page its character set is looked for, as in browsers.
const LOOKED_AT: usize = 1_024;

/// The text, and the name of the character set if it is one that is not known here; then the text is read as UTF-8.
pub(crate) fn decode(bytes: &[u8], content_type: &str) -> (String, Option<String>) {
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => return (String::from_utf8_lossy(rest).into_owned(), None),
        [0xff, 0xfe, rest @ ..] => return (utf16(rest, u16::from_le_bytes), None),
        [0xfe, 0xff, rest @ ..] => return (utf16(rest, u16::from_be_bytes), None),
        _ => {}
    }
    let declared = named(content_type).or_else(|| {
        let start = &bytes[..bytes.len().min(LOOKED_AT)];
        named(&String::from_utf8_lossy(start).to_ascii_lowercase())
    });
    match declared.as_deref() {
        Some("iso-8859-1" | "latin1" | "latin-1" | "windows-1252" | "cp1252" | "us-ascii" | "ascii") => {
            (windows(bytes), None)
        }
        Some("utf-8" | "utf8") => (String::from_utf8_lossy(bytes).into_owned(), None),
        Some(other) => (String::from_utf8_lossy(bytes).into_owned(), Some(other.to_owned())),
        // A page that says nothing is UTF-8, or it is what all pages once were. One that was cut may end within a letter.
        None => match std::str::from_utf8(bytes) {
            Ok(text) => (text.to_owned(), None),
            Err(error) if error.error_len().is_none() => (String::from_utf8_lossy(bytes).into_owned(), None),
            Err(_) => (windows(bytes), None),
        },
    }
}

fn named(text: &str) -> Option<String> {
    let (_, after) = text.split_once("charset")?;
    let after = after.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || "-_:.".contains(c))).unwrap_or(after.len());
    let name = after[..end].to_ascii_lowercase();
    (!name.is_empty() && name.len() <= 40).then_some(name)
}

fn windows(bytes: &[u8]) -> String {
    let letter = |byte: &u8| match byte {
        0x80..=0x9f => WINDOWS[usize::from(byte - 0x80)],
        other => char::from(*other),
    };
    bytes.iter().map(letter).collect()
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
#[path = "charset_tests.rs"]
mod tests;
