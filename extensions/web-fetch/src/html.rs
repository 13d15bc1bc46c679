//! A web page as readable text: Markdown in one pass over the tags.
//!
//! There is no tree: a page is untrusted, may be of any size and rarely closes what it opens, and all that is needed is
//! which text stands where.

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{StartTag, Token, Tokenizer};

use crate::address;
use crate::writer::Writer;

/// Never text for a reader.
const MACHINERY: [&str; 13] = [
    "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "canvas", "audio", "video",
    "select", "datalist",
];

/// What stands around the text of a page.
const AROUND: [&str; 5] = ["nav", "footer", "aside", "button", "dialog"];

/// Elements whose end may be left out, so that one that is hidden would hide all that follows.
const UNCLOSED: [&str; 14] =
    ["p", "li", "td", "th", "tr", "dt", "dd", "option", "thead", "tbody", "tfoot", "body", "html", "head"];

/// Elements without an end.
const VOID: [&str; 13] =
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"];

/// A page with less text may have been cut in the wrong place.
const LEAST_BYTES: usize = 200;

/// It was, if a less strict reading finds so many times as much.
const MUCH_MORE: usize = 4;

/// A page as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) title: String,
    pub(crate) text: String,
    /// Whether the text ends before the page does.
    pub(crate) is_cut: bool,
}

/// How much of a page counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// What is inside of `<main>` or an `<article>`, without what stands around it.
    Main,
    /// All without what stands around it.
    Body,
    /// All that is text.
    Everything,
}

/// Reads a page. `address` is what its links are relative to; the text has at most `max_bytes` bytes.
pub(crate) fn read(html: &str, address: &str, max_bytes: usize) -> Page {
    let mut best = Page { title: String::new(), text: String::new(), is_cut: false };
    for scope in [Scope::Main, Scope::Body, Scope::Everything] {
        let Some(page) = read_in(html, address, max_bytes, scope) else { continue };
        if best.text.is_empty() || page.text.len() > best.text.len() * MUCH_MORE {
            best = page;
        }
        if best.text.len() >= LEAST_BYTES.min(max_bytes) {
            break;
        }
    }
    best
}

/// `None` where a page has no main part and that was asked for.
fn read_in(html: &str, address: &str, max_bytes: usize, scope: Scope) -> Option<Page> {
    let mut emitter = DefaultEmitter::<()>::default();
    emitter.naively_switch_states(true);
    let mut reader = Reader {
        scope,
        base: address.to_owned(),
        title: String::new(),
        in_title: false,
        skipped: None,
        main: None,
        had_main: false,
        writer: Writer::new(max_bytes),
    };
    for token in Tokenizer::new_with_emitter(html, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => reader.open(&tag),
            Token::EndTag(tag) => reader.close(&String::from_utf8_lossy(&tag.name)),
            Token::String(text) => reader.text(&String::from_utf8_lossy(&text)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
        if reader.writer.is_full() {
            break;
        }
    }
    if scope == Scope::Main && !reader.had_main {
        return None;
    }
    let is_cut = reader.writer.is_full();
    let title = reader.title.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(Page { title, text: reader.writer.finish(), is_cut })
}

/// An element that is open, and how many of the same name are open inside of it.
type Open = Option<(String, usize)>;

struct Reader {
    scope: Scope,
    base: String,
    title: String,
    in_title: bool,
    skipped: Open,
    main: Open,
    had_main: bool,
    writer: Writer,
}

impl Reader {
    fn open(&mut self, tag: &StartTag<()>) {
        let name = String::from_utf8_lossy(&tag.name);
        let name = name.as_ref();
        let is_void = VOID.contains(&name);
        // Only foreign elements close themselves; on others the slash means nothing.
        let closes_itself = is_void || (tag.self_closing && matches!(name, "svg" | "math"));
        if let Some((skipped, depth)) = &mut self.skipped {
            *depth += usize::from(skipped == name && !closes_itself);
            return;
        }
        if self.is_skipped(name, tag) {
            if !closes_itself {
                self.skipped = Some((name.to_owned(), 0));
            }
            return;
        }
        if name == "title" && self.title.is_empty() {
            self.in_title = true;
            return;
        }
        if name == "base"
            && let Some(href) = attribute(tag, "href")
        {
            self.base = address::join(&self.base, &href);
        }
        match &mut self.main {
            Some((main, depth)) => *depth += usize::from(main == name),
            None => {
                let is_main =
                    matches!(name, "main" | "article") || attribute(tag, "role").as_deref() == Some("main");
                if is_main && !is_void {
                    self.main = Some((name.to_owned(), 0));
                    self.had_main = true;
                }
            }
        }
        if self.is_read() {
            self.element(name, tag);
        }
    }

    fn element(&mut self, name: &str, tag: &StartTag<()>) {
        let base = &self.base;
        let link = |attribute: Option<String>| attribute.and_then(|href| linked(base, &href));
        match name {
            "a" => self.writer.open_link(link(attribute(tag, "href"))),
            "img" => {
                let alt = attribute(tag, "alt").unwrap_or_default();
                self.writer.image(&alt);
            }
            "ol" => {
                let start = attribute(tag, "start").and_then(|start| start.parse().ok());
                self.writer.open_list(Some(start.unwrap_or(1)));
            }
            "pre" | "code" => {
                let class = attribute(tag, "class").unwrap_or_default();
                let language = class.split_whitespace().find_map(|class| {
                    class.strip_prefix("language-").or_else(|| class.strip_prefix("lang-"))
                });
                self.writer.open_code(name == "pre", language);
            }
            _ => self.writer.open(name),
        }
    }

    fn close(&mut self, name: &str) {
        if let Some((skipped, depth)) = &mut self.skipped {
            if skipped == name {
                match depth.checked_sub(1) {
                    Some(less) => *depth = less,
                    None => self.skipped = None,
                }
            }
            return;
        }
        if name == "title" && self.in_title {
            self.in_title = false;
            return;
        }
        if self.is_read() {
            self.writer.close(name);
        }
        if let Some((main, depth)) = &mut self.main
            && main == name
        {
            match depth.checked_sub(1) {
                Some(less) => *depth = less,
                None => self.main = None,
            }
        }
    }

    fn text(&mut self, text: &str) {
        if self.skipped.is_some() {
            return;
        }
        if self.in_title {
            let room = 300_usize.saturating_sub(self.title.len());
            self.title.extend(text.chars().filter(|c| !is_hidden(*c)).take(room));
        } else if self.is_read() {
            self.writer.text(text);
        }
    }

    fn is_read(&self) -> bool {
        self.scope != Scope::Main || self.main.is_some()
    }

    fn is_skipped(&self, name: &str, tag: &StartTag<()>) -> bool {
        if MACHINERY.contains(&name) {
            return true;
        }
        if self.scope == Scope::Everything {
            return false;
        }
        let is_hidden = || {
            let style = attribute(tag, "style").unwrap_or_default().replace(' ', "").to_ascii_lowercase();
            tag.attributes.contains_key(b"hidden".as_slice())
                || attribute(tag, "aria-hidden").as_deref() == Some("true")
                || style.contains("display:none")
                || style.contains("visibility:hidden")
        };
        AROUND.contains(&name)
            || (!UNCLOSED.contains(&name) && !VOID.contains(&name) && is_hidden())
            || matches!(
                attribute(tag, "role").as_deref(),
                Some("navigation" | "banner" | "search" | "contentinfo")
            )
    }
}

fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    let value = tag.attributes.get(name.as_bytes())?;
    Some(String::from_utf8_lossy(value).trim().to_owned())
}

/// Where a link leads, if a reader could follow it.
fn linked(base: &str, href: &str) -> Option<String> {
    if href.is_empty() || href.starts_with('#') || href.len() > 2_000 {
        return None;
    }
    let joined = address::join(base, href);
    let is_followed = ["http://", "https://", "mailto:"].iter().any(|scheme| joined.starts_with(scheme));
    (is_followed && !joined.contains(|c: char| c.is_whitespace() || is_hidden(c) || matches!(c, '(' | ')')))
        .then_some(joined)
}

/// Characters that no eye sees and a model reads.
pub(crate) fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{feff}' | '\u{3164}' | '\u{ffa0}' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}' => true,
        other => other.is_control(),
    }
}

#[cfg(test)]
#[path = "html_tests.rs"]
mod tests;
