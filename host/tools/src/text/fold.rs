//! Text reduced to what two people would call the same, with the way back.
//!
//! A model that copies text from a file may change its line ends, spaces at line ends, typographic quotes and dashes, or
//! the Unicode form of accented letters. [`Folded`] is a text without these differences that still knows which bytes of
//! the original each of its bytes stands for, so that an edit can match loosely and yet leave every byte outside of
//! the match as it was.

use std::ops::Range;
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// How much is folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Folding {
    /// CRLF becomes LF.
    LineEnds,
    /// Also: NFKC, plain quotes, dashes and spaces, no spaces at line ends.
    Loose,
}

/// A folded text.
pub(crate) struct Folded {
    pub(crate) text: String,
    /// True when spaces at the very end, where no line end follows, were dropped.
    pub(crate) trimmed_at_end: bool,
    /// In order, without gaps in `text`; gaps in the original are what was dropped.
    pieces: Vec<Piece>,
}

/// A stretch of the folded text and what it stands for.
struct Piece {
    folded: Range<usize>,
    original: Range<usize>,
    /// Byte for byte the same. Otherwise the piece has no inner points that mean anything in the original.
    same: bool,
}

impl Folded {
    pub(crate) fn new(original: &str, folding: Folding) -> Self {
        let mut folded =
            Self { text: String::with_capacity(original.len()), trimmed_at_end: false, pieces: vec![] };
        let mut at = 0;
        while at < original.len() {
            at = match folding {
                Folding::LineEnds => folded.take_line(original, at),
                Folding::Loose => folded.take_segment(original, at),
            };
        }
        folded
    }

    /// Where in the original a stretch of the folded text lies. `None` when it begins or ends inside of something that
    /// was folded as a whole.
    pub(crate) fn original(&self, folded: Range<usize>) -> Option<Range<usize>> {
        let first = self.piece_at(folded.start)?;
        let last = self.piece_at(folded.end.checked_sub(1)?)?;
        let start = first.original.start + inner(first, folded.start - first.folded.start)?;
        let end = last.original.end - inner(last, last.folded.end - folded.end)?;
        Some(start..end)
    }

    fn piece_at(&self, at: usize) -> Option<&Piece> {
        let index = self.pieces.partition_point(|piece| piece.folded.end <= at);
        self.pieces.get(index)
    }

    fn take_line(&mut self, original: &str, at: usize) -> usize {
        match original[at..].find("\r\n") {
            Some(0) => {
                self.push("\n", at..at + 2);
                at + 2
            }
            Some(length) => {
                self.push(&original[at..at + length], at..at + length);
                at + length
            }
            None => {
                self.push(&original[at..], at..original.len());
                original.len()
            }
        }
    }

    fn take_segment(&mut self, original: &str, at: usize) -> usize {
        let rest = &original[at..];
        if rest.starts_with("\r\n") {
            self.push("\n", at..at + 2);
            return at + 2;
        }
        let spaces =
            rest.len() - rest.trim_start_matches(|c: char| c != '\n' && c != '\r' && c.is_whitespace()).len();
        if spaces > 0 {
            let after = &rest[spaces..];
            if after.is_empty() || after.starts_with('\n') || after.starts_with("\r\n") {
                self.trimmed_at_end = after.is_empty();
                return at + spaces;
            }
        }
        // All spaces of a run at once: looking for its end again at each of them would be quadratic.
        if spaces > 0 {
            for (index, space) in rest[..spaces].char_indices() {
                self.push_folded(&rest[index..index + space.len_utf8()], at + index);
            }
            return at + spaces;
        }
        let length = segment_length(rest);
        self.push_folded(&rest[..length], at);
        at + length
    }

    fn push_folded(&mut self, segment: &str, at: usize) {
        let range = at..at + segment.len();
        if segment.is_ascii() {
            self.push(segment, range);
        } else {
            let folded: String = segment.nfkc().map(plain).collect();
            let same = folded == segment;
            self.push_piece(&folded, range, same);
        }
    }

    fn push(&mut self, text: &str, original: Range<usize>) {
        let same = text.len() == original.len();
        self.push_piece(text, original, same);
    }

    fn push_piece(&mut self, text: &str, original: Range<usize>, same: bool) {
        let folded = self.text.len()..self.text.len() + text.len();
        self.text.push_str(text);
        match self.pieces.last_mut() {
            Some(last) if same && last.same && last.original.end == original.start => {
                last.folded.end = folded.end;
                last.original.end = original.end;
            }
            _ => self.pieces.push(Piece { folded, original, same }),
        }
    }
}

/// The distance in the original that belongs to a distance in the folded text, both from the same end of `piece`.
fn inner(piece: &Piece, distance: usize) -> Option<usize> {
    (piece.same || distance == 0).then_some(distance)
}

/// Bytes of the first character and of all that combine with it.
fn segment_length(text: &str) -> usize {
    text.char_indices().skip(1).find(|(_, c)| !joins_previous(*c)).map_or(text.len(), |(index, _)| index)
}

fn joins_previous(c: char) -> bool {
    !c.is_ascii()
        && (canonical_combining_class(c) != 0 || is_nfkc_quick(std::iter::once(c)) == IsNormalized::Maybe)
}

fn plain(c: char) -> char {
    match c {
        '\u{2018}'..='\u{201B}' => '\'',
        '\u{201C}'..='\u{201F}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\n' | '\r' | '\t' => c,
        c if c.is_whitespace() => ' ',
        c => c,
    }
}

#[cfg(test)]
#[path = "fold_tests.rs"]
mod tests;
