//! The patterns of `.gitignore` and `.ignore` files.
//!
//! Own code rather than the `ignore` crate, whose regular expressions would make this component four times as large and
//! would be compiled anew in every call. The tests compare it with that crate.

/// The patterns of one folder.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    patterns: Vec<Pattern>,
}

/// One line of an ignore file.
#[derive(Debug)]
struct Pattern {
    /// `!`: what matches is not ignored after all.
    includes: bool,
    /// Ends in `/`.
    only_folders: bool,
    steps: Vec<Step>,
}

/// What stands between two slashes of a pattern.
#[derive(Debug)]
enum Step {
    /// `**`: any number of folders.
    Any,
    /// A name with `*`, `?`, `[…]` and `\`.
    Name(Vec<Sign>),
}

/// A piece of a name pattern.
#[derive(Debug)]
enum Sign {
    Letter(char),
    /// `?`
    One,
    /// `*`
    Many,
    /// `[…]`: whether it is negated, and its ranges.
    Set(bool, Vec<(char, char)>),
}

impl Patterns {
    /// Adds the lines of a file; they overrule the lines before.
    pub(crate) fn add(&mut self, text: &str) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        self.patterns.extend(text.lines().filter_map(Pattern::read));
    }

    /// Whether a path below the folder is ignored; `None` where no pattern says anything.
    pub(crate) fn says(&self, path: &[&str], is_folder: bool) -> Option<bool> {
        let deciding = self.patterns.iter().rev().find(|pattern| pattern.matches(path, is_folder))?;
        Some(!deciding.includes)
    }
}

impl Pattern {
    fn read(line: &str) -> Option<Self> {
        if line.starts_with('#') {
            return None;
        }
        let (includes, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
        let line = without_trailing_spaces(line);
        let (only_folders, line) = line.strip_suffix('/').map_or((false, line), |rest| (true, rest));
        if line.is_empty() {
            return None;
        }
        let anchored = line.contains('/');
        let line = line.strip_prefix('/').unwrap_or(line);
        let mut steps = Vec::new();
        if !anchored {
            steps.push(Step::Any);
        }
        for step in line.split('/') {
            steps.push(if step == "**" { Step::Any } else { Step::Name(name(step)?) });
        }
        Some(Self { includes, only_folders, steps })
    }

    fn matches(&self, path: &[&str], is_folder: bool) -> bool {
        (is_folder || !self.only_folders) && steps_match(&self.steps, path)
    }
}

fn steps_match(steps: &[Step], path: &[&str]) -> bool {
    let Some((first, rest)) = steps.split_first() else { return path.is_empty() };
    match first {
        // A last `**` stands for what is inside, so for at least one name.
        Step::Any if rest.is_empty() => !path.is_empty(),
        Step::Any => (0..path.len()).any(|skipped| steps_match(rest, &path[skipped..])),
        Step::Name(signs) => path
            .split_first()
            .is_some_and(|(name, below)| name_matches(signs, name) && steps_match(rest, below)),
    }
}

/// As with shells: the last star takes as little as it can, and more when the rest does not fit.
fn name_matches(signs: &[Sign], name: &str) -> bool {
    let letters: Vec<char> = name.chars().collect();
    let (mut sign, mut letter) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while letter < letters.len() {
        let fits = match signs.get(sign) {
            Some(Sign::Many) => {
                star = Some((sign, letter));
                sign += 1;
                continue;
            }
            Some(Sign::One) => true,
            Some(Sign::Letter(wanted)) => *wanted == letters[letter],
            Some(Sign::Set(negated, ranges)) => {
                let inside = ranges.iter().any(|(low, high)| (*low..=*high).contains(&letters[letter]));
                inside != *negated
            }
            None => false,
        };
        if fits {
            sign += 1;
            letter += 1;
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            sign = at + 1;
            letter = taken + 1;
        } else {
            return false;
        }
    }
    signs[sign..].iter().all(|rest| matches!(rest, Sign::Many))
}

/// The signs of a name; `None` for a set or an escape that does not end, which matches nothing.
fn name(text: &str) -> Option<Vec<Sign>> {
    let mut signs = Vec::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        signs.push(match letter {
            '*' => Sign::Many,
            '?' => Sign::One,
            '\\' => Sign::Letter(letters.next()?),
            '[' => set(&mut letters)?,
            other => Sign::Letter(other),
        });
    }
    Some(signs)
}

fn set(letters: &mut std::str::Chars<'_>) -> Option<Sign> {
    let mut ranges: Vec<(char, char)> = Vec::new();
    let mut negated = false;
    let mut first = true;
    loop {
        let mut letter = letters.next()?;
        if first && matches!(letter, '!' | '^') && !negated {
            negated = true;
            continue;
        }
        // A bracket right at the start is one of the set.
        if letter == ']' && !first {
            return Some(Sign::Set(negated, ranges));
        }
        first = false;
        if letter == '\\' {
            letter = letters.next()?;
        }
        let mut ahead = letters.clone();
        match (ahead.next(), ahead.next()) {
            (Some('-'), Some(high)) if high != ']' => {
                letters.nth(1);
                let high = if high == '\\' { letters.next()? } else { high };
                ranges.push((letter, high));
            }
            _ => ranges.push((letter, letter)),
        }
    }
}

/// Spaces at the end do not count unless a backslash protects them.
fn without_trailing_spaces(line: &str) -> &str {
    let line = line.trim_end_matches(['\r', '\n']);
    let mut end = line.trim_end_matches(' ').len();
    if line[..end].ends_with('\\') && end < line.len() {
        end += 1;
    }
    &line[..end]
}

#[cfg(test)]
#[path = "ignored_tests.rs"]
mod tests;
