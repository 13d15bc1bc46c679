//! make, gcc, clang, cmake, ninja, autoconf.

use super::{after_number, begins};
use crate::trim::{Marks, Noise};

const COMPILERS: [&str; 14] = [
    "gcc",
    "g++",
    "cc",
    "c++",
    "clang",
    "clang++",
    "ar",
    "ranlib",
    "ld",
    "ccache",
    "libtool:",
    "x86_64-linux-gnu-gcc",
    "rustc",
    "javac",
];

/// Kbuild and automake say what they do in a short word.
const SHORT: [&str; 12] =
    ["CC", "CXX", "LD", "AR", "CCLD", "CXXLD", "GEN", "AS", "HOSTCC", "HOSTLD", "INSTALL", "MOC"];

pub(super) fn mark(lines: &[&str], marks: &mut Marks) {
    for (at, line) in lines.iter().enumerate() {
        if marks[at].is_none() && is_step(line) {
            marks[at] = Some(Noise::Building);
        }
    }
}

fn is_step(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let Some(first) = words.next() else { return false };
    let program = first.rsplit('/').next().unwrap_or(first);
    let is_command = COMPILERS.contains(&program)
        && !line.starts_with(' ')
        && words.clone().any(|word| word.starts_with('-') || word.ends_with(".o") || word.ends_with(".a"))
        && !has_message(line);
    let is_short = line.starts_with("  ") && SHORT.contains(&first) && words.clone().count() == 1;
    let is_folder = begins(line, &["make["])
        && (line.contains("]: Entering directory")
            || line.contains("]: Leaving directory")
            || line.contains("]: Nothing to be done"));
    let is_check = begins(line, &["checking "]) && line.contains("... ")
        || begins(
            line,
            &[
                "-- Looking for ",
                "-- Performing Test ",
                "-- Check for working ",
                "-- Detecting ",
                "config.status: creating ",
            ],
        );
    is_command
        || is_short
        || is_folder
        || (is_check && !line.ends_with(" no") && !line.contains("not found"))
        || is_percent(line)
}

/// `[ 12%] Building C object …`, `[3/40] CC main.o`; the last target and what failed stay.
fn is_percent(line: &str) -> bool {
    let Some(rest) = line.strip_prefix('[') else { return false };
    let Some((count, step)) = rest.split_once("] ") else { return false };
    let count = count.trim();
    let is_percent = count.strip_suffix('%').and_then(after_number).is_some_and(str::is_empty);
    let is_count = count
        .split_once('/')
        .is_some_and(|(done, all)| after_number(done) == Some("") && after_number(all) == Some(""));
    (is_percent && begins(step, &["Building ", "Linking ", "Generating ", "Scanning ", "Built target "]))
        || (is_count && !has_message(step))
}

fn has_message(line: &str) -> bool {
    [" error: ", " warning: ", "error: ", ": No such file", "FAILED"].iter().any(|part| line.contains(part))
}
