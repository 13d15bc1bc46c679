//! Keys and tokens that are known by their form.

use super::{Finding, chance, run};
use crate::settings::Config;

/// What may follow the beginning of a token.
#[derive(Debug, Clone, Copy)]
enum Body {
    /// Letters and digits.
    Plain,
    /// Capital letters and digits.
    Capital,
    Hex,
    /// Letters, digits, `_` and `-`.
    Word,
    /// As `Word`, and `.`, `=`, `/`, `+`.
    Any,
}

impl Body {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::Plain => byte.is_ascii_alphanumeric(),
            Self::Capital => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Any => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'=' | b'/' | b'+')
            }
        }
    }
}

/// A form: its beginnings, what follows, and how much of that at least and at most.
struct Form {
    kind: &'static str,
    begins: &'static [&'static str],
    body: Body,
    least: usize,
    most: usize,
}

const fn form(
    kind: &'static str,
    begins: &'static [&'static str],
    body: Body,
    least: usize,
    most: usize,
) -> Form {
    Form { kind, begins, body, least, most }
}

/// Longer than any token; what is longer is a file that only begins like one.
const LONG: usize = 4096;

/// The length of the shortest token of a known form, an AWS key.
const SHORTEST: usize = 20;

/// The more particular beginning stands first.
const FORMS: [Form; 47] = [
    form("aws key", &["AKIA", "ASIA", "ABIA", "ACCA"], Body::Capital, 16, 16),
    form("github token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], Body::Plain, 36, 255),
    form("github token", &["github_pat_"], Body::Word, 40, 255),
    form(
        "gitlab token",
        &["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glft-", "glsoat-", "glimt-", "glagent-", "gloas-"],
        Body::Any,
        20,
        300,
    ),
    form(
        "slack token",
        &["xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xoxe-", "xoxe.", "xapp-"],
        Body::Any,
        20,
        300,
    ),
    form("stripe key", &["sk_live_", "sk_test_", "rk_live_", "rk_test_"], Body::Plain, 16, 255),
    form("stripe key", &["whsec_"], Body::Any, 24, 255),
    form("anthropic key", &["sk-ant-"], Body::Word, 20, 300),
    form("openai key", &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"], Body::Word, 20, 300),
    form("openrouter key", &["sk-or-v1-"], Body::Hex, 32, 128),
    form("api key", &["sk-"], Body::Plain, 20, 255),
    form("google key", &["AIza"], Body::Word, 35, 35),
    form("google secret", &["GOCSPX-"], Body::Word, 20, 64),
    form("google token", &["ya29."], Body::Any, 20, 1024),
    form("npm token", &["npm_"], Body::Plain, 36, 64),
    form("pypi token", &["pypi-"], Body::Word, 60, 1000),
    form("sendgrid key", &["SG."], Body::Any, 60, 80),
    form("twilio key", &["SK"], Body::Hex, 32, 32),
    form("mailgun key", &["key-"], Body::Hex, 32, 32),
    form("digitalocean token", &["dop_v1_", "doo_v1_", "dor_v1_"], Body::Hex, 64, 64),
    form("hugging face token", &["hf_"], Body::Plain, 30, 64),
    form("shopify token", &["shpat_", "shpss_", "shpca_", "shppa_"], Body::Hex, 32, 64),
    form("square token", &["sq0atp-", "sq0csp-"], Body::Word, 20, 64),
    form("databricks token", &["dapi"], Body::Hex, 32, 34),
    form("docker token", &["dckr_pat_", "dckr_oat_"], Body::Word, 20, 64),
    form("linear key", &["lin_api_"], Body::Plain, 30, 64),
    form("notion token", &["ntn_"], Body::Plain, 40, 64),
    form("postman key", &["PMAK-"], Body::Word, 50, 80),
    form("new relic key", &["NRAK-"], Body::Plain, 20, 40),
    form("age key", &["AGE-SECRET-KEY-1"], Body::Capital, 50, 70),
    form("vault token", &["hvs.", "hvb.", "hvr."], Body::Word, 24, 300),
    form("rubygems key", &["rubygems_"], Body::Hex, 48, 48),
    form("crates.io token", &["cio"], Body::Plain, 32, 32),
    form("atlassian token", &["ATATT3", "ATCTT3"], Body::Any, 50, 300),
    form("groq key", &["gsk_"], Body::Plain, 40, 64),
    form("xai key", &["xai-"], Body::Plain, 60, 100),
    form("perplexity key", &["pplx-"], Body::Plain, 40, 64),
    form("replicate token", &["r8_"], Body::Plain, 36, 40),
    form("grafana token", &["glsa_", "glc_"], Body::Any, 32, 400),
    form("pulumi token", &["pul-"], Body::Hex, 40, 40),
    form("doppler token", &["dp.pt.", "dp.st.", "dp.ct."], Body::Any, 40, 80),
    form("figma token", &["figd_"], Body::Word, 40, 60),
    form("sentry token", &["sntrys_", "sntryu_"], Body::Any, 50, 400),
    form("supabase key", &["sbp_", "sb_secret_"], Body::Word, 20, 64),
    form("planetscale token", &["pscale_tkn_", "pscale_pw_"], Body::Word, 30, 64),
    form("airtable token", &["patAT."], Body::Any, 60, 90),
    form("fly token", &["fm2_", "fm1r_", "fm1a_"], Body::Any, 60, 1024),
];

/// A token of a known form that begins here, where a word begins.
pub(super) fn at<'c>(bytes: &[u8], at: usize, config: &'c Config) -> Option<Finding<'c>> {
    let rest = &bytes[at..];
    // Most words are too short to be a token, and need not be compared with each form.
    let forms = if super::short_run(bytes, at, SHORTEST, |byte| Body::Any.has(byte)) - at < SHORTEST {
        &[]
    } else {
        FORMS.as_slice()
    };
    for form in forms {
        for begin in form.begins {
            if begin.as_bytes()[0] == rest[0] && rest.starts_with(begin.as_bytes()) {
                let from = at + begin.len();
                let end = super::short_run(bytes, from, form.most + 1, |byte| form.body.has(byte));
                let end = trim_end(bytes, from, end);
                let length = end - from;
                let varies = match form.body {
                    Body::Capital => chance::varies_in_capitals(&bytes[from..end]),
                    _ => chance::varies(&bytes[from..end]),
                };
                if length >= form.least && length <= form.most && varies {
                    return Some(Finding { start: at, end, kind: form.kind });
                }
            }
        }
    }
    own(bytes, at, config)
        .or_else(|| jwt(bytes, at))
        .or_else(|| telegram(bytes, at))
        .or_else(|| unnamed(bytes, at, config))
}

/// Punctuation behind a token is none of it.
fn trim_end(bytes: &[u8], from: usize, mut end: usize) -> usize {
    while end > from && matches!(bytes[end - 1], b'.' | b'/' | b'+') {
        end -= 1;
    }
    end
}

/// The user's own forms.
fn own<'c>(bytes: &[u8], at: usize, config: &'c Config) -> Option<Finding<'c>> {
    config.pattern.iter().find_map(|pattern| {
        let begin = pattern.starts_with.as_bytes();
        if begin.is_empty() || !bytes[at..].starts_with(begin) {
            return None;
        }
        let from = at + begin.len();
        let end = super::short_run(bytes, from, LONG, |byte| Body::Word.has(byte));
        (end - from >= pattern.shortest.max(1)).then_some(Finding { start: at, end, kind: &pattern.kind })
    })
}

/// A JSON web token: three parts (encrypted ones have five), of which the first is an encoded `{"`, as is the second of a
/// signed one.
fn jwt(bytes: &[u8], at: usize) -> Option<Finding<'static>> {
    // The parts of a longer run are not looked at again: that would read the run once for each of them.
    let goes_on =
        at.checked_sub(1).is_some_and(|before| Body::Word.has(bytes[before]) && bytes[before] != b'n');
    if goes_on || !bytes[at..].starts_with(b"eyJ") {
        return None;
    }
    let part = |from: usize| super::short_run(bytes, from, LONG, |byte| Body::Word.has(byte));
    let header = part(at);
    if header - at < 12 || bytes.get(header) != Some(&b'.') {
        return None;
    }
    let mut end = part(header + 1);
    let mut parts = 2;
    let is_signed = bytes[header + 1..].starts_with(b"eyJ");
    while parts < 5 && bytes.get(end) == Some(&b'.') && part(end + 1) > end + 1 {
        end = part(end + 1);
        parts += 1;
    }
    let is_token = (is_signed && parts >= 3) || parts == 5;
    is_token.then_some(Finding { start: at, end, kind: "jwt" })
}

/// The token of a Telegram bot: its number, and 35 characters.
fn telegram(bytes: &[u8], at: usize) -> Option<Finding<'static>> {
    let colon = super::short_run(bytes, at, 12, |byte| byte.is_ascii_digit());
    if colon - at < 8 || !bytes[colon..].starts_with(b":AA") {
        return None;
    }
    let end = super::short_run(bytes, colon + 1, 37, |byte| Body::Word.has(byte));
    (end - colon - 1 == 35).then_some(Finding { start: at, end, kind: "telegram token" })
}

/// What looks random without a name, where the user wants that.
fn unnamed(bytes: &[u8], at: usize, config: &Config) -> Option<Finding<'static>> {
    // What continues a longer run is not looked at again, or a long run would be read once for each of its parts.
    let belongs = |byte: u8| Body::Word.has(byte) || matches!(byte, b'/' | b'+');
    if !config.unnamed || at.checked_sub(1).is_some_and(|before| belongs(bytes[before])) {
        return None;
    }
    let end = run(bytes, at, belongs);
    let end = super::short_run(bytes, end, 2, |byte| byte == b'=');
    let is_key = (32..=256).contains(&(end - at)) && chance::is_dense(&bytes[at..end]);
    is_key.then_some(Finding { start: at, end, kind: "random text" })
}
