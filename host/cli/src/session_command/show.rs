//! `capstan session show`: a conversation for the terminal.

use super::speech::{self, Piece, Who};
use crate::screen::{self, BAD, BOLD, DIM};
use anstyle::Style;
use capstan_ports::entry::Entry;
use capstan_session::Header;
use std::sync::Arc;

/// Lines of an output that are shown unless all are asked for. A conversation is mostly read for what was said.
const MAX_OUTPUT_LINES: usize = 12;

/// How much of what tools and commands printed is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    Short,
    Full,
}

impl Length {
    pub(super) fn of(full: bool) -> Self {
        if full { Self::Full } else { Self::Short }
    }
}

/// The conversation. Everything that is said stands indented, so that nothing in it passes for a line of this program.
pub(super) fn text(header: &Header, branch: &[Arc<Entry>], length: Length) -> String {
    let mut out = format!(
        "{BOLD}{}{BOLD:#}  {DIM}{}  {}{DIM:#}\n",
        screen::brief(header.id.as_str(), usize::MAX),
        screen::brief(&header.timestamp, usize::MAX),
        screen::brief(&header.cwd, usize::MAX)
    );
    for entry in branch {
        let Some(speech) = speech::of(entry) else { continue };
        let style = match speech.who {
            Who::User | Who::Assistant | Who::Shell | Who::Extension => BOLD,
            Who::FailedTool => BAD,
            Who::Tool | Who::Summary | Who::Note => Style::new(),
        };
        let title = screen::brief(&speech.title, usize::MAX);
        let id = screen::brief(entry.id.as_str(), usize::MAX);
        out.push_str(&format!("\n{style}{title}{style:#}  {DIM}{id}{DIM:#}\n"));
        for piece in &speech.pieces {
            self::piece(&mut out, piece, length);
        }
    }
    out
}

fn piece(out: &mut String, piece: &Piece<'_>, length: Length) {
    match piece {
        Piece::Plain(text) => indented(out, text, Style::new(), usize::MAX),
        Piece::Prose(text) => indented(out, text, Style::new(), usize::MAX),
        Piece::Thinking(text) => indented(out, text, DIM, usize::MAX),
        Piece::Image { data, mime_type } => {
            let bytes = data.len() as u64 / 4 * 3;
            indented(out, &format!("({mime_type}, {})", screen::size(bytes)), DIM, usize::MAX);
        }
        Piece::Call { name, arguments } => {
            indented(out, &format!("{name} {arguments}"), Style::new().bold(), usize::MAX);
        }
        Piece::Output(text) => {
            let max = if length == Length::Full { usize::MAX } else { MAX_OUTPUT_LINES };
            indented(out, text, DIM, max);
        }
        Piece::Remark(text) => indented(out, &format!("({text})"), DIM, usize::MAX),
    }
}

fn indented(out: &mut String, text: &str, style: Style, max_lines: usize) {
    let mut lines = text.trim_end().lines();
    for line in lines.by_ref().take(max_lines) {
        if line.is_empty() {
            out.push('\n');
            continue;
        }
        out.push_str(&format!("  {style}{}{style:#}\n", screen::visible(line)));
    }
    let n_more = lines.count();
    if n_more > 0 {
        out.push_str(&format!("  {DIM}({n_more} more lines; all of them: --full){DIM:#}\n"));
    }
}
