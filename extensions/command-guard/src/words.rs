//! What the shell would make of a word, as far as that can be known without running it.

use std::collections::{BTreeMap, BTreeSet};

use crate::script::{Part, Script, Word};

/// Words that expand to more than this are treated as unknown.
const MAX_ALTERNATIVES: usize = 64;

/// Longer words are treated as unknown: a chain of variables can double its length with each step.
const MAX_WORD_BYTES: usize = 64 * 1024;

/// The values that each variable can have at some point of the command line.
pub(crate) type Variables = BTreeMap<String, BTreeSet<String>>;

/// One argument as a program would get it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Argument {
    /// What cannot be known stands here as it was written, `$NAME` or `$(…)`. The home folder is `~`.
    pub(crate) text: String,
    /// Whether the text is all of it.
    pub(crate) known: bool,
}

impl Argument {
    pub(crate) fn known(text: &str) -> Self {
        Self { text: text.to_owned(), known: true }
    }
}

/// The arguments that a word becomes. A variable that can have several values gives all of them, so that a rule that
/// looks at every argument sees the worst.
pub(crate) fn resolve(word: &Word, variables: &Variables) -> Vec<Argument> {
    let mut found = vec![Argument::known("")];
    let mut splits = false;
    for part in &word.parts {
        let at_start = found.iter().all(|argument| argument.text.is_empty());
        let mut pieces = Vec::new();
        match part {
            Part::Text { text, quoted: false } => {
                pieces.extend(braces(text).iter().map(|text| Argument::known(text)))
            }
            // A quoted tilde is a plain file name.
            Part::Text { text, .. } if at_start && text.starts_with('~') => {
                pieces.push(Argument { text: format!("./{text}"), known: true });
            }
            Part::Text { text, .. } => pieces.push(Argument::known(text)),
            Part::Variable { name, quoted } => {
                splits |= !quoted;
                match (name.as_str(), variables.get(name)) {
                    (_, Some(values)) => pieces.extend(values.iter().map(|value| Argument::known(value))),
                    ("HOME", None) if at_start => pieces.push(Argument::known("~")),
                    ("PWD", None) if at_start => pieces.push(Argument::known(".")),
                    _ => pieces.push(Argument { text: format!("${name}"), known: false }),
                }
            }
            Part::Unknown(written) => pieces.push(Argument { text: written.clone(), known: false }),
            Part::Substitution(script) => {
                splits = true;
                pieces.push(match echoed(script, variables) {
                    Some(text) => Argument { text, known: true },
                    None => Argument { text: "$(…)".to_owned(), known: false },
                });
            }
        }
        found = product(&found, &pieces);
    }
    if !splits {
        return found;
    }
    found
        .into_iter()
        .flat_map(|argument| {
            let known = argument.known;
            let words: Vec<Argument> = argument
                .text
                .split_whitespace()
                .map(|text| Argument { text: text.to_owned(), known })
                .collect();
            words
        })
        .collect()
}

/// The words as one text, for shells that read their arguments again. `None` if any of it is unknown.
pub(crate) fn joined(arguments: &[Argument]) -> Option<String> {
    if arguments.iter().any(|argument| !argument.known) {
        return None;
    }
    let texts: Vec<&str> = arguments.iter().map(|argument| argument.text.as_str()).collect();
    Some(texts.join(" "))
}

/// What `echo` and `printf` write, where a script is nothing but that.
pub(crate) fn echoed(script: &Script, variables: &Variables) -> Option<String> {
    let [pipeline] = script.pipelines.as_slice() else { return None };
    let [command] = pipeline.commands.as_slice() else { return None };
    if command.group.is_some() || !command.redirects.is_empty() {
        return None;
    }
    let arguments: Vec<Argument> = command.words.iter().flat_map(|word| resolve(word, variables)).collect();
    written(&arguments)
}

/// What a command writes if it is `echo` or `printf` with known arguments.
pub(crate) fn written(arguments: &[Argument]) -> Option<String> {
    let (name, rest) = arguments.split_first()?;
    if !matches!(name.text.as_str(), "echo" | "printf" | "/bin/echo" | "/usr/bin/printf") {
        return None;
    }
    let start = rest
        .iter()
        .position(|argument| !matches!(argument.text.as_str(), "-e" | "-n" | "-ne" | "-en" | "--"));
    let text = joined(&rest[start.unwrap_or(rest.len())..])?;
    Some(text.replace("\\n", "\n").replace("\\t", "\t"))
}

fn product(left: &[Argument], right: &[Argument]) -> Vec<Argument> {
    let longest = |arguments: &[Argument]| {
        arguments.iter().map(|argument| argument.text.len()).max().unwrap_or_default()
    };
    if left.len() * right.len() > MAX_ALTERNATIVES || longest(left) + longest(right) > MAX_WORD_BYTES {
        return vec![Argument { text: "{…}".to_owned(), known: false }];
    }
    left.iter()
        .flat_map(|start| {
            right.iter().map(move |end| Argument {
                text: format!("{}{}", start.text, end.text),
                known: start.known && end.known,
            })
        })
        .collect()
}

/// `a{b,c}` as `ab` and `ac`; other braces stay as they are.
fn braces(text: &str) -> Vec<String> {
    let mut open = None;
    let mut depth = 0usize;
    let mut commas = Vec::new();
    for (at, character) in text.char_indices() {
        match character {
            '{' => {
                if depth == 0 {
                    open = Some(at);
                    commas.clear();
                }
                depth += 1;
            }
            ',' if depth == 1 => commas.push(at),
            '}' if depth > 0 => {
                depth -= 1;
                if depth == 0
                    && !commas.is_empty()
                    && let Some(open) = open
                {
                    let mut cuts = vec![open];
                    cuts.extend(&commas);
                    cuts.push(at);
                    let mut all = Vec::new();
                    for pair in cuts.windows(2) {
                        let piece =
                            format!("{}{}{}", &text[..open], &text[pair[0] + 1..pair[1]], &text[at + 1..]);
                        all.extend(braces(&piece));
                        if all.len() > MAX_ALTERNATIVES {
                            return vec![text.to_owned(); MAX_ALTERNATIVES + 1];
                        }
                    }
                    return all;
                }
            }
            _ => {}
        }
    }
    vec![text.to_owned()]
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
