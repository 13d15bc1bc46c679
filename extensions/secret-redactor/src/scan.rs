//! Finds credentials in a text.
//!
//! One walk over the bytes. Each place is asked only what its byte can begin: a token at the start of a word, a name and its
//! value at `=` and `:`, an address at `://`, a key at `-----`. Every look ahead or behind is bounded or skipped over
//! afterwards, so the time grows with the length of the text, whatever the text is.

mod addresses;
mod assignments;
mod chance;
mod headers;
mod keys;
mod names;
mod tokens;
mod values;

use crate::settings::Config;
use capstan_sdk::glob;

/// A credential: where it stands, in bytes, and what the placeholder calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Finding<'c> {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: &'c str,
}

/// All credentials of a text, in order, none over another.
pub(crate) fn findings<'c>(text: &str, config: &'c Config) -> Vec<Finding<'c>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let before = found.len();
        look(text, at, config, &mut found);
        match found.last() {
            Some(last) if found.len() > before => at = last.end.max(at + 1),
            _ => at += 1,
        }
    }
    found.retain(|finding| {
        let value = &text[finding.start..finding.end];
        !config.allow.iter().any(|glob| glob::matches(glob, value))
    });
    found
}

/// What a value is that stands under a name in structured data.
pub(crate) fn named<'c>(name: &str, value: &str, config: &'c Config) -> Option<&'c str> {
    if config.allow.iter().any(|glob| glob::matches(glob, value)) {
        return None;
    }
    let weight = names::weigh(name, config)?;
    let value = values::Value { text: value, form: values::Form::Quoted, name, next: None };
    values::is_secret(&value, weight).then(|| weight.kind())
}

fn look<'c>(text: &str, at: usize, config: &'c Config, found: &mut Vec<Finding<'c>>) {
    let bytes = text.as_bytes();
    match bytes[at] {
        byte if byte.is_ascii_alphanumeric() && begins_word(bytes, at) => {
            found.extend(
                tokens::at(bytes, at, config)
                    .or_else(|| headers::bearer(text, at))
                    .or_else(|| addresses::webhook(bytes, at)),
            );
        }
        b'"' | b'\'' => found.extend(assignments::beside(text, at, config)),
        b'-' if bytes[at..].starts_with(b"-----") => keys::at(text, at, found),
        b'-' => found.extend(assignments::flag(text, at, config)),
        b':' if bytes[at..].starts_with(b"://") => found.extend(addresses::password(text, at, config)),
        b':' | b'=' => {
            let is_header = headers::at(text, at, found);
            found.extend(if is_header { None } else { assignments::at(text, at, config) });
        }
        _ => {}
    }
}

/// Whether a word begins here. Letters of an escape (`\n`, `%3D`) belong to no word.
fn begins_word(bytes: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
    let one = before(1);
    if !(one.is_ascii_alphanumeric() || one == b'_') {
        return true;
    }
    (before(2) == b'\\' && matches!(one, b'n' | b'r' | b't'))
        || (before(3) == b'%' && before(2).is_ascii_hexdigit() && one.is_ascii_hexdigit())
}

/// Where a run of such bytes ends that begins at `at`.
fn run(bytes: &[u8], at: usize, belongs: impl Fn(u8) -> bool) -> usize {
    bytes[at..].iter().position(|byte| !belongs(*byte)).map_or(bytes.len(), |length| at + length)
}

/// As [`run`], but never further than `most` bytes.
fn short_run(bytes: &[u8], at: usize, most: usize, belongs: impl Fn(u8) -> bool) -> usize {
    let end = bytes.len().min(at.saturating_add(most));
    run(&bytes[..end], at.min(end), belongs)
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}
