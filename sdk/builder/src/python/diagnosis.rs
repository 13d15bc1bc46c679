//! How things stand for builds in Python, for `capstan doctor`. Looks, and changes nothing.

use std::path::Path;

use crate::error::BuilderError;
use crate::finding::{Finding, Status};
use crate::python::environment::{Environment, TOOL};
use crate::python::interpreter::Surroundings;

/// Says whether there is a Python that will do, and whether componentize-py is installed.
pub(crate) fn diagnose(cache: &Path) -> Vec<Finding> {
    diagnose_in(&Surroundings::detect(), cache)
}

fn diagnose_in(surroundings: &Surroundings, cache: &Path) -> Vec<Finding> {
    let interpreter = match surroundings.interpreter() {
        Ok(interpreter) => interpreter,
        Err(error) => return vec![missing(&error)],
    };
    let python = Finding {
        subject: "python".to_owned(),
        status: Status::Ready,
        detail: format!("{} ({})", interpreter.program.display(), interpreter.version()),
        remedy: None,
    };
    let subject = "componentize-py".to_owned();
    let tool = if let Some(environment) = Environment::existing(cache, &interpreter) {
        let detail = environment.folder.display().to_string();
        Finding { subject, status: Status::Ready, detail, remedy: None }
    } else if surroundings.may_install {
        let detail = format!("not installed; the first build in Python has pip install {TOOL}");
        Finding { subject, status: Status::CanBeMade, detail, remedy: None }
    } else {
        let detail = "not installed, and CAPSTAN_NO_INSTALL is set".to_owned();
        let remedy = Some("build once without it".to_owned());
        Finding { subject, status: Status::Missing, detail, remedy }
    };
    vec![python, tool]
}

fn missing(error: &BuilderError) -> Finding {
    let (detail, remedy) = match error {
        BuilderError::NoPython { reasons, remedy } => (reasons.join("; "), Some(remedy.clone())),
        other => (other.to_string(), None),
    };
    Finding { subject: "python".to_owned(), status: Status::Missing, detail, remedy }
}

#[cfg(test)]
#[path = "diagnosis_tests.rs"]
mod tests;
