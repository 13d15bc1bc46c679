//! A conversation as a page that needs nothing else.
//!
//! The page has no script, loads nothing, and says so in a policy that browsers enforce. Everything from the session is
//! escaped; a model's Markdown is rendered with its HTML as text, without remote pictures, and with links to the web and to
//! mail only.

use super::prose::clean;
use super::speech::{self, Piece, Speech, Who};
use crate::screen;
use capstan_ports::entry::{Entry, EntryKind};
use capstan_session::Header;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd};
use std::borrow::Cow;
use std::sync::Arc;

/// Longer outputs are folded up.
const MAX_OPEN_LINES: usize = 12;

/// Pictures that a browser draws and does not run. SVG is not among them.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

const STYLE: &str = include_str!("html.css");

/// What was said on a branch, as one HTML document.
pub(crate) fn render(header: &Header, branch: &[Arc<Entry>]) -> String {
    let title = escaped(name(branch).unwrap_or("Session"));
    let facts = [header.id.as_str(), &header.timestamp, &header.cwd].map(escaped).join(" · ");
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<p class=\"facts\">{facts}</p>\n"
    );
    for entry in branch {
        if let Some(speech) = speech::of(entry) {
            article(&mut page, entry, &speech);
        }
    }
    page.push_str("</body>\n</html>\n");
    page
}

/// The name that the session was given last on this branch.
pub(super) fn name(branch: &[Arc<Entry>]) -> Option<&str> {
    let last = branch.iter().rev().find_map(|entry| match &entry.kind {
        EntryKind::SessionInfo(info) => Some(info),
        _ => None,
    });
    last?.name.as_deref()
}

fn article(page: &mut String, entry: &Entry, speech: &Speech<'_>) {
    let (id, at) = (escaped(entry.id.as_str()), escaped(&entry.timestamp));
    page.push_str(&format!(
        "<article class=\"{}\" id=\"e-{id}\">\n<h2>{} <a href=\"#e-{id}\">{id}</a> <time>{at}</time></h2>\n",
        speech.who.word(),
        escaped(&speech.title)
    ));
    for piece in &speech.pieces {
        self::piece(page, piece, speech.who);
    }
    page.push_str("</article>\n");
}

fn piece(page: &mut String, piece: &Piece<'_>, who: Who) {
    match piece {
        Piece::Plain(text) => page.push_str(&format!("<div class=\"plain\">{}</div>\n", escaped(text))),
        Piece::Prose(text) => {
            page.push_str("<div class=\"prose\">\n");
            pulldown_cmark::html::push_html(page, harmless(&clean(text)).into_iter());
            page.push_str("</div>\n");
        }
        Piece::Thinking(text) => folded(page, "thinking", text),
        Piece::Image { data, mime_type } => image(page, data, mime_type),
        Piece::Call { name, arguments } => {
            page.push_str(&format!(
                "<pre class=\"call\"><b>{}</b> {}</pre>\n",
                escaped(name),
                escaped(arguments)
            ));
        }
        Piece::Output(text) => {
            let n_lines = text.lines().count();
            if n_lines > MAX_OPEN_LINES && matches!(who, Who::Tool | Who::FailedTool | Who::Shell) {
                folded(page, &format!("{n_lines} lines"), text);
            } else {
                page.push_str(&format!("<pre>{}</pre>\n", escaped(text)));
            }
        }
        Piece::Remark(text) => page.push_str(&format!("<p class=\"remark\">{}</p>\n", escaped(text))),
    }
}

fn folded(page: &mut String, summary: &str, text: &str) {
    page.push_str(&format!(
        "<details><summary>{}</summary><pre>{}</pre></details>\n",
        escaped(summary),
        escaped(text)
    ));
}

fn image(page: &mut String, data: &str, mime_type: &str) {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    if IMAGE_TYPES.contains(&mime_type) && data.bytes().all(is_base64) {
        page.push_str(&format!("<img alt=\"{mime_type}\" src=\"data:{mime_type};base64,{data}\">\n"));
    } else {
        page.push_str(&format!("<p class=\"remark\">({}: not shown)</p>\n", escaped(mime_type)));
    }
}

/// Markdown without what a reader's browser would act on.
fn harmless(text: &str) -> Vec<Event<'_>> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    // Of each link that is open, whether it stays one.
    let mut links = Vec::new();
    let keep = |event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
        Event::Start(Tag::HtmlBlock) => Some(Event::Start(Tag::Paragraph)),
        Event::End(TagEnd::HtmlBlock) => Some(Event::End(TagEnd::Paragraph)),
        // Loading it would tell whoever runs that server that, and when, the page was read.
        Event::Start(Tag::Image { dest_url, .. }) => {
            Some(Event::Text(CowStr::from(format!("[picture at {dest_url}: "))))
        }
        Event::End(TagEnd::Image) => Some(Event::Text("]".into())),
        Event::Start(Tag::Link { ref dest_url, .. }) => {
            links.push(is_harmless(dest_url));
            links.last().copied().unwrap_or(false).then_some(event)
        }
        Event::End(TagEnd::Link) => links.pop().unwrap_or(false).then_some(event),
        other => Some(other),
    };
    Parser::new_ext(text, options).filter_map(keep).collect()
}

fn is_harmless(url: &str) -> bool {
    let scheme = url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https" | "mailto"))
}

/// Text between tags or in an attribute, with nothing hidden in it.
fn escaped(text: &str) -> String {
    let text: Cow<'_, str> =
        if text.contains('\r') { text.replace("\r\n", "\n").into() } else { text.into() };
    let mut shown = String::with_capacity(text.len() + 16);
    for c in screen::visible(&text).chars() {
        match c {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '"' => shown.push_str("&quot;"),
            '\'' => shown.push_str("&#39;"),
            other => shown.push(other),
        }
    }
    shown
}

#[cfg(test)]
#[path = "html_tests.rs"]
mod tests;
