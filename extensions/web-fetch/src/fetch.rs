//! From an address to the text that is found there.

use std::time::Duration;

use capstan_sdk::http::{self, Response};
use capstan_sdk::prelude::*;

use crate::{address, charset, hosts, html};

/// Redirects that are followed.
const MAX_REDIRECTS: usize = 5;

/// A page that is larger is none that anybody reads.
const MAX_PAGE_BYTES: usize = 8 << 20;

/// For the connection and each piece of an answer. A call has half a minute for all of them.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Of what a server says with an error, so much is told.
const MAX_ERROR_BYTES: usize = 600;

const HEADERS: [(&str, &str); 2] = [
    ("accept", "text/html, application/xhtml+xml, text/markdown, text/plain, application/json, text/*;q=0.8"),
    ("user-agent", concat!("capstan-web-fetch/", env!("CARGO_PKG_VERSION"))),
];

/// What was found.
#[derive(Debug)]
pub(crate) struct Found {
    /// Where, after all redirects.
    pub(crate) address: String,
    pub(crate) content_type: String,
    pub(crate) page_bytes: usize,
    pub(crate) redirects: usize,
    pub(crate) title: String,
    pub(crate) text: String,
    /// Whether the text goes on behind its end.
    pub(crate) has_more: bool,
    /// What a reader should know.
    pub(crate) remarks: Vec<String>,
}

/// Fetches a page; the text has at most `max_bytes` bytes.
pub(crate) fn fetch(url: &str, max_bytes: usize) -> Result<Found> {
    let mut address = checked(url)?;
    let mut redirects = 0;
    loop {
        let answer = get(&address).map_err(|error| told(&error, &address, url, redirects))?;
        let location = answer.header("location").unwrap_or_default();
        if matches!(answer.status, 301 | 302 | 303 | 307 | 308) && !location.is_empty() {
            redirects += 1;
            let next = checked(&address::join(&address, location))
                .explain(format!("{address} redirects to `{}`", visible(location)))?;
            if redirects > MAX_REDIRECTS {
                return Err(Error::new(format!(
                    "{url} redirects more than {MAX_REDIRECTS} times, at last to {next}: fetch that address itself if it is the right one"
                )));
            }
            address = next;
            continue;
        }
        return found(answer, address, redirects, max_bytes);
    }
}

/// One request, whose redirects come back as answers: each hop is looked at here.
fn get(address: &str) -> Result<Response, http::Error> {
    let request = http::Request::get(address).max_bytes(MAX_PAGE_BYTES).timeout(TIMEOUT);
    HEADERS.into_iter().fold(request, |request, (name, value)| request.header(name, value)).send()
}

/// An address that can be requested: `https`, a host, no user, nothing that is not ASCII.
fn checked(url: &str) -> Result<String> {
    let url = address::without_fragment(url.trim());
    let wrong = |why: &str| Error::new(format!("`{}` cannot be fetched: {why}", visible(url)));
    let (scheme, rest) = url
        .split_once("://")
        .ok_or_else(|| wrong("write the whole address, such as https://docs.rs/serde"))?;
    if !matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https") {
        return Err(wrong("only http and https are fetched"));
    }
    let end = rest.find(['/', '?', '\\']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if authority.contains('@') {
        return Err(wrong("it holds a user name; pages are fetched without"));
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
    if authority.is_empty() || !authority.chars().all(fits) {
        return Err(wrong("its host is none; write a name with other letters in its ASCII form (xn--…)"));
    }
    let mut clean = format!("https://{}", authority.to_ascii_lowercase());
    if !path.starts_with('/') {
        clean.push('/');
    }
    for byte in path.bytes() {
        match byte {
            b'!'..=b'~' if byte != b'"' && byte != b'<' && byte != b'>' => clean.push(char::from(byte)),
            other => clean.push_str(&format!("%{other:02X}")),
        }
    }
    Ok(clean)
}

/// What a failure means for who asked.
fn told(error: &http::Error, address: &str, url: &str, redirects: usize) -> Error {
    let origin = address::origin(address).unwrap_or_else(|| address.to_owned());
    let after = if redirects > 0 { format!("{url} redirects to {address}, but ") } else { String::new() };
    match error {
        http::Error::Denied { .. } if hosts::is_requested(&origin) => Error::new(format!(
            "{after}web-fetch may not reach {origin}: it was not granted. The user can allow it with `capstan ext allow web-fetch`"
        )),
        http::Error::Denied { .. } => Error::new(format!(
            "{after}web-fetch may not reach {origin}: it is none of the hosts that it can be granted, which are {}. Fetch a page \
             of one of these, or tell the user, who can add a host to hosts.rs of the extension and build it again",
            hosts::names()
        )),
        http::Error::TooLarge { limit, .. } => Error::new(format!(
            "{after}{address} has more than {} MiB, which is more than a page to read",
            limit >> 20
        )),
        other => Error::new(format!("{after}{address} cannot be fetched: {other}")),
    }
}

fn found(answer: Response, address: String, redirects: usize, max_bytes: usize) -> Result<Found> {
    let content_type = answer.header("content-type").unwrap_or_default().trim().to_ascii_lowercase();
    let encoding = answer.header("content-encoding").unwrap_or_default();
    if !encoding.is_empty() && encoding != "identity" {
        return Err(Error::new(format!(
            "{address} answers in the encoding `{}`, which is not read",
            visible(encoding)
        )));
    }
    let mut remarks = Vec::new();
    let page_bytes = answer.body.len();
    let Some(form) = form(&content_type, &answer.body) else {
        let (status, kind) = (answer.status, visible(&content_type));
        return Err(Error::new(format!(
            "{address} is no text: it answers {status} with {page_bytes} bytes of `{kind}`"
        )));
    };
    let (text, unknown) = charset::decode(&answer.body, &content_type);
    if let Some(name) = unknown {
        remarks
            .push(format!("the page is written in `{name}`, which is not known here; it was read as UTF-8"));
    }
    let page = match form {
        Form::Html => html::read(&text, &address, max_bytes),
        Form::Plain => plain(&text, max_bytes),
    };
    if !(200..300).contains(&answer.status) {
        let mut said: String = page.text.chars().take(MAX_ERROR_BYTES).collect();
        if !said.is_empty() {
            said.insert_str(0, ": ");
        }
        return Err(Error::new(format!("{address} answers with status {}{said}", answer.status)));
    }
    let html::Page { title, text, is_cut } = page;
    Ok(Found { address, content_type, page_bytes, redirects, title, text, has_more: is_cut, remarks })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Html,
    Plain,
}

/// How a body is read; `None` if it is no text.
fn form(content_type: &str, body: &[u8]) -> Option<Form> {
    let kind = content_type.split(';').next().unwrap_or_default().trim();
    let is_text = !body.iter().take(4_096).any(|byte| *byte == 0)
        || body.starts_with(&[0xff, 0xfe])
        || body.starts_with(&[0xfe, 0xff]);
    match kind {
        "text/html" | "application/xhtml+xml" => Some(Form::Html),
        "" | "application/octet-stream" if is_text => {
            let start = body.iter().find(|byte| !byte.is_ascii_whitespace());
            Some(if start == Some(&b'<') { Form::Html } else { Form::Plain })
        }
        kind if kind.starts_with("text/") => Some(Form::Plain),
        "application/json"
        | "application/xml"
        | "application/javascript"
        | "application/yaml"
        | "application/toml"
        | "application/x-yaml"
        | "application/ecmascript"
        | "application/x-sh" => Some(Form::Plain),
        kind if kind.ends_with("+json") || kind.ends_with("+xml") => Some(Form::Plain),
        _ => None,
    }
}

fn plain(text: &str, max_bytes: usize) -> html::Page {
    let mut end = text.len().min(max_bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let shown: String = text[..end].chars().filter(|c| *c == '\n' || !html::is_hidden(*c)).collect();
    html::Page { title: String::new(), text: shown.trim_end().to_owned(), is_cut: end < text.len() }
}

/// A server's words within an error text: short, and on one line.
fn visible(text: &str) -> String {
    text.chars().filter(|c| !html::is_hidden(*c) && *c != '\n').take(200).collect()
}

#[cfg(test)]
#[path = "fetch_tests.rs"]
pub(crate) mod tests;
