//! Authorization headers, cookies, and `Bearer` wherever it stands.

use super::{Finding, chance, short_run, values};

const MAX_VALUE: usize = 4096;

/// Words before the credential of an authorization header.
const SCHEMES: [&str; 9] =
    ["bearer ", "basic ", "token ", "digest ", "apikey ", "api-key ", "negotiate ", "bot ", "ssws "];

/// Adds the credentials of a header whose colon (or `=`) stands at `at`. Answers whether it is such a header.
pub(super) fn at(text: &str, at: usize, found: &mut Vec<Finding<'_>>) -> bool {
    let bytes = text.as_bytes();
    let name_end = at
        - bytes[..at]
            .iter()
            .rev()
            .take(4)
            .take_while(|byte| matches!(byte, b'"' | b'\'' | b'\\' | b' ' | b']'))
            .count();
    let ends_with = |name: &str| {
        let start = name_end.checked_sub(name.len());
        start.is_some_and(|start| bytes[start..name_end].eq_ignore_ascii_case(name.as_bytes()))
    };
    if ends_with("authorization") {
        if let Some(finding) = authorization(text, at + 1) {
            found.push(finding);
        }
        return true;
    }
    if ends_with("cookie") && bytes[at] == b':' {
        cookies(text, at + 1, found);
        return true;
    }
    false
}

/// Behind white space, a quote with it, and what it ends before.
fn value(bytes: &[u8], at: usize) -> (usize, usize) {
    let start = short_run(bytes, at, 8, |byte| matches!(byte, b' ' | b'\t' | b'>' | b'='));
    let start = short_run(bytes, start, 4, |byte| matches!(byte, b'"' | b'\'' | b'\\' | b'`' | b'[' | b'b'));
    let end = short_run(bytes, start, MAX_VALUE, |byte| {
        !matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'<' | b'\\')
    });
    (start, end)
}

fn authorization(text: &str, at: usize) -> Option<Finding<'static>> {
    let bytes = text.as_bytes();
    let (mut start, end) = value(bytes, at);
    let mut has_scheme = false;
    if bytes[start..end].starts_with(b"AWS4-") {
        let signature = text.get(start..end)?.find("Signature=")? + start + "Signature=".len();
        let end = short_run(bytes, signature, 128, |byte| byte.is_ascii_hexdigit());
        return (end - signature >= 32).then_some(Finding { start: signature, end, kind: "authorization" });
    }
    for scheme in SCHEMES {
        if bytes[start..end].len() > scheme.len()
            && bytes[start..][..scheme.len()].eq_ignore_ascii_case(scheme.as_bytes())
        {
            start = short_run(bytes, start + scheme.len(), 8, |byte| byte == b' ');
            has_scheme = true;
            break;
        }
    }
    // A credential has no white space, nor what ends an argument.
    let end = start + text.get(start..end)?.find([' ', '\t', ',', ')', ';']).unwrap_or(end - start);
    let value = text.get(start..end)?;
    let is_secret = !values::is_placeholder(value)
        && if has_scheme { value.len() >= 6 && has_mix(value) } else { chance::is_random(value) };
    is_secret.then_some(Finding { start, end, kind: "authorization" })
}

/// Digits, or both cases: a word that only stands for a token has neither.
fn has_mix(value: &str) -> bool {
    let is_camel =
        value.bytes().all(|byte| byte.is_ascii_alphabetic()) && chance::is_wordy(value) && value.len() < 20;
    let is_code = value.contains(['(', '{', '[', '$']) || (value.contains('.') && chance::is_wordy(value));
    let mixed = value.bytes().any(|byte| byte.is_ascii_digit())
        || (value.bytes().any(|byte| byte.is_ascii_lowercase())
            && value.bytes().any(|byte| byte.is_ascii_uppercase()));
    mixed && !is_camel && !is_code
}

fn cookies<'f>(text: &str, at: usize, found: &mut Vec<Finding<'f>>) {
    let (start, end) = value(text.as_bytes(), at);
    let Some(line) = text.get(start..end) else { return };
    let mut from = start;
    for pair in line.split(';') {
        if let Some((name, value)) = pair.split_once('=')
            && value.len() >= 16
            && chance::is_random(value)
            && !value.contains([' ', ','])
            && !values::is_placeholder(value)
        {
            let start = from + name.len() + 1;
            found.push(Finding { start, end: start + value.len(), kind: "cookie" });
        }
        from += pair.len() + 1;
    }
}

/// `Bearer` and a token, in commands and logs.
pub(super) fn bearer(text: &str, at: usize) -> Option<Finding<'static>> {
    const WORD: &[u8] = b"bearer ";
    let bytes = text.as_bytes();
    if bytes.len() < at + WORD.len() || !bytes[at..at + WORD.len()].eq_ignore_ascii_case(WORD) {
        return None;
    }
    let start = at + WORD.len();
    let end = short_run(bytes, start, MAX_VALUE, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'=' | b'/' | b'+' | b'~')
    });
    let value = text.get(start..end)?;
    (value.len() >= 16 && chance::is_random(value)).then_some(Finding { start, end, kind: "bearer token" })
}
