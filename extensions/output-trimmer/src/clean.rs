//! What a terminal would have shown: without colours, and of lines that were written over only what they came to.

/// The text without escape sequences, overwritten parts and control characters.
pub(crate) fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        let line = line.strip_suffix('\r').unwrap_or(line);
        // What stands before a carriage return was written over, unless nothing came after it.
        let last = line.rsplit('\r').find(|part| !part.trim().is_empty()).unwrap_or_default();
        uncoloured(last, &mut clean);
        clean.push_str(end);
    }
    clean
}

fn uncoloured(line: &str, clean: &mut String) {
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => match characters.next() {
                // CSI: parameters up to a final letter.
                Some('[') => {
                    for character in characters.by_ref() {
                        if ('@'..='~').contains(&character) {
                            break;
                        }
                    }
                }
                // OSC: a title or a link, up to BEL or ST.
                Some(']') => {
                    while let Some(character) = characters.next() {
                        if character == '\u{7}' {
                            break;
                        }
                        if character == '\u{1b}' {
                            characters.next_if_eq(&'\\');
                            break;
                        }
                    }
                }
                Some('(' | ')') => {
                    characters.next();
                }
                _ => {}
            },
            '\u{8}' => {
                clean.pop();
            }
            '\u{7}' => {}
            other => clean.push(other),
        }
    }
}

#[cfg(test)]
#[path = "clean_tests.rs"]
mod tests;
