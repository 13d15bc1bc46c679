//! Where in a JSON text an error lies.
//!
//! Tracking the path while reading costs every type its deserialization code twice, most of it never run. Here the path is
//! worked out afterwards, from the position at which reading stopped.

/// The text on one line, with a space before each comma and closing bracket. Reading it again fails in the same way, but
/// at a position that tells a value from its container: right after the value, or at the bracket.
pub(super) fn spaced(text: &str) -> String {
    let mut whole = String::with_capacity(text.len() + text.len() / 8);
    let mut string = StringState::Outside;
    for character in text.chars() {
        string = string.after(character);
        match character {
            '\n' if string == StringState::Outside => whole.push(' '),
            ',' | '}' | ']' if string == StringState::Outside => {
                whole.push(' ');
                whole.push(character);
            }
            other => whole.push(other),
        }
    }
    whole
}

/// The path to what was being read when the first `end` bytes of a [`spaced`] text had been read: `a.b[0]`, or empty for the
/// whole.
pub(super) fn path(spaced: &str, end: usize) -> String {
    let mut steps: Vec<Step<'_>> = Vec::new();
    let mut string = StringState::Outside;
    let (mut begin, mut last) = (0, "");
    for (place, character) in spaced.char_indices().take_while(|(place, _)| *place < end) {
        let before = string;
        string = string.after(character);
        match (before, string) {
            (StringState::Outside, StringState::Inside) => begin = place + 1,
            (StringState::Inside, StringState::Outside) => last = &spaced[begin..place],
            (StringState::Outside, StringState::Outside) => match (character, steps.last_mut()) {
                ('{', _) => steps.push(Step::Key(None)),
                ('[', _) => steps.push(Step::Index(0)),
                ('}' | ']', _) => drop(steps.pop()),
                (':', Some(Step::Key(key))) => *key = Some(last),
                (',', Some(Step::Key(key))) => *key = None,
                (',', Some(Step::Index(index))) => *index += 1,
                _ => {}
            },
            _ => {}
        }
    }
    // Reading had come to the end of this container, and only then found it wrong.
    if spaced.as_bytes().get(end).is_some_and(|next| matches!(next, b'}' | b']')) {
        steps.pop();
    }
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Key(Some(key)) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(key);
            }
            Step::Key(None) => {}
            Step::Index(index) => {
                path.push('[');
                path.push_str(&index.to_string());
                path.push(']');
            }
        }
    }
    path
}

/// A step from a container to what is in it.
enum Step<'a> {
    /// Absent until the colon.
    Key(Option<&'a str>),
    Index(usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StringState {
    Outside,
    Inside,
    /// After a backslash.
    Escaped,
}

impl StringState {
    fn after(self, character: char) -> Self {
        match (self, character) {
            (Self::Outside, '"') | (Self::Escaped, _) => Self::Inside,
            (Self::Inside, '"') => Self::Outside,
            (Self::Inside, '\\') => Self::Escaped,
            (state, _) => state,
        }
    }
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
