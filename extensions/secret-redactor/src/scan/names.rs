//! Which names stand before secrets.

use super::values::Weight;
use crate::settings::Config;
use capstan_sdk::glob;

/// Longer names are sentences.
const MAX_NAME: usize = 80;

/// Words behind the one that counts: `PASSWORD_BASE64`, `apiKeyProd`.
const TAILS: [&str; 13] = [
    "value",
    "base64",
    "b64",
    "plaintext",
    "raw",
    "prod",
    "production",
    "dev",
    "staging",
    "live",
    "old",
    "new",
    "base",
];

/// Words that make a key a secret one.
const KEYS: [&str; 31] = [
    "api",
    "access",
    "private",
    "secret",
    "auth",
    "encryption",
    "encrypt",
    "signing",
    "sign",
    "account",
    "master",
    "session",
    "shared",
    "storage",
    "hmac",
    "service",
    "subscription",
    "client",
    "webhook",
    "deploy",
    "license",
    "admin",
    "consumer",
    "crypto",
    "jwt",
    "cipher",
    "aes",
    "root",
    "application",
    "app",
    "write",
];

/// Words that make a token one of a text, a list or a program.
const OTHER_TOKENS: [&str; 19] = [
    "next",
    "page",
    "continuation",
    "cursor",
    "max",
    "num",
    "stop",
    "eos",
    "bos",
    "pad",
    "unk",
    "cls",
    "sep",
    "mask",
    "cancellation",
    "cancel",
    "sync",
    "design",
    "start",
];

/// Words before `pass` that make it a password.
const PASSES: [&str; 20] = [
    "db", "database", "user", "smtp", "mail", "email", "ftp", "admin", "root", "mysql", "postgres", "pg",
    "redis", "sudo", "http", "basic", "auth", "login", "key", "store",
];

/// What a name says about the value behind it; `None` for names that hold no secrets.
pub(super) fn weigh(name: &str, config: &Config) -> Option<Weight> {
    if name.is_empty() || name.len() > MAX_NAME {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    if config.names.iter().any(|glob| glob::matches(&glob.to_ascii_lowercase(), &lower)) {
        return Some(Weight::Listed);
    }
    if !may_matter(&lower) {
        return None;
    }
    let words = words(name);
    let mut words: &[String] = &words;
    while let [rest @ .., last] = words
        && !rest.is_empty()
        && (TAILS.contains(&last.as_str()) || last.bytes().all(|byte| byte.is_ascii_digit()))
    {
        words = rest;
    }
    let (last, rest) = words.split_last()?;
    let before = rest.last().map(String::as_str).unwrap_or_default();
    match last.as_str() {
        "pwd" if rest.is_empty() && name == "PWD" => None,
        "pwd" if before == "old" => None,
        "pass" => PASSES.contains(&before).then_some(Weight::Password),
        "passphrase" => Some(Weight::Phrase),
        "pwd" | "passcode" => Some(Weight::Password),
        "token" if OTHER_TOKENS.contains(&before) => None,
        "token" | "jwt" => Some(Weight::Token),
        "pat" => ["gh", "github", "gitlab", "azure", "devops"].contains(&before).then_some(Weight::Token),
        "sig" if rest.is_empty() => Some(Weight::Signature),
        "key" if before == "public" => None,
        "key" => KEYS.contains(&before).then_some(Weight::Key),
        "auth" | "credential" | "credentials" => Some(Weight::Token),
        "signature" => rest.iter().any(|word| word == "amz" || word == "goog").then_some(Weight::Token),
        other if other.ends_with("password") || other.ends_with("passwd") => Some(Weight::Password),
        other if other.ends_with("secret") => Some(Weight::Token),
        other
            if other.ends_with("apikey")
                || other.ends_with("secretkey")
                || other.ends_with("accesskey")
                || other.ends_with("privatekey") =>
        {
            Some(Weight::Key)
        }
        other if other.ends_with("token") && other.len() > 7 => Some(Weight::Token),
        _ => None,
    }
}

/// A quick no for most names.
fn may_matter(lower: &str) -> bool {
    ["pass", "pwd", "secret", "token", "key", "auth", "credential", "sig", "jwt", "pat"]
        .iter()
        .any(|part| lower.contains(part))
}

/// The words of a name, in lower case: `dbPassword`, `DB_PASSWORD` and `db-password` have the same.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut previous = '_';
    for character in name.chars() {
        let ends = character.is_ascii_uppercase() && previous.is_ascii_lowercase();
        if ends || !character.is_ascii_alphanumeric() {
            words.push(String::new());
        }
        if character.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(character.to_ascii_lowercase());
        }
        previous = character;
    }
    words.retain(|word| !word.is_empty());
    words
}
