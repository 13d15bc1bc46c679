//! What is saved on the outputs of `tests/corpora/output-trimmer`, and that nothing is lost that must stay.
//!
//! Beside each output `NAME.txt` lies `NAME.keep`: the command, whether it failed, what the output mostly is, and below `---` the
//! lines that must still be there.

use std::path::PathBuf;

use super::trim::trim;
use super::*;

/// Tokens saved over all files, in percent; what was measured, rounded down.
const LEAST_OF_ALL: usize = 70;
/// The same for outputs in which everything went well.
const LEAST_OF_PASSING: usize = 85;

pub(super) struct Recorded {
    pub(super) name: String,
    pub(super) command: String,
    pub(super) failed: bool,
    pub(super) passing: bool,
    pub(super) text: String,
    pub(super) keep: Vec<String>,
}

pub(super) fn recorded() -> Vec<Recorded> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpora/output-trimmer");
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "txt") {
            let expected = std::fs::read_to_string(path.with_extension("keep")).unwrap();
            let (head, keep) = expected.split_once("---\n").unwrap();
            let field =
                |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
            all.push(Recorded {
                name: path.file_stem().unwrap().to_string_lossy().into_owned(),
                command: field("command:"),
                failed: field("failed:") == "yes",
                passing: field("kind:") == "passing",
                text: std::fs::read_to_string(&path).unwrap(),
                keep: keep.lines().map(str::to_owned).collect(),
            });
        }
    }
    all.sort_by(|left, right| left.name.cmp(&right.name));
    all
}

/// As the host estimates.
fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}

fn percent(after: usize, before: usize) -> usize {
    (before - after) * 100 / before
}

#[test]
fn the_recorded_outputs_become_much_shorter_and_lose_nothing_that_matters() {
    let (mut all, mut passing, mut lines, mut lost) = ((0, 0), (0, 0), 0, Vec::new());
    for output in recorded() {
        let shorter = trim(&output.command, &output.text, output.failed, &Config::default());
        let after = shorter.map_or_else(|| output.text.clone(), |shorter| shorter.text);
        let kept: std::collections::BTreeSet<&str> = after.lines().collect();
        lines += output.keep.len();
        lost.extend(
            output
                .keep
                .iter()
                .filter(|line| !kept.contains(line.as_str()))
                .map(|line| format!("{}: {line}", output.name)),
        );
        let (before, after) = (tokens(&output.text), tokens(&after));
        println!(
            "{:<22} {before:>6} tokens, {after:>6} left, {:>3} % saved",
            output.name,
            percent(after, before)
        );
        all = (all.0 + before, all.1 + after);
        if output.passing {
            passing = (passing.0 + before, passing.1 + after);
        }
    }
    let of_all = percent(all.1, all.0);
    let of_passing = percent(passing.1, passing.0);
    println!("all: {} of {} tokens left, {of_all} % saved", all.1, all.0);
    println!("all that went well: {} of {} tokens left, {of_passing} % saved", passing.1, passing.0);
    println!("lines that must stay: {} of {lines}", lines - lost.len());
    assert!(lost.is_empty(), "lost:\n{}", lost.join("\n"));
    assert!(of_all >= LEAST_OF_ALL && of_passing >= LEAST_OF_PASSING);
}
