//! Words of texts and of searches.
//!
//! SQLite finds words between spaces and punctuation. Chinese, Japanese and Korean have no spaces between words, so each of
//! their characters is indexed as a word of its own, and a search for several of them looks for neighbours.

use std::borrow::Cow;
use std::collections::BTreeSet;

/// Words of one search that count. A person types a few; beyond these a model has pasted a page.
const MAX_WORDS: usize = 32;

/// Characters of one word that count.
const MAX_WORD_CHARS: usize = 64;

/// Characters that a word needs to stand for those which begin like it.
const MIN_BEGINNING_CHARS: usize = 4;

/// A text as it is indexed.
pub(super) fn indexed(text: &str) -> Cow<'_, str> {
    if !text.chars().any(stands_alone) {
        return Cow::Borrowed(text);
    }
    let mut spaced = String::with_capacity(text.len() * 2);
    for c in text.chars() {
        if stands_alone(c) {
            spaced.extend([' ', c, ' ']);
        } else {
            spaced.push(c);
        }
    }
    Cow::Owned(spaced)
}

/// What to look for, each as a phrase of SQLite's: in quotes, of letters and digits only, so that nothing in it is an operator.
pub(super) fn phrases(query: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut phrases = Vec::new();
    let words = query.split(|c: char| !c.is_alphanumeric()).flat_map(runs);
    for phrase in words.map(|word| format!("\"{}\"", word.to_lowercase())) {
        if phrases.len() == MAX_WORDS {
            break;
        }
        if seen.insert(phrase.clone()) {
            phrases.push(phrase);
        }
    }
    phrases
}

/// What finds every word that begins like this one; `None` for several words, and for one so short that it begins half of all.
pub(super) fn beginning(phrase: &str) -> Option<String> {
    let letters = phrase.trim_matches('"');
    let is_word = !letters.contains(' ') && letters.chars().nth(MIN_BEGINNING_CHARS - 1).is_some();
    is_word.then(|| format!("{phrase}*"))
}

/// The parts of a word: what is written with an alphabet as it is, of the rest each two neighbours.
fn runs(word: &str) -> Vec<String> {
    let chars: Vec<char> = word.chars().collect();
    let mut runs = Vec::new();
    for run in chars.chunk_by(|a, b| stands_alone(*a) == stands_alone(*b)) {
        match run {
            [alone] if stands_alone(*alone) => runs.push(alone.to_string()),
            [first, ..] if stands_alone(*first) => {
                runs.extend(run.windows(2).map(|pair| format!("{} {}", pair[0], pair[1])));
            }
            letters => runs.push(letters.iter().take(MAX_WORD_CHARS).collect()),
        }
    }
    runs
}

/// Whether a character is written without spaces around its word.
fn stands_alone(c: char) -> bool {
    matches!(c,
        // Kana; Han with its extensions; Hangul.
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
        && c.is_alphanumeric()
}
