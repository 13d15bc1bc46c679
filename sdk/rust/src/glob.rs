//! Globs with `*` (any text) and `?` (one character), for lists of names in a configuration: the same that filter hooks by tool.

/// Whether the whole text matches. Takes time proportional to pattern times text at worst.
///
/// ```
/// use capstan_sdk::glob;
/// assert!(glob::matches("git *", "git push") && glob::matches("r??d", "read"));
/// assert!(!glob::matches("git", "git push"));
/// ```
#[must_use]
pub fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut at_pattern, mut at_text) = (0, 0);
    // Where the last star stands, and how far the text was when it matched nothing yet.
    let mut star: Option<(usize, usize)> = None;
    while at_text < text.len() {
        match pattern.get(at_pattern) {
            Some('*') => {
                star = Some((at_pattern, at_text));
                at_pattern += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == text[at_text] => {
                at_pattern += 1;
                at_text += 1;
            }
            _ => match star {
                Some((position, taken)) => {
                    star = Some((position, taken + 1));
                    at_pattern = position + 1;
                    at_text = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at_pattern..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
#[path = "glob_tests.rs"]
mod tests;
