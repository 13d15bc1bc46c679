//! pytest, unittest, pip.

use super::begins;
use crate::trim::{Marks, Noise};

pub(super) fn mark(lines: &[&str], marks: &mut Marks) {
    for (at, line) in lines.iter().enumerate() {
        marks[at] = marks[at].or_else(|| noise(line));
    }
}

fn noise(line: &str) -> Option<Noise> {
    let word = line.trim_start();
    if begins(
        word,
        &[
            "Collecting ",
            "Downloading ",
            "Using cached ",
            "Requirement already satisfied: ",
            "Preparing metadata ",
            "Getting requirements to build ",
            "Installing build dependencies ",
            "Building wheel for ",
            "Created wheel for ",
            "Stored in directory: ",
            "Obtaining dependency information ",
        ],
    ) {
        // `Building wheel for x: finished with status 'error'`
        return (!word.contains("error")).then_some(Noise::Downloading);
    }
    if word.starts_with('━') || word.starts_with('╸') || (word.starts_with('|') && word.contains('█')) {
        return Some(Noise::Progress);
    }
    let has_percent = line.ends_with("%]");
    let is_verbose =
        (has_percent || line.contains("::")) && line.contains(" PASSED") && line.contains(".py::");
    let is_unittest = line.ends_with(" ... ok") && line.contains(" (");
    if is_verbose || is_unittest {
        return Some(Noise::Passing);
    }
    // `tests/test_a.py ......... [ 10%]`, and its continuation lines.
    let (body, _) = line.rsplit_once('[').filter(|_| has_percent)?;
    let body = body.trim_end();
    let dots = body.rsplit(' ').next()?;
    let is_dots = !dots.is_empty() && dots.bytes().all(|byte| byte == b'.');
    let is_alone = body == dots
        || body
            .split(' ')
            .next()
            .is_some_and(|file| file.ends_with(".py") && body.len() == file.len() + 1 + dots.len());
    (is_dots && is_alone).then_some(Noise::Passing)
}
