//! One member of a JSON object, without reading the rest into memory.
//!
//! Most gates look at one text argument. Through `serde_json::Value` that would more than double their size.

/// The text of a member of the object that a JSON text is; `None` where there is none, or where it is no text. Of several
/// members with the name the last one counts, as everywhere in this crate. The text must be JSON: what comes from the host is.
pub(crate) fn text(json: &str, name: &str) -> Option<String> {
    let bytes = json.as_bytes();
    let (mut at, mut depth, mut found) = (0, 0_u32, None);
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = end_of_text(bytes, at)?;
                // `get`, because the text of a failed slice would cost more than all of this.
                let key = json.get(at..end)?;
                at = end + 1;
                // Of all texts only the names of members have a colon after them.
                let colon = after_space(bytes, at);
                if depth != 1 || bytes.get(colon) != Some(&b':') {
                    continue;
                }
                at = after_space(bytes, colon + 1);
                if key == name || key.contains('\\') && unescaped(key).as_deref() == Some(name) {
                    found = match bytes.get(at) {
                        Some(b'"') => unescaped(json.get(at + 1..end_of_text(bytes, at + 1)?)?),
                        _ => None,
                    };
                }
            }
            _ => {}
        }
    }
    found
}

/// Where the closing quotation mark of a text is that begins here.
fn end_of_text(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn after_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
        at += 1;
    }
    at
}

/// What stands between quotation marks, with its escapes carried out. `None` for half of a surrogate pair, which no text has.
fn unescaped(raw: &str) -> Option<String> {
    let mut whole = String::with_capacity(raw.len());
    let mut rest = raw.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            whole.push(character);
            continue;
        }
        whole.push(match rest.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => match unit(&mut rest)? {
                high @ 0xd800..0xdc00 => {
                    if (rest.next(), rest.next()) != (Some('\\'), Some('u')) {
                        return None;
                    }
                    let low = unit(&mut rest)?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
                    char::from_u32(0x10000 + ((high - 0xd800) << 10) + low)?
                }
                unit => char::from_u32(unit)?,
            },
            // A quotation mark, a backslash, a slash.
            other => other,
        });
    }
    Some(whole)
}

/// Four hexadecimal digits.
fn unit(rest: &mut std::str::Chars<'_>) -> Option<u32> {
    let mut unit = 0;
    for _ in 0..4 {
        unit = unit << 4 | rest.next()?.to_digit(16)?;
    }
    Some(unit)
}

#[cfg(test)]
#[path = "member_tests.rs"]
mod tests;
