//! go test, go build.

use super::begins;
use crate::trim::{Marks, Noise};

pub(super) fn mark(lines: &[&str], marks: &mut Marks) {
    for (at, line) in lines.iter().enumerate() {
        marks[at] = marks[at].or_else(|| noise(line));
    }
}

fn noise(line: &str) -> Option<Noise> {
    if begins(line, &["go: downloading ", "go: extracting ", "go: finding "]) {
        return Some(Noise::Downloading);
    }
    let word = line.trim_start();
    let is_event =
        begins(line, &["=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME "]) || begins(word, &["--- PASS: "]);
    let is_package = begins(line, &["ok  \t", "?   \t"]) && !line.contains("FAIL");
    (is_event || is_package || line == "PASS").then_some(Noise::Passing)
}
