//! What is noise in the output of which program. Each rule knows the form of whole lines; a line that only resembles one stays.

mod cargo;
mod containers;
mod git;
mod go;
mod javascript;
mod native;
mod python;

use crate::trim::Marks;

/// Programs that run others: whose lines they print is known by the lines alone.
const RUNNERS: [&str; 20] = [
    "make",
    "gmake",
    "just",
    "task",
    "ninja",
    "bash",
    "sh",
    "zsh",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "tox",
    "nox",
    "docker",
    "podman",
    "docker-compose",
    "xargs",
    "meson",
    "bazel",
];

/// Marks what can be left out of the output of these programs.
pub(crate) fn mark(programs: &[&str], lines: &[&str], marks: &mut Marks) {
    let runs = |names: &[&str]| programs.iter().any(|program| names.contains(program));
    let any = runs(&RUNNERS) || programs.iter().any(|program| program.ends_with(".sh"));
    if any || runs(&["cargo", "rustc", "cross", "cargo-nextest", "rustup"]) {
        cargo::mark(lines, marks);
    }
    if any
        || runs(&[
            "node",
            "npx",
            "bunx",
            "jest",
            "vitest",
            "mocha",
            "ava",
            "tap",
            "playwright",
            "deno",
            "tsc",
        ])
    {
        javascript::mark(lines, marks);
    }
    if any
        || runs(&[
            "pytest", "py.test", "python", "python3", "pip", "pip3", "poetry", "uv", "pipenv", "coverage",
        ])
    {
        python::mark(lines, marks);
    }
    if any || runs(&["go", "gotestsum"]) {
        go::mark(lines, marks);
    }
    if any || runs(&["gcc", "g++", "cc", "c++", "clang", "clang++", "cmake", "configure"]) {
        native::mark(lines, marks);
    }
    if any || runs(&["apt", "apt-get", "buildah", "brew", "apk", "dnf"]) {
        containers::mark(lines, marks);
    }
    if runs(&["git"]) {
        git::mark(lines, marks);
    } else if any || runs(&["go", "cargo", "pip"]) {
        git::mark_transfer(lines, marks);
    }
}

/// Whether a line begins with one of these.
fn begins(line: &str, beginnings: &[&str]) -> bool {
    beginnings.iter().any(|beginning| line.starts_with(beginning))
}

/// The rest of a line behind a number, if it begins with one.
fn after_number(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|character: char| character.is_ascii_digit());
    (rest.len() < line.len()).then_some(rest)
}
