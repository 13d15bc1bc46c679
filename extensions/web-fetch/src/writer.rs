//! Writes Markdown, element by element.

use crate::html::is_hidden;

/// Lists and quotations within each other deeper than this are written as if they were not.
const MAX_DEPTH: usize = 8;

/// What waits before the next text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Line,
    Paragraph,
}

/// Text whose marks are set when it ends: a link, bold letters, code.
struct Span {
    name: &'static str,
    /// Where it begins.
    at: usize,
    target: Option<String>,
}

/// A block of code that is collected as it stands.
struct Code {
    text: String,
    language: String,
}

pub(crate) struct Writer {
    out: String,
    max_bytes: usize,
    gap: Gap,
    /// Behind the mark of an item nothing breaks the line.
    is_fresh: bool,
    /// For each open list the next number, if it is numbered.
    lists: Vec<Option<u32>>,
    quotes: usize,
    spans: Vec<Span>,
    code: Option<Code>,
    /// Cells of the row that is open, and whether it is the table's first.
    row: Option<usize>,
    tables: usize,
    is_first_row: bool,
}

impl Writer {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self {
            out: String::new(),
            max_bytes,
            gap: Gap::None,
            is_fresh: true,
            lists: Vec::new(),
            quotes: 0,
            spans: Vec::new(),
            code: None,
            row: None,
            tables: 0,
            is_first_row: false,
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.out.len() + self.code.as_ref().map_or(0, |code| code.text.len()) > self.max_bytes
    }

    /// The text, at most as long as was asked for.
    pub(crate) fn finish(mut self) -> String {
        self.end_code();
        let mut end = self.out.len().min(self.max_bytes);
        while !self.out.is_char_boundary(end) {
            end -= 1;
        }
        self.out.truncate(end);
        self.out.truncate(self.out.trim_end().len());
        self.out
    }

    pub(crate) fn text(&mut self, text: &str) {
        if let Some(code) = &mut self.code {
            code.text.extend(text.chars().filter(|c| !is_hidden(*c)));
            return;
        }
        for word in text.split_inclusive(char::is_whitespace) {
            let bare = word.trim();
            if !bare.is_empty() {
                self.settle();
                self.out.extend(bare.chars().filter(|c| !is_hidden(*c)));
                self.is_fresh = false;
            }
            if word.ends_with(char::is_whitespace) {
                self.wait(Gap::Space);
            }
            if self.is_full() {
                return;
            }
        }
    }

    pub(crate) fn image(&mut self, alt: &str) {
        if !alt.is_empty() && self.code.is_none() {
            self.text(&format!("[image: {alt}]"));
        }
    }

    pub(crate) fn open_list(&mut self, start: Option<u32>) {
        self.leave_row();
        self.wait(if self.lists.is_empty() { Gap::Paragraph } else { Gap::Line });
        self.lists.push(start);
    }

    pub(crate) fn open_link(&mut self, target: Option<String>) {
        self.open_span("a", target);
    }

    pub(crate) fn open_code(&mut self, is_block: bool, language: Option<&str>) {
        let language: String = language
            .unwrap_or_default()
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || "+-#_".contains(*c))
            .take(20)
            .collect();
        match &mut self.code {
            Some(code) if code.language.is_empty() => code.language = language,
            Some(_) => {}
            None if is_block => {
                self.leave_row();
                self.wait(Gap::Paragraph);
                self.code = Some(Code { text: String::new(), language });
            }
            None => self.open_span("code", None),
        }
    }

    pub(crate) fn open(&mut self, name: &str) {
        if self.code.is_some() {
            if name == "br" {
                self.text("\n");
            }
            return;
        }
        match name {
            "br" => self.wait(Gap::Line),
            "hr" => {
                self.wait(Gap::Paragraph);
                self.settle();
                self.out.push_str("---");
                self.is_fresh = false;
                self.wait(Gap::Paragraph);
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.leave_row();
                self.wait(Gap::Paragraph);
                self.settle();
                let level = name.as_bytes().get(1).map_or(1, |digit| usize::from(digit - b'0'));
                self.out.extend(std::iter::repeat_n('#', level));
                self.out.push(' ');
                self.is_fresh = true;
            }
            "ul" | "menu" => self.open_list(None),
            "li" => self.open_item(),
            "blockquote" => {
                self.wait(Gap::Paragraph);
                self.quotes += 1;
            }
            "table" => {
                self.leave_row();
                self.wait(Gap::Paragraph);
                self.tables += 1;
                self.is_first_row = true;
            }
            "tr" => {
                self.close_row();
                self.wait(Gap::Line);
                self.row = (self.tables == 1).then_some(0);
            }
            "td" | "th" => self.open_cell(),
            "strong" | "b" => self.open_span("strong", None),
            "em" | "i" => self.open_span("em", None),
            "kbd" | "samp" | "tt" => self.open_span("code", None),
            "dt" => self.wait(Gap::Paragraph),
            "dd" => {
                self.wait(Gap::Line);
                self.settle();
                self.out.push_str(": ");
                self.is_fresh = true;
            }
            _ => self.wait(around(name)),
        }
    }

    pub(crate) fn close(&mut self, name: &str) {
        if self.code.is_some() {
            if name == "pre" {
                self.end_code();
            }
            return;
        }
        match name {
            "a" => self.close_span("a"),
            "code" | "kbd" | "samp" | "tt" => self.close_span("code"),
            "strong" | "b" => self.close_span("strong"),
            "em" | "i" => self.close_span("em"),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.end_line(Gap::Paragraph),
            "ul" | "ol" | "menu" => {
                self.lists.pop();
                self.end_line(if self.lists.is_empty() { Gap::Paragraph } else { Gap::Line });
            }
            "li" | "dd" => {
                // A list is not torn apart by the paragraphs that stand in its items.
                self.gap = Gap::None;
                self.end_line(Gap::Line);
            }
            "blockquote" => {
                self.wait(Gap::Paragraph);
                self.quotes = self.quotes.saturating_sub(1);
            }
            "tr" => self.close_row(),
            "table" => {
                self.close_row();
                self.tables = self.tables.saturating_sub(1);
                self.wait(Gap::Paragraph);
            }
            _ => self.wait(around(name)),
        }
    }

    /// Ends a line that may hold nothing but its mark.
    fn end_line(&mut self, gap: Gap) {
        self.is_fresh = false;
        self.wait(gap);
    }

    fn wait(&mut self, gap: Gap) {
        // In a cell and behind a mark the line goes on.
        let gap = match self.row {
            Some(cells) if cells > 0 => gap.min(Gap::Space),
            _ => gap,
        };
        if !self.is_fresh {
            self.gap = self.gap.max(gap);
        }
    }

    /// Writes what waits.
    fn settle(&mut self) {
        match std::mem::replace(&mut self.gap, Gap::None) {
            _ if self.out.is_empty() => self.quoted(),
            Gap::None => {}
            Gap::Space => self.out.push(' '),
            gap => {
                // Marks do not reach over lines; a link is told behind them.
                self.spans.retain(|span| span.name == "a" && span.target.is_some());
                self.shorten(self.out.trim_end_matches(' ').len());
                self.out.push('\n');
                if gap == Gap::Paragraph {
                    self.quoted();
                    self.out.truncate(self.out.trim_end_matches(' ').len());
                    self.out.push('\n');
                }
                self.quoted();
                let depth = self.lists.len().min(MAX_DEPTH);
                self.out.extend(std::iter::repeat_n("  ", depth));
                self.is_fresh = true;
            }
        }
    }

    /// Takes the end away; what is open begins no later than there.
    fn shorten(&mut self, end: usize) {
        self.out.truncate(end);
        for span in &mut self.spans {
            span.at = span.at.min(end);
        }
    }

    fn quoted(&mut self) {
        self.out.extend(std::iter::repeat_n("> ", self.quotes.min(MAX_DEPTH)));
    }

    fn open_item(&mut self) {
        self.is_fresh = false;
        self.wait(if self.out.is_empty() { Gap::None } else { Gap::Line });
        let depth = self.lists.len().min(MAX_DEPTH);
        let is_new_line = self.gap >= Gap::Line;
        self.settle();
        // The mark takes the place of the innermost indentation.
        if is_new_line && depth > 0 {
            self.shorten(self.out.len().saturating_sub(2));
        }
        match self.lists.last_mut() {
            Some(Some(number)) => {
                self.out.push_str(&format!("{number}. "));
                *number = number.saturating_add(1);
            }
            _ => self.out.push_str("- "),
        }
        self.is_fresh = true;
    }

    fn open_cell(&mut self) {
        let Some(cells) = self.row else {
            self.wait(Gap::Space);
            return;
        };
        if cells == 0 {
            self.settle();
            self.out.push_str("| ");
        } else {
            self.gap = Gap::None;
            self.out.push_str(" | ");
        }
        self.row = Some(cells + 1);
        self.is_fresh = true;
    }

    fn close_row(&mut self) {
        let Some(cells) = self.row.take().filter(|cells| *cells > 0) else { return };
        self.gap = Gap::None;
        self.out.push_str(" |");
        if std::mem::take(&mut self.is_first_row) {
            self.is_fresh = false;
            self.wait(Gap::Line);
            self.settle();
            self.out.push('|');
            self.out.extend(std::iter::repeat_n("---|", cells.min(200)));
        }
        self.end_line(Gap::Line);
    }

    /// A cell with blocks in it belongs to a table that shapes the page; it becomes text like any other.
    fn leave_row(&mut self) {
        if self.row.take().is_some() {
            self.is_fresh = false;
        }
    }

    fn open_span(&mut self, name: &'static str, target: Option<String>) {
        if self.spans.len() < 32 {
            self.settle();
            self.spans.push(Span { name, at: self.out.len(), target });
        }
    }

    fn close_span(&mut self, name: &str) {
        let Some(position) = self.spans.iter().rposition(|span| span.name == name) else { return };
        let span = self.spans.remove(position);
        let inner = self.out.get(span.at..).unwrap_or_default();
        let has_text = inner.chars().any(char::is_alphanumeric);
        if !has_text {
            // The paragraph signs that headings link to themselves with.
            if name == "a" && span.at <= self.out.len() && inner.chars().count() <= 2 {
                self.shorten(span.at);
            }
            return;
        }
        let is_one_line = !inner.contains('\n');
        let (before, after) = match (span.name, span.target) {
            ("a", Some(target)) if is_one_line && inner.trim() != target => ("[", format!("]({target})")),
            ("a", Some(target)) if !is_one_line => ("", format!(" ({target})")),
            ("strong", _) if is_one_line => ("**", "**".to_owned()),
            ("em", _) if is_one_line => ("*", "*".to_owned()),
            ("code", _) if is_one_line && !inner.contains('`') => ("`", "`".to_owned()),
            _ => return,
        };
        self.out.insert_str(span.at, before);
        for open in self.spans.iter_mut().filter(|open| open.at > span.at) {
            open.at += before.len();
        }
        self.out.push_str(&after);
    }

    fn end_code(&mut self) {
        let Some(code) = self.code.take() else { return };
        let text = code.text.trim_matches('\n').trim_end();
        if text.is_empty() {
            return;
        }
        let mut fence = "```".to_owned();
        while text.contains(&fence) {
            fence.push('`');
        }
        self.settle();
        self.out.push_str(&fence);
        self.out.push_str(&code.language);
        self.is_fresh = false;
        for line in text.lines().chain([fence.as_str()]) {
            self.gap = Gap::Line;
            self.settle();
            self.out.push_str(line);
            if self.is_full() {
                return;
            }
        }
        self.is_fresh = false;
        self.gap = Gap::Paragraph;
    }
}

/// What stands around an element.
fn around(name: &str) -> Gap {
    match name {
        "p" | "section" | "article" | "main" | "dl" | "figure" | "details" | "fieldset" | "form" => {
            Gap::Paragraph
        }
        "div" | "header" | "body" | "address" | "caption" | "figcaption" | "summary" | "dt" | "legend"
        | "hgroup" | "center" | "thead" | "tbody" | "tfoot" => Gap::Line,
        _ => Gap::None,
    }
}
