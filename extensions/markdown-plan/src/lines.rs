//! Lines of the model's text, and what stands at their beginning.

/// One line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// In the model's text, from 1.
    pub(crate) number: usize,
    /// Columns of white space before the text; a tab leads to the next multiple of four.
    pub(crate) indent: usize,
    /// Without white space around it.
    pub(crate) text: &'a str,
}

impl Line<'_> {
    pub(crate) fn is_blank(&self) -> bool {
        self.text.is_empty()
    }
}

pub(crate) fn split(text: &str) -> Vec<Line<'_>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let line = |(at, raw)| Line { number: at + 1, indent: indent(raw), text: raw.trim() };
    text.lines().enumerate().map(line).collect()
}

fn indent(raw: &str) -> usize {
    let mut columns = 0;
    for character in raw.chars() {
        match character {
            ' ' => columns += 1,
            '\t' => columns = columns / 4 * 4 + 4,
            _ => break,
        }
    }
    columns
}

/// What begins an item of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marker {
    /// `-`, `*`, `+`, `•`, or the `1.2` of a part.
    Bullet,
    /// `1.`, `1)`, `(1)`.
    Number(u32),
}

/// The marker of a line and what follows it.
pub(crate) fn marker(text: &str) -> Option<(Marker, &str)> {
    if is_rule(text) {
        return None;
    }
    if let Some(rest) = text.strip_prefix(['-', '*', '+', '•']) {
        return separate(rest).map(|rest| (Marker::Bullet, rest));
    }
    // A check box without a bullet is an item as well; the box stays, because it is read later.
    if check_box(text).is_some() {
        return Some((Marker::Bullet, text));
    }
    let (open, inner) = text.strip_prefix('(').map_or((false, text), |rest| (true, rest));
    let (number, rest) = number(inner)?;
    if open {
        return Some((Marker::Number(number), separate(rest.strip_prefix(')')?)?));
    }
    if let Some(rest) = rest.strip_prefix([')']) {
        return separate(rest).map(|rest| (Marker::Number(number), rest));
    }
    let mut rest = rest.strip_prefix('.')?;
    if let Some(rest) = separate(rest) {
        return Some((Marker::Number(number), rest));
    }
    // `1.2`, `1.2.` and deeper.
    while let Some((_part, after)) = self::number(rest) {
        match after.strip_prefix('.') {
            Some(after) if !after.starts_with(|c: char| c.is_ascii_digit()) => {
                return separate(after).map(|rest| (Marker::Bullet, rest));
            }
            Some(after) => rest = after,
            None => {
                let after = after.strip_prefix(')').unwrap_or(after);
                return separate(after).map(|rest| (Marker::Bullet, rest));
            }
        }
    }
    None
}

/// What follows a marker: nothing, or a space and a text.
fn separate(rest: &str) -> Option<&str> {
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.trim_start())
}

fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    // More digits are no number of a step, but a year or a key.
    let digits = text.get(..end).filter(|digits| (1..=4).contains(&digits.len()))?;
    Some((digits.parse().ok()?, &text[end..]))
}

/// `---`, `***`, `___`: a line across the page.
pub(crate) fn is_rule(text: &str) -> bool {
    let Some(sign) = text.chars().next().filter(|sign| matches!(sign, '-' | '*' | '_')) else { return false };
    text.chars().all(|c| c == sign || c == ' ') && text.chars().filter(|c| *c == sign).count() >= 3
}

/// `<plan>`, `</steps>`: a tag alone on its line, as models are told to write them.
pub(crate) fn is_tag(text: &str) -> bool {
    let inner = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    let name = inner.map(|inner| inner.trim_start_matches('/'));
    name.is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
    })
}

/// The opening of a block of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fence<'a> {
    sign: char,
    length: usize,
    /// The language, as far as one is named.
    pub(crate) info: &'a str,
}

impl<'a> Fence<'a> {
    pub(crate) fn open(text: &'a str) -> Option<Self> {
        let sign = text.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
        let info = text.trim_start_matches(sign);
        let length = text.len() - info.len();
        let info = info.trim();
        // Text with backticks in it is code within a line.
        (length >= 3 && !(sign == '`' && info.contains('`'))).then_some(Self { sign, length, info })
    }

    pub(crate) fn closes(&self, text: &str) -> bool {
        text.len() >= self.length && !text.is_empty() && text.chars().all(|c| c == self.sign)
    }
}

/// The level and the text of a heading: `## Text`.
pub(crate) fn heading(text: &str) -> Option<(usize, &str)> {
    let rest = text.trim_start_matches('#');
    let level = text.len() - rest.len();
    let title = separate(rest)?.trim_end_matches('#').trim_end();
    ((1..=6).contains(&level) && !title.is_empty()).then_some((level, title))
}

/// The inside of a line that is bold from end to end, with or without a colon behind it.
pub(crate) fn bold_line(text: &str) -> Option<&str> {
    let text = text.strip_suffix(':').unwrap_or(text);
    let inner = ["**", "__"]
        .into_iter()
        .find_map(|sign| text.strip_prefix(sign)?.strip_suffix(sign).filter(|inner| !inner.contains(sign)))?;
    let inner = inner.trim().trim_end_matches(':').trim_end();
    (!inner.is_empty()).then_some(inner)
}

/// What numbers a heading or a line as a part of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Label {
    /// `Step 1:`, `Task 1:`
    Step,
    /// `Phase 1:`, `Stage 1:`: holds steps.
    Phase,
    /// `1.` of a heading.
    Number,
}

const STEPS: [&str; 3] = ["step", "task", "action"];
const PHASES: [&str; 5] = ["phase", "stage", "milestone", "part", "iteration"];

/// A label such as `Step 1:` and what follows it, which may be nothing. Without a sign behind the number it is a label only
/// where the line ends.
pub(crate) fn label(text: &str) -> Option<(Label, &str)> {
    let end = text.find(|c: char| !c.is_ascii_alphabetic())?;
    let word = text[..end].to_ascii_lowercase();
    let kind = match word.as_str() {
        word if STEPS.contains(&word) => Label::Step,
        word if PHASES.contains(&word) => Label::Phase,
        _ => return None,
    };
    let (_number, rest) = number(text[end..].strip_prefix([' ', '\u{a0}', '#'])?.trim_start_matches('#'))?;
    let rest = rest.trim_start();
    match rest.strip_prefix([':', '.', ')', '-', '–', '—']) {
        Some(after) => Some((kind, after.trim_start_matches(['-', '–', '—']).trim_start())),
        None => rest.is_empty().then_some((kind, rest)),
    }
}

/// Whether a text begins with `[ ]` or `[x]`, what that says, and what follows it.
pub(crate) fn check_box(text: &str) -> Option<(bool, &str)> {
    let mut letters = text.strip_prefix('[')?.chars();
    let sign = letters.next()?;
    let rest = letters.as_str().strip_prefix(']')?;
    let done = match sign {
        ' ' => false,
        'x' | 'X' | '✓' | '✔' => true,
        // Begun, or in question.
        '-' | '~' | '/' | '?' | '!' => false,
        _ => return None,
    };
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then_some((done, rest))
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
