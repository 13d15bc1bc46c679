//! How random a text looks.

/// Whether a row of letters is one that nobody reads: its case changes as no name's does, between parts without a vowel.
pub(super) fn is_chaotic(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() < 10 || !bytes.iter().all(u8::is_ascii_alphabetic) {
        return false;
    }
    let changes =
        bytes.windows(2).filter(|pair| pair[0].is_ascii_lowercase() != pair[1].is_ascii_lowercase()).count();
    let is_vowel = |byte: u8| matches!(byte.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
    let mut humps = bytes.chunk_by(|left, right| !(left.is_ascii_lowercase() && right.is_ascii_uppercase()));
    changes * 4 >= bytes.len() && humps.any(|hump| !hump.iter().any(|byte| is_vowel(*byte)))
}

/// Whether a token's body is more than a row of the same letter, as placeholders in documents are.
pub(super) fn varies(body: &[u8]) -> bool {
    let has = |belongs: fn(&u8) -> bool| body.iter().any(belongs);
    let mixed = has(u8::is_ascii_digit) || (has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase));
    mixed && distinct(body) >= 7 && !body.ends_with(b"EXAMPLE")
}

/// As [`varies`], for capital letters and digits alone.
pub(super) fn varies_in_capitals(body: &[u8]) -> bool {
    distinct(body) >= 7 && !body.ends_with(b"EXAMPLE")
}

/// Whether a value looks made by a machine: letters and digits, and no words with numbers behind them.
pub(super) fn is_random(text: &str) -> bool {
    let bytes = text.as_bytes();
    let letters = bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    if bytes.len() < 8 || letters == 0 || is_wordy(text) {
        return false;
    }
    let is_mixed =
        digits > 0 || is_chaotic(text) || (bytes.len() >= 20 && case_changes(bytes) * 3 >= bytes.len());
    is_mixed && distinct(bytes) >= 6 && bits(bytes) >= if bytes.len() >= 16 { 2.8 } else { 2.0 }
}

/// Whether a text without any name is a key rather than an id: all kinds of characters, evenly spread.
pub(super) fn is_dense(bytes: &[u8]) -> bool {
    let count = |belongs: fn(&u8) -> bool| bytes.iter().filter(|byte| belongs(byte)).count();
    let enough = count(u8::is_ascii_digit) >= 3
        && count(u8::is_ascii_lowercase) >= 5
        && count(u8::is_ascii_uppercase) >= 5;
    enough && count(|byte| *byte == b'/') <= 3 && bits(bytes) >= 4.2
}

/// Whether a text is made of words: parts that are letters, or letters with a short number, or a number.
pub(super) fn is_wordy(text: &str) -> bool {
    if text.bytes().any(|byte| matches!(byte, b'!' | b'#' | b'%' | b'^' | b'*' | b'~' | b'$' | b'+')) {
        return false;
    }
    let parts = text.split(|character: char| !character.is_alphanumeric()).filter(|part| !part.is_empty());
    let mut longest = 0;
    for part in parts {
        let letters = part.trim_end_matches(|character: char| character.is_ascii_digit());
        let digits = part.len() - letters.len();
        let is_word = letters.chars().all(char::is_alphabetic)
            && case_changes(letters.as_bytes()) * 3 < letters.len().max(3)
            && !is_chaotic(letters);
        let is_part = is_word && (digits <= 4 || letters.is_empty() && digits <= 8);
        if !is_part && !is_short_mix(part) {
            return false;
        }
        longest = longest.max(part.len());
    }
    longest <= 32
}

/// `k8s`, `i18n`, `2fa`, `v1beta1`.
fn is_short_mix(part: &str) -> bool {
    part.len() <= 5 || (part.len() <= 8 && part.starts_with('v'))
}

fn case_changes(bytes: &[u8]) -> usize {
    let pairs = bytes.windows(2);
    pairs.filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()).count() * 2
}

fn counts(bytes: &[u8]) -> [u16; 256] {
    let mut counts = [0u16; 256];
    for byte in bytes.iter().take(usize::from(u16::MAX)) {
        counts[usize::from(*byte)] += 1;
    }
    counts
}

fn distinct(bytes: &[u8]) -> usize {
    counts(bytes).iter().filter(|count| **count > 0).count()
}

/// Shannon's entropy, in bits for each character.
fn bits(bytes: &[u8]) -> f32 {
    let length = bytes.len().max(1) as f32;
    let seen = counts(bytes);
    seen.iter()
        .filter(|count| **count > 0)
        .map(|count| f32::from(*count) / length)
        .map(|share| -share * share.log2())
        .sum()
}

#[cfg(test)]
#[path = "chance_tests.rs"]
mod tests;
