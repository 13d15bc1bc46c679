//! Reads a command line into a [`Script`], as a POSIX shell with the usual additions of bash would.

mod quoting;

use crate::script::{Command, Part, Pipeline, Redirect, Script, Word};

/// Nesting that no honest command line reaches. Deeper ones are refused, so that reading never exhausts the stack.
const MAX_DEPTH: usize = 24;

/// Why a command line cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// A quote or bracket that never ends.
    Unfinished(&'static str),
    /// A closing bracket without its opening one.
    Stray(char),
    TooDeep,
}

impl Unreadable {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Unfinished(what) => format!("it has an unfinished {what}"),
            Self::Stray(bracket) => format!("it has a stray `{bracket}`"),
            Self::TooDeep => "it nests too deeply".to_owned(),
        }
    }
}

/// Reads a whole text.
pub(crate) fn read(text: &str) -> Result<Script, Unreadable> {
    let mut reader = Reader { text: text.chars().collect(), at: 0, depth: 0 };
    reader.list(End::Text)
}

/// Words that only structure what stands between them.
const STRUCTURE: [&str; 10] = ["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!"];

/// What ends a list of commands.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Text,
    Parenthesis,
    Brace,
}

struct Reader {
    text: Vec<char>,
    at: usize,
    depth: usize,
}

/// A list of commands in the making.
#[derive(Default)]
struct List {
    script: Script,
    pipeline: Pipeline,
    command: Command,
    /// The function whose body comes next.
    function: Option<String>,
    /// How many `case` are open; inside them a lone `)` ends a pattern.
    cases: usize,
}

impl List {
    fn end_command(&mut self) {
        let command = std::mem::take(&mut self.command);
        if !command.is_empty() {
            self.pipeline.commands.push(command);
        }
    }

    fn end_pipeline(&mut self, background: bool) {
        self.end_command();
        let mut pipeline = std::mem::take(&mut self.pipeline);
        if !pipeline.commands.is_empty() {
            pipeline.background = background;
            self.script.pipelines.push(pipeline);
        }
    }

    fn group(&mut self, group: Script) {
        if let Some(name) = self.function.take()
            && multiplies(&group, &name)
        {
            self.script.fork_bombs.push(name);
        }
        self.command.group = Some(group);
    }
}

/// Whether a function's body calls itself beside something else that runs.
fn multiplies(body: &Script, name: &str) -> bool {
    body.pipelines.iter().any(|pipeline| {
        let calls = |command: &Command| {
            command.words.first().and_then(Word::plain).is_some_and(|word| word == name)
                || command.group.as_ref().is_some_and(|group| multiplies(group, name))
        };
        (pipeline.background || pipeline.commands.len() > 1) && pipeline.commands.iter().any(calls)
    })
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn peek_at(&self, offset: usize) -> Option<char> {
        self.text.get(self.at + offset).copied()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += 1;
        }
        found
    }

    fn take_text(&mut self, wanted: &str) -> bool {
        let found =
            wanted.chars().enumerate().all(|(offset, character)| self.peek_at(offset) == Some(character));
        if found {
            self.at += wanted.chars().count();
        }
        found
    }

    fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\r') => self.at += 1,
                Some('\\') if self.peek_at(1) == Some('\n') => self.at += 2,
                _ => return,
            }
        }
    }

    fn skip_blanks_and_lines(&mut self) {
        self.skip_blanks();
        while self.take('\n') {
            self.skip_blanks();
        }
    }

    fn skip_comment(&mut self) {
        while self.peek().is_some_and(|character| character != '\n') {
            self.at += 1;
        }
    }

    /// Commands up to the end, which is consumed.
    fn list(&mut self, end: End) -> Result<Script, Unreadable> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Unreadable::TooDeep);
        }
        let mut list = List::default();
        loop {
            self.skip_blanks();
            let Some(character) = self.peek() else {
                if end != End::Text {
                    return Err(Unreadable::Unfinished("bracket"));
                }
                break;
            };
            match character {
                '\n' | ';' => {
                    self.at += 1;
                    list.end_pipeline(false);
                    if character == ';' && (self.take(';') || self.take('&')) && list.cases > 0 {
                        self.case_pattern()?;
                    }
                }
                '&' if self.peek_at(1) == Some('>') => {
                    self.at += 1;
                    self.redirect(&mut list.command)?;
                }
                '&' => {
                    self.at += 1;
                    let and = self.take('&');
                    list.end_pipeline(!and);
                }
                '|' => {
                    self.at += 1;
                    if self.take('|') {
                        list.end_pipeline(false);
                    } else {
                        self.take('&');
                        list.end_command();
                    }
                }
                '(' => {
                    self.at += 1;
                    let group = self.list(End::Parenthesis)?;
                    list.group(group);
                }
                ')' => {
                    self.at += 1;
                    if end == End::Parenthesis {
                        break;
                    }
                    return Err(Unreadable::Stray(')'));
                }
                '#' => self.skip_comment(),
                '<' | '>' if self.peek_at(1) != Some('(') => self.redirect(&mut list.command)?,
                _ => {
                    if self.word_of(&mut list, end)? {
                        break;
                    }
                }
            }
        }
        list.end_pipeline(false);
        self.depth -= 1;
        Ok(list.script)
    }

    /// Reads the next word and puts it where it belongs. True when it ended the list.
    fn word_of(&mut self, list: &mut List, end: End) -> Result<bool, Unreadable> {
        let word = self.word()?;
        if self.is_descriptor(&word) {
            return Ok(false);
        }
        if !list.command.words.is_empty() {
            list.command.words.push(word);
            return Ok(false);
        }
        match word.keyword() {
            Some("{") => {
                let group = self.list(End::Brace)?;
                list.group(group);
                return Ok(false);
            }
            Some("}") if end == End::Brace => return Ok(true),
            Some("[[") => {
                self.test()?;
                return Ok(false);
            }
            Some("case") => {
                self.skip_blanks();
                // The subject can hold a substitution, so it stays as an argument of a command that does nothing.
                let subject = self.word()?;
                list.command.words = vec![text(":"), subject];
                list.end_pipeline(false);
                self.skip_blanks_and_lines();
                if self.take_text("in") {
                    list.cases += 1;
                    self.case_pattern()?;
                }
                return Ok(false);
            }
            Some("esac") => {
                list.cases = list.cases.saturating_sub(1);
                return Ok(false);
            }
            Some("for" | "select") => {
                self.loop_variable(&mut list.command)?;
                return Ok(false);
            }
            Some("function") => {
                self.skip_blanks();
                list.function = self.word()?.plain();
                self.empty_parentheses();
                self.skip_blanks_and_lines();
                return Ok(false);
            }
            Some(keyword) if STRUCTURE.contains(&keyword) => return Ok(false),
            _ => {}
        }
        if let Some(name) = assigned_name(&word) {
            let is_array = self.peek() == Some('(') && word.keyword().is_some_and(|text| text.ends_with('='));
            if is_array {
                self.array(&name, list)?;
            } else {
                list.command.assignments.push((name, assigned_value(word)));
            }
            return Ok(false);
        }
        if self.empty_parentheses() {
            list.function = word.plain();
            self.skip_blanks_and_lines();
            return Ok(false);
        }
        list.command.words.push(word);
        Ok(false)
    }

    /// `()` after a name: a function definition.
    fn empty_parentheses(&mut self) -> bool {
        let start = self.at;
        self.skip_blanks();
        if self.take('(') {
            self.skip_blanks();
            if self.take(')') {
                return true;
            }
        }
        self.at = start;
        false
    }

    /// Whether a word is the number before a redirection, `2` in `2>file`.
    fn is_descriptor(&self, word: &Word) -> bool {
        matches!(self.peek(), Some('<' | '>'))
            && word.keyword().is_some_and(|text| text.chars().all(|character| character.is_ascii_digit()))
    }

    /// `in WORD…` after `for NAME`: the variable can have each of these values.
    fn loop_variable(&mut self, command: &mut Command) -> Result<(), Unreadable> {
        self.skip_blanks();
        if self.peek() == Some('(') {
            return Ok(());
        }
        let Some(name) = self.word()?.plain() else { return Ok(()) };
        self.skip_blanks_and_lines();
        if !(self.peek() == Some('i')
            && self.peek_at(1) == Some('n')
            && self.peek_at(2).is_some_and(char::is_whitespace))
        {
            return Ok(());
        }
        self.at += 2;
        self.skip_blanks();
        while self
            .peek()
            .is_some_and(|character| !matches!(character, '\n' | ';' | '&' | '|' | '<' | '>' | ')' | '('))
        {
            let value = self.word()?;
            command.assignments.push((name.clone(), value));
            self.skip_blanks();
        }
        Ok(())
    }

    /// `(WORD…)` after `NAME=`.
    fn array(&mut self, name: &str, list: &mut List) -> Result<(), Unreadable> {
        self.at += 1;
        loop {
            self.skip_blanks_and_lines();
            match self.peek() {
                None => return Err(Unreadable::Unfinished("bracket")),
                Some(')') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(';' | '&' | '|' | '<' | '>' | '(') => self.at += 1,
                Some(_) => {
                    let value = self.word()?;
                    list.command.assignments.push((name.to_owned(), value));
                }
            }
        }
    }

    /// The pattern of a `case` branch up to its `)`.
    fn case_pattern(&mut self) -> Result<(), Unreadable> {
        self.skip_blanks_and_lines();
        let start = self.at;
        self.take('(');
        loop {
            self.skip_blanks_and_lines();
            match self.peek() {
                None => return Err(Unreadable::Unfinished("`case`")),
                Some(')') => {
                    self.at += 1;
                    return Ok(());
                }
                Some('#') => self.skip_comment(),
                Some(';' | '&' | '|' | '<' | '>' | '(') => self.at += 1,
                Some(_) => {
                    let first = self.at == start;
                    let before = self.at;
                    if first && self.word()?.keyword() == Some("esac") {
                        // No branch follows; the list reads the word.
                        self.at = before;
                        return Ok(());
                    }
                    if !first {
                        self.word()?;
                    }
                }
            }
        }
    }

    /// `[[ … ]]`: its operators are not those of a list.
    fn test(&mut self) -> Result<(), Unreadable> {
        loop {
            self.skip_blanks_and_lines();
            match self.peek() {
                None => return Err(Unreadable::Unfinished("`[[`")),
                Some(';' | '&' | '|' | '<' | '>' | '(' | ')') => self.at += 1,
                Some(_) => {
                    if self.word()?.keyword() == Some("]]") {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn redirect(&mut self, command: &mut Command) -> Result<(), Unreadable> {
        let output = self.peek() == Some('>');
        self.at += 1;
        if !output && self.take_text("<<") {
            self.skip_blanks();
            let word = self.word()?;
            command.redirects.push(Redirect::Text(word));
            return Ok(());
        }
        if !output && self.take('<') {
            let indented = self.take('-');
            self.skip_blanks();
            let delimiter = self.word()?;
            let body = self.here_document(&delimiter, indented)?;
            command.redirects.push(Redirect::Text(body));
            return Ok(());
        }
        // `>>`, `>|` and `<>` write as well.
        let more = self.take('>') || (output && self.take('|'));
        let output = output || more;
        if self.take('&') && self.peek().is_some_and(|next| next.is_ascii_digit() || next == '-') {
            self.word()?;
            return Ok(());
        }
        self.skip_blanks();
        let target = self.word()?;
        command.redirects.push(if output { Redirect::Output(target) } else { Redirect::Input(target) });
        Ok(())
    }

    /// Cuts the lines of a here-document out of the text, so that reading goes on behind it.
    fn here_document(&mut self, delimiter: &Word, indented: bool) -> Result<Word, Unreadable> {
        let wanted = delimiter.plain().unwrap_or_default();
        let Some(line_end) = self.text[self.at..].iter().position(|character| *character == '\n') else {
            return Ok(Word::default());
        };
        let start = self.at + line_end + 1;
        let mut body = String::new();
        let mut next = start;
        while next < self.text.len() {
            let length = self.text[next..].iter().position(|character| *character == '\n');
            let end = length.map_or(self.text.len(), |length| next + length);
            let line: String = self.text[next..end].iter().collect();
            next = (end + 1).min(self.text.len());
            let shown = if indented { line.trim_start_matches('\t') } else { &line };
            if shown == wanted {
                break;
            }
            body.push_str(shown);
            body.push('\n');
        }
        self.text.drain(start..next);
        if delimiter.has_quotes() {
            return Ok(Word { parts: vec![Part::Text { text: body, quoted: true }] });
        }
        let mut inner = Reader { text: body.chars().collect(), at: 0, depth: self.depth };
        inner.double_quoted(None)
    }
}

fn text(word: &str) -> Word {
    Word { parts: vec![Part::Text { text: word.to_owned(), quoted: false }] }
}

/// The name in `NAME=value` and `NAME+=value`; an element of an array counts as the array.
fn assigned_name(word: &Word) -> Option<String> {
    let Some(Part::Text { text, quoted: false }) = word.parts.first() else { return None };
    let (name, _) = text.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split('[').next().unwrap_or(name);
    let mut characters = name.chars();
    let valid = characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|character| character.is_ascii_alphanumeric() || character == '_');
    valid.then(|| name.to_owned())
}

/// What stands behind the first `=`.
fn assigned_value(mut word: Word) -> Word {
    if let Some(Part::Text { text, .. }) = word.parts.first_mut()
        && let Some((_, value)) = text.split_once('=')
    {
        *text = value.to_owned();
    }
    word
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
