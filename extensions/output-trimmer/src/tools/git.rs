//! git status, log, diff, clone, fetch, push.

use super::begins;
use crate::trim::{Marks, Noise};

/// Files that programs write: their changes follow from those of another file.
const LOCK_FILES: [&str; 14] = [
    "Cargo.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "poetry.lock",
    "uv.lock",
    "Pipfile.lock",
    "go.sum",
    "Gemfile.lock",
    "composer.lock",
    "flake.lock",
    "mix.lock",
];

/// Unchanged lines that stay on both sides of a change.
const CONTEXT: usize = 3;

/// A list of this many commits is looked through for one of them, and its messages only get in the way.
const MANY_COMMITS: usize = 8;

/// More untracked files than this are a folder that is not ignored.
const MANY_FILES: usize = 40;

pub(super) fn mark(lines: &[&str], marks: &mut Marks) {
    mark_transfer(lines, marks);
    status(lines, marks);
    diff(lines, marks);
    log(lines, marks);
}

/// Progress of what comes and goes.
pub(super) fn mark_transfer(lines: &[&str], marks: &mut Marks) {
    for (at, line) in lines.iter().enumerate() {
        let step = line.strip_prefix("remote: ").unwrap_or(line);
        let is_step = begins(
            step,
            &[
                "Enumerating objects: ",
                "Counting objects: ",
                "Compressing objects: ",
                "Receiving objects: ",
                "Resolving deltas: ",
                "Writing objects: ",
                "Unpacking objects: ",
                "Updating files: ",
                "Checking out files: ",
                "Filtering content: ",
                "Delta compression using ",
                "Total ",
            ],
        );
        let is_total = !step.starts_with("Total ") || step.contains("(delta ");
        if is_step && is_total {
            marks[at].get_or_insert(Noise::Progress);
        }
    }
}

fn status(lines: &[&str], marks: &mut Marks) {
    let mut untracked = None;
    for (at, line) in lines.iter().enumerate() {
        if line.starts_with("  (use \"git ") {
            marks[at].get_or_insert(Noise::Hints);
        } else if *line == "Untracked files:" {
            untracked = Some(0);
        } else if !line.starts_with('\t') && !line.is_empty() {
            untracked = None;
        } else if let Some(count) = &mut untracked
            && line.starts_with('\t')
        {
            *count += 1;
            if *count > MANY_FILES {
                marks[at].get_or_insert(Noise::Untracked);
            }
        }
    }
}

fn diff(lines: &[&str], marks: &mut Marks) {
    let mut is_lock_file = false;
    let mut is_diff = false;
    let mut unchanged = 0;
    for at in 0..=lines.len() {
        let line = lines.get(at).copied().unwrap_or_default();
        if is_diff && line.starts_with(' ') && at < lines.len() {
            unchanged += 1;
        } else {
            // A hunk begins and ends with unchanged lines, which only stand on one side of a change.
            if unchanged > 2 * CONTEXT {
                for mark in &mut marks[at - unchanged + CONTEXT..at - CONTEXT] {
                    mark.get_or_insert(Noise::Unchanged);
                }
            }
            unchanged = 0;
        }
        if at == lines.len() {
            break;
        }
        if let Some(paths) = line.strip_prefix("diff --git ") {
            is_diff = true;
            is_lock_file = LOCK_FILES.iter().any(|name| paths.ends_with(&format!("/{name}")));
        } else if line.starts_with("commit ") {
            (is_diff, is_lock_file) = (false, false);
        } else if is_lock_file && (begins(line, &["+", "-", " ", "@@", "index ", "\\"]) || line.is_empty()) {
            marks[at].get_or_insert(Noise::LockFile);
        } else if is_diff && line.starts_with("index ") {
            marks[at].get_or_insert(Noise::Unchanged);
        }
    }
}

/// Of each message in a long list the first paragraph stays.
fn log(lines: &[&str], marks: &mut Marks) {
    let is_commit = |line: &str| {
        line.strip_prefix("commit ")
            .is_some_and(|rest| rest.len() >= 40 && rest.as_bytes()[..40].iter().all(u8::is_ascii_hexdigit))
    };
    if lines.iter().filter(|line| is_commit(line)).count() < MANY_COMMITS
        || lines.iter().any(|line| line.starts_with("diff --git "))
    {
        return;
    }
    let (mut in_message, mut said, mut ended) = (false, false, false);
    for (at, line) in lines.iter().enumerate() {
        if is_commit(line) {
            (in_message, said, ended) = (false, false, false);
        } else if line.is_empty() || line.trim().is_empty() {
            in_message = true;
            ended = said;
        } else if in_message && line.starts_with("    ") {
            if ended {
                marks[at].get_or_insert(Noise::Message);
            }
            said = true;
        }
    }
}
