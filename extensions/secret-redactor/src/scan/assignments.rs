//! Names and their values: `NAME=value`, `name: value`, `"name": "value"`, `--name value`.

use super::values::{Form, Value};
use super::{Finding, is_name, names, short_run, tokens, values};
use crate::settings::Config;

/// Longer names are sentences.
const MAX_NAME: usize = 80;
/// White space around `=`, where people align columns.
const MAX_SPACE: usize = 40;
const MAX_VALUE: usize = 4096;

/// The secret behind the `=` or `:` at `at`.
pub(super) fn at<'c>(text: &str, at: usize, config: &'c Config) -> Option<Finding<'c>> {
    let bytes = text.as_bytes();
    let previous = bytes[at.checked_sub(1)?];
    let next = bytes.get(at + 1).copied().unwrap_or(b'\n');
    let is_other = match bytes[at] {
        b':' => next == b':' || previous == b':',
        _ => next == b'=' || matches!(previous, b'=' | b'!' | b'<' | b'>' | b'+' | b':' | b'~'),
    };
    if is_other {
        return None;
    }
    let (name_start, name) = name_before(text, at)?;
    let (name, weight) = match names::weigh(name, config) {
        Some(weight) => (name, weight),
        // `password: str = "…"`
        None if bytes[at] == b'=' => {
            let name = name_before(text, annotation(bytes, at)?)?.1;
            (name, names::weigh(name, config)?)
        }
        None => return None,
    };
    let mut from = at + 1;
    if matches!((bytes[at], next), (b'=', b'>') | (b':', b'=')) {
        from += 1;
    }
    let start = short_run(bytes, from, MAX_SPACE, |byte| matches!(byte, b' ' | b'\t'));
    let is_environment = bytes[at] == b'='
        && start == at + 1
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    let (start, end, form) =
        value_at(bytes, start, if is_environment { Form::Environment } else { Form::Bare })?;
    let form = match form {
        Form::Bare if is_line(bytes, name_start, at, end) => Form::Line,
        other => other,
    };
    finding(
        text,
        Value { text: text.get(start..end)?, form, name, next: bytes.get(end).copied() },
        start,
        weight,
        config,
    )
}

/// The secret in the quotes that open at `at`, right behind a name: `#define NAME "…"`, `.name("…")`.
pub(super) fn beside<'c>(text: &str, at: usize, config: &'c Config) -> Option<Finding<'c>> {
    let bytes = text.as_bytes();
    let before = at.checked_sub(1).filter(|before| matches!(bytes[*before], b' ' | b'('))?;
    if !before.checked_sub(1).is_some_and(|last| is_name(bytes[last])) {
        return None;
    }
    let name = name_before(text, before)?.1;
    let weight = names::weigh(name.rsplit('.').next().unwrap_or(name), config)?;
    let end = quoted_end(bytes, at + 1, bytes[at], 0);
    let value = Value { text: text.get(at + 1..end)?, form: Form::Argument, name, next: None };
    finding(text, value, at + 1, weight, config)
}

/// The secret behind an option of a command: `--token VALUE`, or `-u name:VALUE` of curl.
pub(super) fn flag<'c>(text: &str, at: usize, config: &'c Config) -> Option<Finding<'c>> {
    let bytes = text.as_bytes();
    if at.checked_sub(1).is_some_and(|before| !matches!(bytes[before], b' ' | b'\t' | b'\n' | b'"' | b'\'')) {
        return None;
    }
    let start = short_run(bytes, at, 2, |byte| byte == b'-');
    let end =
        short_run(bytes, start, MAX_NAME, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if bytes.get(end) != Some(&b' ') || bytes.get(end + 1).is_none_or(|byte| matches!(byte, b' ' | b'-')) {
        return None;
    }
    let name = &text[start..end];
    let (start, end, form) = value_at(bytes, end + 1, Form::Bare)?;
    let value = text.get(start..end)?;
    if matches!(name, "u" | "user") {
        let line = bytes[..at].iter().rev().take(200).take_while(|byte| **byte != b'\n').count();
        let (user, password) = value.split_once(':')?;
        if !text.get(at - line..at).is_some_and(|line| line.contains("curl") || line.contains("http")) {
            return None;
        }
        let start = start + user.len() + 1;
        let value = Value { text: password, form: Form::Environment, name, next: None };
        return finding(text, value, start, values::Weight::Password, config);
    }
    let weight = names::weigh(name, config)?;
    finding(text, Value { text: value, form, name, next: bytes.get(end).copied() }, start, weight, config)
}

fn finding<'c>(
    text: &str,
    value: Value<'_>,
    start: usize,
    weight: values::Weight,
    config: &'c Config,
) -> Option<Finding<'c>> {
    // A form that is known says more than the name does, and is found in its place.
    if !values::is_secret(&value, weight) || tokens::at(text.as_bytes(), start, config).is_some() {
        return None;
    }
    Some(Finding { start, end: start + value.text.len(), kind: weight.kind() })
}

/// The name before a separator, quotes and white space between them, and where it begins.
fn name_before(text: &str, at: usize) -> Option<(usize, &str)> {
    let bytes = text.as_bytes();
    let back = |end: usize, most: usize, belongs: fn(u8) -> bool| {
        let run = bytes[..end].iter().rev().take(most).take_while(|byte| belongs(**byte)).count();
        end - run
    };
    let end = back(at, MAX_SPACE, |byte| matches!(byte, b' ' | b'\t'));
    let end = back(end, 5, |byte| matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b']' | b'?' | b'*'));
    let start = back(end, MAX_NAME + 1, is_name);
    // Letters of an escape belong to no name: `\nPASSWORD`.
    let start = match start.checked_sub(1).map(|before| bytes[before]) {
        Some(b'\\') if matches!(bytes.get(start), Some(b'n' | b'r' | b't')) => start + 1,
        _ => start,
    };
    (start < end && end - start <= MAX_NAME).then(|| text.get(start..end).map(|name| (start, name)))?
}

/// The colon of `name: type =`, looking back from the `=`.
fn annotation(bytes: &[u8], at: usize) -> Option<usize> {
    for back in 1..60 {
        let place = at.checked_sub(back)?;
        match bytes[place] {
            b':' if bytes[place + 1] == b':'
                || place.checked_sub(1).is_some_and(|before| bytes[before] == b':') => {}
            b':' => return Some(place),
            byte if byte.is_ascii_alphanumeric() => {}
            b' ' | b'_' | b'&' | b'\'' | b'<' | b'>' | b'[' | b']' | b'|' | b'.' | b'?' => {}
            _ => return None,
        }
    }
    None
}

/// Where the value begins and ends that is written from `at` on.
fn value_at(bytes: &[u8], at: usize, bare: Form) -> Option<(usize, usize, Form)> {
    let is_quote = |at: usize| bytes.get(at).is_some_and(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    // `String::from("…")`
    let call =
        short_run(bytes, at, 40, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.'));
    if call > at && bytes.get(call) == Some(&b'(') && (is_quote(call + 1) || is_quote(call + 2)) {
        let open = if is_quote(call + 1) { call + 1 } else { call + 2 };
        return Some((open + 1, quoted_end(bytes, open + 1, bytes[open], 0), Form::Argument));
    }
    // `b"…"`, `&"…"`, `@"…"`, and quotes that are escaped themselves.
    let prefix = short_run(bytes, at, 2, |byte| byte.is_ascii_alphabetic() || matches!(byte, b'&' | b'@'));
    let slashes = short_run(bytes, prefix, 4, |byte| byte == b'\\');
    if is_quote(slashes) {
        let start = slashes + 1;
        return Some((start, quoted_end(bytes, start, bytes[slashes], slashes - prefix), Form::Quoted));
    }
    let end = short_run(bytes, at, MAX_VALUE, |byte| {
        let ends = byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'\\');
        let ends_code = matches!(byte, b',' | b';' | b')' | b'}' | b']' | b'<' | b'>' | b'|' | b'&');
        !ends && (bare == Form::Environment || !ends_code)
    });
    (end > at).then_some((at, end, bare))
}

/// Where a quoted text ends: at its quote with as many backslashes before it, or at the end of the line.
fn quoted_end(bytes: &[u8], start: usize, quote: u8, slashes: usize) -> usize {
    let limit = bytes.len().min(start + MAX_VALUE);
    let mut at = start;
    while at < limit && bytes[at] != b'\n' {
        if bytes[at] == b'\\' {
            let run = short_run(bytes, at, 8, |byte| byte == b'\\');
            if bytes.get(run) == Some(&quote) && run - at <= slashes {
                return at;
            }
            at = if slashes == 0 { at + 2 } else { run };
        } else if bytes[at] == quote && slashes == 0 {
            return at;
        } else {
            at += 1;
        }
    }
    at.min(limit)
}

/// Whether a line holds nothing but `name: value`, as YAML and properties do.
fn is_line(bytes: &[u8], name: usize, separator: usize, value_end: usize) -> bool {
    let before = bytes[..name]
        .iter()
        .rev()
        .take(MAX_SPACE)
        .take_while(|byte| matches!(byte, b' ' | b'-' | b'\t'))
        .count();
    let begins = name - before == 0 || bytes[name - before - 1] == b'\n';
    let ends = bytes.get(value_end).is_none_or(|byte| matches!(byte, b'\n' | b'\r'));
    let is_spaced = bytes.get(separator + 1) == Some(&b' ') && bytes[separator] == b':';
    begins && ends && (is_spaced || bytes[separator] == b'=')
}
