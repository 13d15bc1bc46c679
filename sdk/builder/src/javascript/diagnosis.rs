//! How things stand for extensions in JavaScript, for `capstan doctor`. Looks, and changes nothing.

use std::path::Path;

use crate::error::BuilderError;
use crate::finding::{Finding, Status};
use crate::javascript::machine::{Machine, version};

/// Says for node and npm whether they are there and new enough. Runs both for their versions.
pub(crate) fn diagnose() -> Vec<Finding> {
    diagnose_on(&Machine::detect())
}

pub(crate) fn diagnose_on(machine: &Machine) -> Vec<Finding> {
    vec![finding("node (JavaScript)", machine.node()), finding("npm (JavaScript)", machine.npm())]
}

fn finding(subject: &str, found: Result<&Path, BuilderError>) -> Finding {
    let subject = subject.to_owned();
    match found.and_then(|path| Ok((path, version(path)?))) {
        Ok((path, version)) => Finding {
            subject,
            status: Status::Ready,
            detail: format!("{version}, {}", path.display()),
            remedy: None,
        },
        // The error says what to do.
        Err(error) => {
            Finding { subject, status: Status::Missing, detail: crate::error::chain(&error), remedy: None }
        }
    }
}

#[cfg(test)]
#[path = "diagnosis_tests.rs"]
mod tests;
