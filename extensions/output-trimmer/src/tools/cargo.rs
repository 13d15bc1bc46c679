//! cargo build, test, nextest, clippy; libtest.

use super::begins;
use crate::trim::{Marks, Noise};

const STEPS: [&str; 9] = [
    "Compiling ",
    "Checking ",
    "Fresh ",
    "Dirty ",
    "Building ",
    "Documenting ",
    "Scraping ",
    "Generated ",
    "Building [",
];
const FETCHES: [&str; 9] = [
    "Downloading ",
    "Downloaded ",
    "Updating ",
    "Locking ",
    "Adding ",
    "Fetch ",
    "Blocking waiting ",
    "Downgrading ",
    "Removing ",
];

pub(super) fn mark(lines: &[&str], marks: &mut Marks) {
    for (at, line) in lines.iter().enumerate() {
        marks[at] = marks[at].or_else(|| noise(line));
    }
    empty_binaries(lines, marks);
}

fn noise(line: &str) -> Option<Noise> {
    let word = line.trim_start();
    // cargo aligns its verbs to the right, which other texts do not.
    let indent = line.len() - word.len();
    let is_verb = word.split(' ').next().is_some_and(|verb| indent + verb.len() == 12);
    if is_verb && begins(word, &STEPS) {
        return Some(Noise::Building);
    }
    if is_verb && begins(word, &FETCHES) {
        return Some(Noise::Downloading);
    }
    let is_libtest = line.starts_with("test ") && (line.ends_with(" ... ok") || line.contains(" ... bench:"));
    let is_nextest = is_verb && begins(word, &["PASS [", "START [", "SETUP PASS ["]);
    (is_libtest || is_nextest).then_some(Noise::Passing)
}

/// Test binaries without tests: the line of the binary, of their number, and of the result.
fn empty_binaries(lines: &[&str], marks: &mut Marks) {
    for (at, line) in lines.iter().enumerate() {
        if !line.starts_with("test result: ok. 0 passed; 0 failed; 0 ignored;") {
            continue;
        }
        marks[at].get_or_insert(Noise::Passing);
        for before in (0..at).rev().take(4) {
            let line = lines[before].trim_start();
            let is_head = line == "running 0 tests" || begins(line, &["Running ", "Doc-tests "]);
            if !is_head && !line.is_empty() {
                break;
            }
            if is_head {
                marks[before].get_or_insert(Noise::Passing);
            }
        }
    }
}
