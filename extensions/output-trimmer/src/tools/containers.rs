//! Builds and layers of containers; packages of the system.

use super::{after_number, begins};
use crate::trim::{Marks, Noise};

const LAYER: [&str; 8] = [
    "Pulling fs layer",
    "Waiting",
    "Downloading",
    "Verifying Checksum",
    "Download complete",
    "Extracting",
    "Pull complete",
    "Already exists",
];

pub(super) fn mark(lines: &[&str], marks: &mut Marks) {
    for (at, line) in lines.iter().enumerate() {
        marks[at] = marks[at].or_else(|| noise(line));
    }
}

fn noise(line: &str) -> Option<Noise> {
    // `#12 sha256:… 12.3MB / 45MB 0.5s`, `#12 DONE 0.3s`
    if let Some(step) = line.strip_prefix('#').and_then(after_number) {
        let step = step.trim_start();
        let is_progress = begins(
            step,
            &[
                "sha256:",
                "extracting sha256:",
                "transferring ",
                "resolve ",
                "DONE ",
                "CACHED",
                "exporting ",
                "naming to ",
                "writing image ",
                "sending tarball",
            ],
        );
        return is_progress.then_some(Noise::Progress);
    }
    if let Some((id, state)) = line.trim_start().split_once(": ") {
        let is_id = id.len() == 12 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_id && begins(state, &LAYER) {
            return Some(Noise::Downloading);
        }
    }
    let is_number = |rest: &str| after_number(rest).is_some_and(|rest| rest.starts_with(' '));
    let is_package = begins(
        line,
        &[
            "Selecting previously unselected package ",
            "Preparing to unpack ",
            "Unpacking ",
            "Setting up ",
            "(Reading database ",
            "Processing triggers for ",
            "Reading package lists",
            "Building dependency tree",
            "Reading state information",
        ],
    ) || line.strip_prefix("Get:").is_some_and(is_number)
        || line.strip_prefix("Hit:").is_some_and(is_number);
    is_package.then_some(Noise::Downloading)
}
