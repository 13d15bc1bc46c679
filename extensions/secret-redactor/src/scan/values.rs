//! Whether the value under a secret name is a secret, or a variable, a type, a label, a word of documentation.

use super::chance;

/// Longer values are files.
const MAX_VALUE: usize = 4096;

/// What a name promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// A password: people choose them, so they can be words.
    Password,
    /// A password that can have spaces.
    Phrase,
    /// Made by a machine.
    Token,
    /// Made by a machine.
    Key,
    /// The signature of an address, which opens what it points to.
    Signature,
    /// The user named it: whatever it is.
    Listed,
}

impl Weight {
    /// What the placeholder says.
    pub(crate) const fn kind(self) -> &'static str {
        match self {
            Self::Password | Self::Phrase => "password",
            Self::Token | Self::Signature | Self::Listed => "secret",
            Self::Key => "key",
        }
    }
}

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Quoted,
    /// `NAME=value`, as in environments.
    Environment,
    /// `name: value` alone in its line.
    Line,
    /// Anything else, which can be code.
    Bare,
    /// A text that a function gets, which can be the name of something.
    Argument,
}

/// A value and what stands around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Value<'t> {
    pub(crate) text: &'t str,
    pub(crate) form: Form,
    pub(crate) name: &'t str,
    /// The byte behind it.
    pub(crate) next: Option<u8>,
}

/// Words that stand where secrets do and are none: types, absent values, labels, stand-ins.
const WORDS: [&str; 83] = [
    "string",
    "str",
    "text",
    "number",
    "int",
    "integer",
    "float",
    "bool",
    "boolean",
    "bytes",
    "bytea",
    "varchar",
    "char",
    "any",
    "object",
    "optional",
    "required",
    "none",
    "null",
    "nil",
    "true",
    "false",
    "undefined",
    "unknown",
    "void",
    "password",
    "passwd",
    "passphrase",
    "pass",
    "pwd",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "key",
    "unset",
    "empty",
    "default",
    "hidden",
    "enabled",
    "disabled",
    "auto",
    "prompt",
    "input",
    "file",
    "stdin",
    "vault",
    "value",
    "random",
    "generated",
    "invalid",
    "missing",
    "incorrect",
    "wrong",
    "weak",
    "expired",
    "valid",
    "short",
    "changeme",
    "change_me",
    "change-me",
    "test",
    "demo",
    "sample",
    "foobar",
    "foo",
    "bar",
    "opaque",
    "bearer",
    "basic",
    "jwt",
    "oauth",
    "oauth2",
    "inherit",
    "write",
    "read",
    "admin",
    "rotated",
    "masked",
    "encrypted",
    "hashed",
    "secretref",
];

pub(super) fn is_secret(value: &Value<'_>, weight: Weight) -> bool {
    let text = value.text;
    if weight == Weight::Listed {
        return !text.is_empty() && text.len() <= MAX_VALUE && !text.starts_with("[redacted");
    }
    if text.len() < 4
        || text.len() > MAX_VALUE
        || is_placeholder(text)
        || is_word(value)
        || text.contains("://")
    {
        return false;
    }
    let has_space = text.bytes().any(|byte| byte.is_ascii_whitespace());
    if has_space && !(weight == Weight::Phrase && value.form != Form::Bare) {
        return false;
    }
    if matches!(value.form, Form::Bare | Form::Argument | Form::Line) && is_code(value) {
        return false;
    }
    match (weight, value.form) {
        (Weight::Signature, _) => text.len() >= 30 && chance::is_random(text),
        (Weight::Phrase, _) if has_space => {
            let is_sentence =
                text.ends_with(['.', '!', '?', ':', '…']) || text.starts_with(char::is_uppercase);
            !is_sentence && text.len() >= 12
        }
        (_, Form::Argument) => chance::is_random(text),
        (Weight::Password | Weight::Phrase, form) => is_password(text, form),
        (_, Form::Environment) => {
            chance::is_random(text)
                || is_plain_word(text.trim_end_matches(|character: char| character.is_ascii_digit()))
                    && text.len() >= 8
        }
        (_, _) => chance::is_random(text),
    }
}

fn is_password(text: &str, form: Form) -> bool {
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    let has_mark = text
        .bytes()
        .any(|byte| byte.is_ascii_punctuation() && !matches!(byte, b'_' | b'-' | b'.' | b'/' | b':'));
    if has_digit || has_mark {
        // `password1`, `k8s/db-password-2`: a name of a password, not one.
        let is_name = chance::is_wordy(text) && !has_mark && text.to_ascii_lowercase().contains("pass");
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        let is_named = is_name && digits < 3;
        return !is_named && (!is_path(text) || !chance::is_wordy(text));
    }
    match form {
        _ if chance::is_chaotic(text) => true,
        Form::Quoted => is_plain_word(text),
        Form::Environment => is_plain_word(text) || text.bytes().all(|byte| byte.is_ascii_alphabetic()),
        Form::Line => is_plain_word(text) && text.len() >= 6,
        Form::Bare | Form::Argument => false,
    }
}

/// One word in small letters. With a capital it is a label, with `_` or `-` the name of something.
fn is_plain_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn is_path(text: &str) -> bool {
    text.starts_with(['/', '.', '~']) || text.matches('/').count() >= 2
}

fn is_word(value: &Value<'_>) -> bool {
    let lower = value.text.to_ascii_lowercase();
    let lower = lower.trim_end_matches(['.', ':', '?', '!']);
    WORDS.contains(&lower) || same_letters(lower, value.name)
}

/// `DB_PASSWORD=db_password`, `api_key: apiKey`.
fn same_letters(lower: &str, name: &str) -> bool {
    let letters = |text: &str| -> String {
        text.chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|character| character.to_ascii_lowercase())
            .collect()
    };
    letters(lower) == letters(name)
}

/// What documents and templates write where a secret belongs.
pub(super) fn is_placeholder(text: &str) -> bool {
    const PARTS: [&str; 17] = [
        "xxxx",
        "your",
        "example",
        "changeme",
        "change-me",
        "change_me",
        "placeholder",
        "redacted",
        "dummy",
        "insert",
        "replace",
        "...",
        "…",
        "****",
        "••••",
        "todo",
        "goes-here",
    ];
    let bytes = text.as_bytes();
    let Some(first) = bytes.first() else { return true };
    let second = bytes.get(1).copied().unwrap_or(b' ');
    let is_variable = match first {
        b'$' => {
            second.is_ascii_uppercase()
                || second == b'_'
                || matches!(second, b'{' | b'(')
                || (second.is_ascii_lowercase() && chance::is_wordy(text))
        }
        b'<' => true,
        b'{' => second == b'{' || text.ends_with('}'),
        b'%' => matches!(second, b'(' | b's' | b'{') || text.ends_with('%'),
        b'[' => text.starts_with("[redacted") || text.ends_with(']'),
        b'#' => second == b'{',
        b'@' => second == b'{',
        b'!' => {
            text.starts_with("!secret")
                || text.starts_with("!vault")
                || text.starts_with("!ref")
                || text.starts_with("!Ref")
        }
        _ => false,
    };
    if is_variable || text.contains("${") || text.contains("{{") || text.contains("$(") {
        return true;
    }
    let lower = text.to_ascii_lowercase();
    PARTS.iter().any(|part| lower.contains(part)) || bytes.iter().all(|byte| byte == first)
}

/// Whether a value is an expression of a programming language.
fn is_code(value: &Value<'_>) -> bool {
    let text = value.text;
    if value.next == Some(b'(')
        || text.contains(['(', '[', '{', '<'])
        || text.contains("::")
        || text.contains("->")
    {
        return true;
    }
    let is_identifier = |text: &str| {
        // Bundlers name what clashes `name$1`.
        let text = text.trim_end_matches(|character: char| character.is_ascii_digit() || character == '$');
        text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let text = text.trim_start_matches(['&', '*', '!', '@', '?']).trim_end_matches(['?', '!', ':']);
    let parts = text.split('.').filter(|part| !part.is_empty());
    let is_path =
        text.contains('.') && parts.clone().all(|part| is_identifier(part) && chance::is_wordy(part));
    let is_short = value.form == Form::Bare && (text.len() < 6 || text.starts_with("__"));
    let is_number = text.starts_with("0x") && text.len() <= 10;
    let is_renamed = value.text.contains('$') && is_identifier(text);
    is_path
        || is_short
        || is_number
        || is_renamed
        || (value.form == Form::Bare
            && is_identifier(text)
            && !text.bytes().any(|byte| byte.is_ascii_digit())
            && !chance::is_chaotic(text))
}
