//! Commands that the client runs itself. They are the client's own acts, so no permission is asked for them.

use crate::output::Output;
use anyhow::Result;
use capstan_ports::entry::BashExecution;
use capstan_ports::message::now_ms;
use capstan_tools::{CommandEnd, CommandRequest, CommandRuntime, OutputSink};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// Runs commands in the workspace.
pub(super) struct Shell {
    runtime: Arc<dyn CommandRuntime>,
    directory: PathBuf,
    output: Output,
    /// Ends those that run now.
    stop: Mutex<CancellationToken>,
}

impl Shell {
    pub(super) fn new(runtime: Arc<dyn CommandRuntime>, directory: PathBuf, output: Output) -> Self {
        Self { runtime, directory, output, stop: Mutex::default() }
    }

    /// Runs one to its end. What it prints is told as it comes: `{"type": "bash_execution_update", "id": …, "output": …}`
    /// with all of the output so far, as far as a result may hold it.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) async fn run(
        &self,
        id: Option<&Value>,
        command: String,
        hidden: bool,
        stop: &CancellationToken,
    ) -> Result<BashExecution> {
        let request =
            CommandRequest { command: command.clone(), directory: self.directory.clone(), timeout: None };
        let sink = Updates { id, output: &self.output };
        let outcome = self.runtime.run(request, &sink, stop).await?;
        let exit_code = match outcome.end {
            CommandEnd::Exited(code) => Some(code),
            CommandEnd::Signalled(_) | CommandEnd::Cancelled | CommandEnd::TimedOut(_) => None,
        };
        let printed = outcome.output;
        Ok(BashExecution {
            command,
            output: printed.text,
            exit_code,
            cancelled: outcome.end == CommandEnd::Cancelled,
            truncated: printed.truncation.is_some(),
            full_output_path: printed.full_output.map(|path| path.to_string_lossy().into_owned()),
            exclude_from_context: hidden,
            timestamp: now_ms(),
        })
    }

    /// Fires when those that run now are ended.
    pub(super) fn stop_token(&self) -> CancellationToken {
        self.stop.lock().unwrap_or_else(PoisonError::into_inner).child_token()
    }

    /// Ends all that run now.
    pub(super) fn abort(&self) {
        std::mem::take(&mut *self.stop.lock().unwrap_or_else(PoisonError::into_inner)).cancel();
    }
}

/// What the client is answered.
pub(super) fn data(bash: &BashExecution) -> Value {
    let mut data = json!({"output": bash.output, "cancelled": bash.cancelled, "truncated": bash.truncated});
    if let Some(code) = bash.exit_code {
        data["exitCode"] = json!(code);
    }
    if let Some(path) = &bash.full_output_path {
        data["fullOutputPath"] = json!(path);
    }
    data
}

struct Updates<'s> {
    id: Option<&'s Value>,
    output: &'s Output,
}

impl OutputSink for Updates<'_> {
    fn output(&self, tail: &str) {
        let mut update = json!({"type": "bash_execution_update", "output": tail});
        if let Some(id) = self.id {
            update["id"] = id.clone();
        }
        self.output.line_if_room(&update);
    }
}
