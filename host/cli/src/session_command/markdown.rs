//! A conversation as Markdown.

use super::prose::{fenced, inert, plain};
use super::speech::{self, Piece};
use crate::screen;
use capstan_ports::entry::Entry;
use capstan_session::Header;
use std::sync::Arc;

/// What was said on a branch. What stands in it cannot begin HTML, load a picture, end a code block or pass for a heading
/// of the document.
pub(super) fn render(header: &Header, branch: &[Arc<Entry>]) -> String {
    let title = super::html::name(branch).unwrap_or("Session");
    let mut out = format!(
        "# {}\n\n{}\n",
        plain(title),
        plain(&format!("{} · {} · {}", header.id, header.timestamp, header.cwd))
    );
    for entry in branch {
        let Some(speech) = speech::of(entry) else { continue };
        out.push_str(&format!("\n## {}\n", plain(&speech.title)));
        for piece in &speech.pieces {
            out.push('\n');
            out.push_str(self::piece(piece).trim_end_matches('\n'));
            out.push('\n');
        }
    }
    out
}

fn piece(piece: &Piece<'_>) -> String {
    match piece {
        Piece::Plain(text) => inert(text),
        Piece::Prose(text) => inert(text),
        Piece::Thinking(text) => format!("_Thinking:_\n\n{}", fenced(text, "")),
        Piece::Image { data, mime_type } => {
            let bytes = data.len() as u64 / 4 * 3;
            format!("_({}, {})_", plain(mime_type), screen::size(bytes))
        }
        Piece::Call { name: "$", arguments } => fenced(arguments, "sh"),
        Piece::Call { name, arguments } => format!("Calls {}:\n\n{}", plain(name), fenced(arguments, "json")),
        Piece::Output(text) => fenced(text, ""),
        Piece::Remark(text) => format!("_({})_", plain(text)),
    }
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
