//! Two properties of JSON text that serde_json treats as fatal although other programs write such lines.

/// Most levels of arrays and objects in a line. The reader gives up at 128; the symptom would be a session whose last
/// line can never be read again.
pub(crate) const MAX_DEPTH: usize = 120;

/// Replaces escapes of lone surrogates by the escape of the replacement character.
///
/// JavaScript strings may be cut inside a character pair, and its serialiser writes the remaining half as an escape.
/// No Rust string can hold that. Returns `None` when there is nothing to replace.
pub(crate) fn without_lone_surrogates(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut mended = String::new();
    let mut copied_to = 0;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        match unit_at(bytes, at) {
            Some(0xD800..=0xDBFF) if matches!(unit_at(bytes, at + 6), Some(0xDC00..=0xDFFF)) => at += 12,
            Some(0xD800..=0xDFFF) => {
                mended.push_str(&text[copied_to..at]);
                mended.push_str("\\ufffd");
                at += 6;
                copied_to = at;
            }
            // Any other escape: the escaped character must not be taken for the start of the next escape. Only ASCII
            // is skipped, so that `at` stays on a character boundary.
            _ => at += 2,
        }
    }
    (copied_to > 0).then(|| {
        mended.push_str(text.get(copied_to..).unwrap_or_default());
        mended
    })
}

/// The UTF-16 unit that the escape at `at` stands for.
fn unit_at(bytes: &[u8], at: usize) -> Option<u16> {
    let escape = bytes.get(at..at + 6)?;
    let digits = escape.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0u16, |unit, digit| {
        let value = (*digit as char).to_digit(16)?;
        Some(unit << 4 | value as u16)
    })
}

/// Levels of arrays and objects in JSON text.
pub(crate) fn depth(json: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0usize, 0usize);
    let (mut in_string, mut escaped) = (false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
#[path = "mend_tests.rs"]
mod tests;
