//! RTK: shell commands are replaced by equivalents whose output takes fewer tokens, as the program `rtk` proposes.
//!
//! It is asked with `rtk rewrite COMMAND` and answers by exit code: 0 and 3 rewrite, 1 has nothing to say, 2 denies. A
//! rewrite never allows anything: whatever the code, the permission decision is made on the rewritten command, and with
//! `ask = true` a 3 is put to a person besides. Because the proposal can be wrong about what a script does with the output,
//! only plain command lines are looked at: no pipe, no substitution, no here-document, no redirection to a file. A line that
//! begins with `RTK_DISABLED=1` stays as it is.
//!
//! Unlike a gate this hook fails open: without an answer of `rtk` the command runs as it is, and that is said once. It
//! comes after all other hooks, so that guards judge the command that the model wrote.

mod line;

use crate::extension::Extension;
use crate::process_hook::ProcessHookHost;
use async_trait::async_trait;
use capstan_ports::hook::HookContext;
use capstan_ports::{
    Amendment, Failure, GateVerdict, Hook, HookError, HookStage, Message, ProgramError, ProgramRequest,
    ToolCall, ToolOutcome, Verdict,
};
use line::Line;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Tools that read a POSIX command line.
const SHELL_TOOLS: [&str; 4] = ["bash", "sh", "zsh", "shell"];

/// Where the command line stands; the first that is there is read and written.
const KEYS: [&str; 2] = ["command", "cmd"];

/// It runs before every command; a rewrite that takes longer saves nothing.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(2);

/// No command line is longer than this.
const MAX_OUTPUT_BYTES: usize = 128 * 1024;

/// Behind every other hook before a call, and so the first after it: its note in the details can still be replaced.
const PLACE: i32 = 2000;

/// `[rtk]` of the configuration. Unknown keys are refused.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RtkSettings {
    /// Off until the user says otherwise.
    pub enabled: bool,
    /// Commands that stay as they are, by their first words: `git diff` also covers `git diff --stat`.
    pub exclude: Vec<String>,
    /// Whether a person is asked about what `rtk` itself wants to be asked about (exit code 3), on top of the permissions.
    /// `rtk` answers 3 for everything that its own rules do not name.
    pub ask: bool,
    /// An absolute path, or a file name on `PATH`; `rtk` if absent.
    pub program: Option<PathBuf>,
    /// After this time the command runs as it is; 2 if absent.
    pub timeout_seconds: Option<u64>,
}

/// Told of what went wrong with `rtk`, once for each session.
pub type RtkReport = Arc<dyn Fn(&str) + Send + Sync>;

/// The RTK hook as a native extension.
pub struct Rtk {
    settings: RtkSettings,
    host: ProcessHookHost,
    report: RtkReport,
}

impl Rtk {
    /// One that asks the program of these settings.
    pub fn new(settings: RtkSettings, host: ProcessHookHost) -> Self {
        Self { settings, host, report: Arc::new(|problem| tracing::warn!("{problem}")) }
    }

    /// Tells this instead of the log.
    #[must_use]
    pub fn with_report(mut self, report: RtkReport) -> Self {
        self.report = report;
        self
    }
}

impl Extension for Rtk {
    /// With a space, so that no component can have it.
    fn name(&self) -> &str {
        "rtk hook"
    }

    fn hooks(&self, _place: i32) -> Vec<Arc<dyn Hook>> {
        vec![Arc::new(RtkHook {
            settings: self.settings.clone(),
            host: self.host.clone(),
            report: self.report.clone(),
            said: AtomicBool::new(false),
            rewritten: Mutex::default(),
        })]
    }
}

struct RtkHook {
    settings: RtkSettings,
    host: ProcessHookHost,
    report: RtkReport,
    /// Whether a problem was told.
    said: AtomicBool,
    /// Commands of this turn before and after, by the id of their call.
    rewritten: Mutex<HashMap<String, (String, String)>>,
}

/// What `rtk` says of a command.
enum Proposal {
    Nothing,
    Rewrite(String),
    RewriteAndAsk(String),
    Denied,
}

impl RtkHook {
    async fn propose(&self, line: &Line<'_>, context: &HookContext) -> Result<Proposal, String> {
        let program = self.settings.program.clone().unwrap_or_else(|| "rtk".into());
        let timeout = self.settings.timeout_seconds.map_or(DEFAULT_TIMEOUT, Duration::from_secs);
        let request = ProgramRequest {
            program,
            arguments: vec!["rewrite".to_owned(), line.command.to_owned()],
            stdin: Vec::new(),
            environment: self.host.environment(&[]),
            directory: Some(self.host.directory.clone()),
            timeout,
            max_output_bytes: MAX_OUTPUT_BYTES,
        };
        let outcome = match self.host.runner.run(request, &context.cancel).await {
            Ok(outcome) if outcome.timed_out => return Err(format!("rtk did not answer within {timeout:?}")),
            Ok(outcome) => outcome,
            Err(ProgramError::Cancelled) => return Ok(Proposal::Nothing),
            Err(error) => return Err(error.to_string()),
        };
        let asks = match outcome.exit_code {
            Some(0) => false,
            Some(1) => return Ok(Proposal::Nothing),
            Some(2) => return Ok(Proposal::Denied),
            Some(3) => true,
            Some(code) => return Err(format!("rtk ended with exit code {code}")),
            None => return Err("rtk was ended by a signal".to_owned()),
        };
        let proposed = std::str::from_utf8(&outcome.stdout)
            .map_err(|error| format!("what rtk printed is no text: {error}"))?
            .trim();
        if proposed.is_empty() || proposed == line.command {
            return Ok(Proposal::Nothing);
        }
        if outcome.truncated || !line::is_rewrite(proposed) {
            return Err("rtk printed something that is no rewritten command line".to_owned());
        }
        let whole = format!("{}{proposed}", line.assignments);
        Ok(if asks && self.settings.ask { Proposal::RewriteAndAsk(whole) } else { Proposal::Rewrite(whole) })
    }

    /// Says what is wrong, the first time.
    fn tell(&self, problem: &str) {
        if !self.said.swap(true, Ordering::Relaxed) {
            (self.report)(&format!(
                "{problem}; commands run as they are. Install rtk, or set enabled = false under [rtk] in config.toml"
            ));
        }
    }

    fn rewritten(&self) -> MutexGuard<'_, HashMap<String, (String, String)>> {
        self.rewritten.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Hook for RtkHook {
    fn name(&self) -> &str {
        "rtk"
    }

    fn handles(&self, stage: HookStage, tool: Option<&str>) -> bool {
        match stage {
            HookStage::BeforeToolCall | HookStage::AfterToolCall | HookStage::ToolError => {
                tool.is_none_or(|tool| SHELL_TOOLS.contains(&tool))
            }
            HookStage::BeforeTurn => true,
            _ => false,
        }
    }

    fn priority(&self, _stage: HookStage) -> i32 {
        PLACE
    }

    /// Forgets calls that never came to an end.
    async fn before_turn(
        &self,
        _context: &HookContext,
        _input: &Message,
    ) -> Result<Verdict<Message>, HookError> {
        self.rewritten().clear();
        Ok(Verdict::Proceed)
    }

    async fn before_tool_call(
        &self,
        context: &HookContext,
        call: &ToolCall,
    ) -> Result<GateVerdict, HookError> {
        let Some((key, original)) =
            KEYS.iter().find_map(|key| Some((*key, call.arguments.get(key)?.as_str()?)))
        else {
            // No command line, so nothing of ours. Whether such a call makes sense is up to the tool's schema.
            return Ok(GateVerdict::Pass);
        };
        let Some(line) = Line::plain(original) else { return Ok(GateVerdict::Pass) };
        if line.is_raw() || self.settings.exclude.iter().any(|words| line.begins_with(words)) {
            return Ok(GateVerdict::Pass);
        }
        let (command, asks) = match self.propose(&line, context).await {
            Ok(Proposal::Nothing) => return Ok(GateVerdict::Pass),
            Ok(Proposal::Denied) => {
                return Ok(GateVerdict::Block(format!("a rule of rtk denies this command: {original}")));
            }
            Ok(Proposal::Rewrite(command)) => (command, false),
            Ok(Proposal::RewriteAndAsk(command)) => (command, true),
            Err(problem) => {
                self.tell(&problem);
                return Ok(GateVerdict::Pass);
            }
        };
        let mut arguments = call.arguments.clone();
        arguments[key] = Value::String(command.clone());
        self.rewritten().insert(call.id.clone(), (original.to_owned(), command.clone()));
        Ok(match asks {
            true => GateVerdict::RewriteAndAsk { arguments, question: format!("run this?\n{command}") },
            false => GateVerdict::Rewrite(arguments),
        })
    }

    /// Keeps both commands in the details.
    async fn after_tool_call(
        &self,
        _context: &HookContext,
        call: &ToolCall,
        outcome: &ToolOutcome,
    ) -> Result<Option<Amendment>, HookError> {
        let Some((original, command)) = self.rewritten().remove(&call.id) else { return Ok(None) };
        let mut details = match &outcome.details {
            None => json!({}),
            Some(Value::Object(fields)) => Value::Object(fields.clone()),
            // There is no place for another field; the session still has the original in the model's answer.
            Some(_) => return Ok(None),
        };
        details["rtk"] = json!({ "original": original, "command": command });
        Ok(Some(Amendment { details: Some(details), ..Amendment::default() }))
    }

    async fn tool_error(
        &self,
        _context: &HookContext,
        call: &ToolCall,
        _failure: &Failure,
    ) -> Result<(), HookError> {
        self.rewritten().remove(&call.id);
        Ok(())
    }
}

#[cfg(test)]
#[path = "rtk_tests.rs"]
mod tests;
