//! Words: quotes, escapes, and what the shell replaces.

use super::{End, Reader, Unreadable};
use crate::script::{Part, Script, Word};

/// A word in the making: neighbouring text of one kind becomes one part.
#[derive(Default)]
struct Builder {
    word: Word,
}

impl Builder {
    fn push(&mut self, character: char, in_quotes: bool) {
        if let Some(Part::Text { text, quoted }) = self.word.parts.last_mut()
            && *quoted == in_quotes
        {
            text.push(character);
            return;
        }
        self.word.parts.push(Part::Text { text: character.to_string(), quoted: in_quotes });
    }

    fn quoted(&mut self, text: String) {
        self.word.parts.push(Part::Text { text, quoted: true });
    }
}

impl Reader {
    /// The word that starts here. At least one character is consumed where there is one.
    pub(super) fn word(&mut self) -> Result<Word, Unreadable> {
        let mut builder = Builder::default();
        let start = self.at;
        while let Some(character) = self.peek() {
            match character {
                ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | ')' => break,
                '<' | '>' if self.peek_at(1) == Some('(') && builder.word.parts.is_empty() => {
                    self.at += 2;
                    let script = self.list(End::Parenthesis)?;
                    builder.word.parts.push(Part::Substitution(script));
                }
                '<' | '>' => break,
                '(' => {
                    // Only a pattern such as `@(a|b)` has a bracket inside a word.
                    if self.at > start && matches!(self.text[self.at - 1], '?' | '*' | '+' | '@' | '!') {
                        self.skip_pattern()?;
                        builder.word.parts.push(Part::Unknown("(…)".to_owned()));
                    } else {
                        break;
                    }
                }
                '\\' => {
                    self.at += 1;
                    match self.peek() {
                        // A line continuation leaves nothing behind.
                        Some('\n') => self.at += 1,
                        Some(escaped) => {
                            self.at += 1;
                            builder.push(escaped, true);
                        }
                        None => return Err(Unreadable::Unfinished("escape")),
                    }
                }
                '\'' => {
                    self.at += 1;
                    let text = self.single_quoted()?;
                    builder.quoted(text);
                }
                '"' => {
                    self.at += 1;
                    let inner = self.double_quoted(Some('"'))?;
                    builder.word.parts.extend(inner.parts);
                }
                '$' => self.dollar(&mut builder.word, false)?,
                '`' => self.backticks(&mut builder.word)?,
                other => {
                    self.at += 1;
                    builder.push(other, false);
                }
            }
        }
        if self.at == start && self.at < self.text.len() {
            // A character that cannot start a word here; skipping it keeps every caller moving.
            self.at += 1;
        }
        Ok(builder.word)
    }

    fn single_quoted(&mut self) -> Result<String, Unreadable> {
        let mut text = String::new();
        while let Some(character) = self.peek() {
            self.at += 1;
            if character == '\'' {
                return Ok(text);
            }
            text.push(character);
        }
        Err(Unreadable::Unfinished("quote"))
    }

    /// Text in double quotes up to `end`, or a here-document up to the end of the text.
    pub(super) fn double_quoted(&mut self, end: Option<char>) -> Result<Word, Unreadable> {
        let mut builder = Builder::default();
        // Even empty quotes make a word.
        builder.quoted(String::new());
        loop {
            let Some(character) = self.peek() else {
                return if end.is_none() { Ok(builder.word) } else { Err(Unreadable::Unfinished("quote")) };
            };
            match character {
                _ if Some(character) == end => {
                    self.at += 1;
                    return Ok(builder.word);
                }
                '\\' => {
                    self.at += 1;
                    match self.peek() {
                        Some('\n') => self.at += 1,
                        Some(escaped @ ('$' | '`' | '"' | '\\')) => {
                            self.at += 1;
                            builder.push(escaped, true);
                        }
                        _ => builder.push('\\', true),
                    }
                }
                '$' => self.dollar(&mut builder.word, true)?,
                '`' => self.backticks(&mut builder.word)?,
                other => {
                    self.at += 1;
                    builder.push(other, true);
                }
            }
        }
    }

    fn dollar(&mut self, word: &mut Word, quoted: bool) -> Result<(), Unreadable> {
        self.at += 1;
        match self.peek() {
            Some('(') if self.peek_at(1) == Some('(') => {
                let start = self.at;
                if self.arithmetic() {
                    word.parts.push(Part::Unknown("$((…))".to_owned()));
                } else {
                    // Not arithmetic after all, but a substitution that begins with a group.
                    self.at = start + 1;
                    let script = self.list(End::Parenthesis)?;
                    word.parts.push(Part::Substitution(script));
                }
            }
            Some('(') => {
                self.at += 1;
                let script = self.list(End::Parenthesis)?;
                word.parts.push(Part::Substitution(script));
            }
            Some('{') => {
                self.at += 1;
                self.braces(word, quoted)?;
            }
            Some('\'') if !quoted => {
                self.at += 1;
                let text = self.escaped_quote()?;
                word.parts.push(Part::Text { text, quoted: true });
            }
            Some('"') if !quoted => {
                self.at += 1;
                let inner = self.double_quoted(Some('"'))?;
                word.parts.extend(inner.parts);
            }
            Some(first) if first.is_ascii_alphabetic() || first == '_' => {
                let mut name = String::new();
                while let Some(character) =
                    self.peek().filter(|next| next.is_ascii_alphanumeric() || *next == '_')
                {
                    self.at += 1;
                    name.push(character);
                }
                word.parts.push(Part::Variable { name, quoted });
            }
            Some(special @ ('0'..='9' | '@' | '*' | '#' | '?' | '$' | '!' | '-')) => {
                self.at += 1;
                word.parts.push(Part::Unknown(format!("${special}")));
            }
            _ => word.parts.push(Part::Text { text: "$".to_owned(), quoted: true }),
        }
        Ok(())
    }

    /// `${ … }`. Anything but a plain name is unknown; commands inside are kept.
    fn braces(&mut self, word: &mut Word, quoted: bool) -> Result<(), Unreadable> {
        let mut written = String::new();
        let mut scripts = Vec::new();
        loop {
            let Some(character) = self.peek() else { return Err(Unreadable::Unfinished("`${`")) };
            match character {
                '}' => {
                    self.at += 1;
                    break;
                }
                '\\' => {
                    self.at += 1;
                    written.push('\\');
                    if let Some(escaped) = self.peek() {
                        self.at += 1;
                        written.push(escaped);
                    }
                }
                '\'' if !quoted => {
                    self.at += 1;
                    written.push_str(&self.single_quoted()?);
                }
                '"' => {
                    self.at += 1;
                    let inner = self.double_quoted(Some('"'))?;
                    scripts.extend(substitutions(inner));
                }
                '$' => {
                    let mut inner = Word::default();
                    self.depth += 1;
                    if self.depth > super::MAX_DEPTH {
                        return Err(Unreadable::TooDeep);
                    }
                    self.dollar(&mut inner, quoted)?;
                    self.depth -= 1;
                    written.push('$');
                    scripts.extend(substitutions(inner));
                }
                '`' => {
                    let mut inner = Word::default();
                    self.backticks(&mut inner)?;
                    scripts.extend(substitutions(inner));
                }
                other => {
                    self.at += 1;
                    written.push(other);
                }
            }
        }
        let is_name = written.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
            && written.chars().next().is_some_and(|first| !first.is_ascii_digit());
        if is_name && scripts.is_empty() {
            word.parts.push(Part::Variable { name: written, quoted });
        } else {
            word.parts.push(Part::Unknown(format!("${{{written}}}")));
            word.parts.extend(scripts.into_iter().map(Part::Substitution));
        }
        Ok(())
    }

    /// The rest of `$'…'`, with the escapes that can hide a letter.
    fn escaped_quote(&mut self) -> Result<String, Unreadable> {
        let mut text = String::new();
        while let Some(character) = self.peek() {
            self.at += 1;
            match character {
                '\'' => return Ok(text),
                '\\' => {
                    let Some(escaped) = self.peek() else { break };
                    self.at += 1;
                    match escaped {
                        'n' => text.push('\n'),
                        't' => text.push('\t'),
                        'r' => text.push('\r'),
                        'x' => text.extend(self.number(16, 2)),
                        'u' => text.extend(self.number(16, 4)),
                        'U' => text.extend(self.number(16, 8)),
                        '0'..='7' => {
                            self.at -= 1;
                            text.extend(self.number(8, 3));
                        }
                        other => text.push(other),
                    }
                }
                other => text.push(other),
            }
        }
        Err(Unreadable::Unfinished("quote"))
    }

    fn number(&mut self, base: u32, digits: usize) -> Option<char> {
        let mut value = 0;
        for _ in 0..digits {
            let Some(digit) = self.peek().and_then(|character| character.to_digit(base)) else { break };
            self.at += 1;
            value = value * base + digit;
        }
        char::from_u32(value)
    }

    /// `` `…` ``: a text of its own, in which a backslash protects a backtick.
    fn backticks(&mut self, word: &mut Word) -> Result<(), Unreadable> {
        self.at += 1;
        let mut inner = String::new();
        loop {
            let Some(character) = self.peek() else { return Err(Unreadable::Unfinished("backtick")) };
            self.at += 1;
            match character {
                '`' => break,
                '\\' => {
                    if let Some(escaped) = self.peek() {
                        self.at += 1;
                        if !matches!(escaped, '`' | '\\' | '$') {
                            inner.push('\\');
                        }
                        inner.push(escaped);
                    }
                }
                other => inner.push(other),
            }
        }
        let mut reader = Reader { text: inner.chars().collect(), at: 0, depth: self.depth };
        word.parts.push(Part::Substitution(reader.list(End::Text)?));
        Ok(())
    }

    /// Steps over `((…))`; false when the brackets do not close together.
    fn arithmetic(&mut self) -> bool {
        let mut open = 0usize;
        while let Some(character) = self.peek() {
            self.at += 1;
            match character {
                '(' => open += 1,
                ')' => {
                    open -= 1;
                    if open == 1 && self.peek() != Some(')') {
                        return false;
                    }
                    if open == 0 {
                        return true;
                    }
                }
                // Commands can hide in there, so it is read as a substitution.
                '`' => return false,
                '$' if self.peek() == Some('(') => return false,
                _ => {}
            }
        }
        false
    }

    fn skip_pattern(&mut self) -> Result<(), Unreadable> {
        let mut open = 0usize;
        while let Some(character) = self.peek() {
            self.at += 1;
            match character {
                '(' => open += 1,
                ')' => {
                    open -= 1;
                    if open == 0 {
                        return Ok(());
                    }
                }
                _ => {}
            }
        }
        Err(Unreadable::Unfinished("bracket"))
    }
}

fn substitutions(word: Word) -> Vec<Script> {
    word.parts
        .into_iter()
        .filter_map(|part| match part {
            Part::Substitution(script) => Some(script),
            Part::Text { .. } | Part::Variable { .. } | Part::Unknown(_) => None,
        })
        .collect()
}
