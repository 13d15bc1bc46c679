//! Arguments and their places: `$1`, `$@`, `$ARGUMENTS`, `${@:2}`, `${@:2:3}`.

/// Longest text that a template becomes, in bytes. Each `$@` repeats all arguments, so a small template and a long line could
/// otherwise fill the memory.
pub(crate) const MAX_EXPANDED_BYTES: usize = 1 << 20;

/// A piece of a template.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    /// The argument of this number, counted from 1.
    One(usize),
    /// Arguments from this number on, and how many of them.
    From(usize, usize),
}

/// The template with arguments in their places. A place without an argument becomes nothing. It is read once, from left to
/// right: what stands in an argument is text, whatever it looks like.
///
/// # Errors
/// When the result would be longer than [`MAX_EXPANDED_BYTES`].
pub(crate) fn expand(template: &str, arguments: &[String]) -> Result<String, String> {
    let mut expanded = String::with_capacity(template.len().min(MAX_EXPANDED_BYTES));
    let mut push = |text: &str| {
        if expanded.len() + text.len() > MAX_EXPANDED_BYTES {
            return Err(format!("with its arguments it is longer than {} MiB", MAX_EXPANDED_BYTES >> 20));
        }
        expanded.push_str(text);
        Ok(())
    };
    for piece in pieces(template) {
        match piece {
            Piece::Text(text) => push(text)?,
            Piece::One(number) => {
                let argument = number.checked_sub(1).and_then(|at| arguments.get(at));
                push(argument.map_or("", String::as_str))?;
            }
            Piece::From(number, n) => {
                for (at, argument) in arguments.iter().skip(number.saturating_sub(1)).take(n).enumerate() {
                    if at > 0 {
                        push(" ")?;
                    }
                    push(argument)?;
                }
            }
        }
    }
    Ok(expanded)
}

/// Whether a template has a place for an argument.
pub(crate) fn takes_arguments(template: &str) -> bool {
    pieces(template).any(|piece| !matches!(piece, Piece::Text(_)))
}

/// A line as words. Quotes keep words together, and an empty pair is an empty word; a quote without its second, and an
/// apostrophe within a word, are characters like others. So is a backslash: paths and patterns are full of them.
pub(crate) fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        let is_apostrophe =
            c == '\'' && word.as_ref().is_some_and(|word| word.ends_with(char::is_alphanumeric));
        match c {
            '"' | '\'' if !is_apostrophe => {
                let current = word.get_or_insert_default();
                match rest.split_once(c) {
                    Some((quoted, after)) => {
                        current.push_str(quoted);
                        rest = after;
                    }
                    None => current.push(c),
                }
            }
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

fn pieces(template: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = template;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some((piece, after)) = place(rest) {
            rest = after;
            return Some(piece);
        }
        // A `$` that begins no place is text like what follows it.
        let end = rest.char_indices().skip(1).find(|(_, c)| *c == '$').map_or(rest.len(), |(at, _)| at);
        let (text, after) = rest.split_at(end);
        rest = after;
        Some(Piece::Text(text))
    })
}

/// The place at the beginning of `text`, and what follows it.
fn place(text: &str) -> Option<(Piece<'_>, &str)> {
    let rest = text.strip_prefix('$')?;
    for all in ["ARGUMENTS", "@"] {
        if let Some(after) = rest.strip_prefix(all) {
            return Some((Piece::From(1, usize::MAX), after));
        }
    }
    if let Some(rest) = rest.strip_prefix("{@:") {
        let (number, rest) = digits(rest)?;
        if let Some(after) = rest.strip_prefix('}') {
            return Some((Piece::From(number, usize::MAX), after));
        }
        let (n, rest) = digits(rest.strip_prefix(':')?)?;
        return Some((Piece::From(number, n), rest.strip_prefix('}')?));
    }
    let (number, after) = digits(rest)?;
    Some((Piece::One(number), after))
}

/// A number at the beginning. One beyond all counting stands for no argument.
fn digits(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    (!digits.is_empty()).then(|| (digits.parse().unwrap_or(usize::MAX), rest))
}

#[cfg(test)]
#[path = "expand_tests.rs"]
mod tests;
