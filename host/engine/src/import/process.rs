//! Programs of the host: the capability `process`.
//!
//! A program runs outside of the sandbox, with the rights of the user. What holds it is what it is asked to do, so everything
//! about that is checked: the program, its arguments, its variables, where it starts. It ends with the call.

use crate::bindings::capstan::extension::process;
use crate::bindings::capstan::extension::types::HostError;
use crate::rights::Rights;
use crate::state::State;
use capstan_policy::program::is_harmless_variable;
use capstan_ports::extension::Access;
use capstan_ports::{ProgramError, ProgramRequest, ProgramRunner};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// Bytes that are kept of each output.
const MAX_OUTPUT_BYTES: usize = 1 << 20;

/// What programs get for a path, so that one that calls another finds the usual ones and none of the user's own.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

impl process::Host for State {
    async fn run(
        &mut self,
        command: process::Command,
    ) -> wasmtime::Result<Result<process::Outcome, HostError>> {
        Ok(self.run_program(command).await)
    }
}

impl State {
    async fn run_program(&mut self, command: process::Command) -> Result<process::Outcome, HostError> {
        let identity = self.scope.identity.clone();
        let rights = &identity.rights;
        if rights.programs.is_empty() {
            return Err(super::not_granted("process"));
        }
        let programs = identity.services.programs.clone().ok_or_else(|| super::not_lent("programs"))?;
        let place = place_of(&command.program, &*programs)?;
        let allowed =
            rights.programs.iter().any(|rule| rule.allows(&command.program, &place, &command.arguments));
        if !allowed {
            return Err(HostError::Denied(format!(
                "no `process` grant allows {} with these {} arguments",
                super::printable(&command.program, 200),
                command.arguments.len()
            )));
        }
        check_program(&place, rights)?;
        check_variables(&command.environment, rights)?;
        let directory = command.directory.as_deref().map(|path| host_directory(path, rights)).transpose()?;
        let asked = match command.timeout_ms {
            0 => Duration::MAX,
            milliseconds => Duration::from_millis(milliseconds.into()),
        };
        let mut environment = command.environment;
        if !environment.iter().any(|(name, _)| name == "PATH") {
            environment.push(("PATH".to_owned(), PATH.to_owned()));
        }
        let request = ProgramRequest {
            program: place.clone(),
            arguments: command.arguments,
            stdin: command.stdin,
            environment,
            directory,
            timeout: asked.min(self.scope.time_left()),
            max_output_bytes: MAX_OUTPUT_BYTES,
        };
        let cancel = self.scope.cancel.clone();
        let extension = &*identity.extension;
        match programs.run(request, &cancel).await {
            Ok(outcome) => {
                tracing::info!(target: "capstan::extension", extension, program = %place.display(),
                    exit = ?outcome.exit_code, timed_out = outcome.timed_out, "ran a program");
                Ok(process::Outcome {
                    exit_code: outcome.exit_code,
                    stdout: outcome.stdout,
                    stderr: outcome.stderr,
                    truncated: outcome.truncated,
                    timed_out: outcome.timed_out,
                })
            }
            Err(ProgramError::Cancelled) => Err(HostError::TimedOut),
            Err(source) => {
                tracing::warn!(target: "capstan::extension", extension, "{source}");
                Err(HostError::Failed(super::printable(&source.to_string(), 1000)))
            }
        }
    }
}

/// Where a program is. The runner looks names up; a path has to be a plain one, for rules are written about plain ones.
fn place_of(program: &str, programs: &dyn ProgramRunner) -> Result<PathBuf, HostError> {
    let refuse = |reason: &str| {
        let program = super::printable(program, 200);
        HostError::Failed(format!("the program `{program}` cannot be run: {reason}"))
    };
    let path = Path::new(program);
    let plain = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    if program.contains('/') && !(path.is_absolute() && plain) {
        return Err(refuse("write a file name, or an absolute path without `..`"));
    }
    programs.locate(path).map_err(|reason| refuse(&reason.to_string()))
}

/// An extension that could write the program could run anything.
fn check_program(place: &Path, rights: &Rights) -> Result<(), HostError> {
    let real = place.canonicalize().map_err(|reason| {
        HostError::Failed(format!(
            "{} cannot be run: {reason}",
            super::printable(&place.to_string_lossy(), 200)
        ))
    })?;
    let writable = |path: &Path| {
        let mut written = rights.directories.iter().filter(|directory| directory.access == Access::ReadWrite);
        written.any(|directory| path.starts_with(&directory.host))
    };
    if writable(place) || writable(&real) {
        return Err(HostError::Denied(
            "the program lies in a directory that this extension may write".to_owned(),
        ));
    }
    Ok(())
}

fn check_variables(environment: &[(String, String)], rights: &Rights) -> Result<(), HostError> {
    for (name, value) in environment {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return Err(HostError::Failed("a variable has no proper name or value".to_owned()));
        }
        if !is_harmless_variable(name) && !rights.variables.contains(name) {
            return Err(HostError::Denied(format!(
                "the variable {} may decide which code the program runs; it needs the capability `environment` for it",
                super::printable(name, 100)
            )));
        }
    }
    Ok(())
}

/// The host directory of a guest path: a granted one, or one below it.
fn host_directory(path: &str, rights: &Rights) -> Result<PathBuf, HostError> {
    let denied = || {
        HostError::Denied(format!("the directory {} is in no `directory` grant", super::printable(path, 200)))
    };
    let guest = Path::new(path);
    let granted = rights.directories.iter().filter_map(|directory| {
        let below = guest.strip_prefix(&directory.guest).ok()?;
        let plain = below.components().all(|part| matches!(part, Component::Normal(_)));
        plain.then(|| (directory, directory.host.join(below)))
    });
    // The nearest one, where a grant lies inside another.
    let (directory, host) = granted.max_by_key(|(directory, _)| directory.guest.len()).ok_or_else(denied)?;
    let real = host.canonicalize().map_err(|reason| {
        HostError::Failed(format!("{} cannot be used: {reason}", super::printable(path, 200)))
    })?;
    if real.starts_with(&directory.host) && real.is_dir() { Ok(real) } else { Err(denied()) }
}
