//! Credentials inside of addresses.

use super::{Finding, chance, short_run, tokens};
use crate::settings::Config;

/// Longer names and passwords in addresses are no such thing.
const MAX_PART: usize = 300;

/// Words that documents write where a password belongs.
const STAND_INS: [&str; 13] = [
    "password",
    "passwd",
    "pass",
    "pwd",
    "pw",
    "secret",
    "token",
    "xxx",
    "xxxx",
    "x",
    "credentials",
    "mypassword",
    "port",
];

/// The password of an address `scheme://name:password@host`, or a token in place of the name. `at`: the colon.
pub(super) fn password(text: &str, at: usize, config: &Config) -> Option<Finding<'static>> {
    let bytes = text.as_bytes();
    if !bytes.get(at.checked_sub(1)?)?.is_ascii_alphanumeric() {
        return None;
    }
    let start = at + 3;
    let belongs = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'-' | b'_' | b'.' | b'~' | b'%' | b'!' | b'&' | b'*' | b'+' | b',' | b';' | b'=' | b'$'
            )
    };
    let name_end = short_run(bytes, start, MAX_PART, belongs);
    let (from, end) = match bytes.get(name_end)? {
        b'@' => (start, name_end),
        b':' => {
            let from = name_end + 1;
            // A password may hold what a name may not, until the last `@` before the host's end.
            let most = short_run(bytes, from, MAX_PART, |byte| {
                belongs(byte) || matches!(byte, b'^' | b'#' | b'(' | b')' | b':' | b'@' | b'/' | b'?')
            });
            let slash = bytes[from..most]
                .iter()
                .position(|byte| matches!(byte, b'/' | b'?'))
                .map_or(most, |slash| from + slash);
            (from, bytes[from..slash].iter().rposition(|byte| *byte == b'@').map(|end| from + end)?)
        }
        _ => return None,
    };
    let value = text.get(from..end)?;
    let is_name_alone = from == start;
    if value.is_empty() || tokens::at(bytes, from, config).is_some() || is_stand_in(value) {
        return None;
    }
    if is_name_alone && !(value.len() >= 20 && chance::is_random(value)) {
        return None;
    }
    Some(Finding { start: from, end, kind: "password in an address" })
}

fn is_stand_in(value: &str) -> bool {
    STAND_INS.iter().any(|word| value.eq_ignore_ascii_case(word))
        || value.starts_with('$')
        || value.bytes().all(|byte| matches!(byte, b'*' | b'.' | b'x' | b'X'))
        || (value.starts_with('%') && value[1..].bytes().all(|byte| byte.is_ascii_lowercase()))
        || super::values::is_placeholder(value)
}

/// The secret part of a chat webhook. `at`: the start of the host's name.
pub(super) fn webhook(bytes: &[u8], at: usize) -> Option<Finding<'static>> {
    const HOOKS: [&[u8]; 4] = [
        b"hooks.slack.com/services/",
        b"hooks.slack.com/workflows/",
        b"discord.com/api/webhooks/",
        b"discordapp.com/api/webhooks/",
    ];
    let begin = HOOKS.iter().find(|begin| bytes[at..].starts_with(begin))?;
    let from = at + begin.len();
    let end = short_run(bytes, from, MAX_PART, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_')
    });
    (end - from >= 24 && chance::varies(&bytes[from..end])).then_some(Finding {
        start: from,
        end,
        kind: "webhook",
    })
}
