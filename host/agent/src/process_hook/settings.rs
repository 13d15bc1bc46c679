//! One `[[hook]]` of the configuration.

use crate::process_hook::matcher::Matcher;
use serde::Deserialize;
use std::path::PathBuf;
use std::time::Duration;

/// How long a hook may take if its configuration does not say, as in Claude Code.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// Characters of a command line that stand in the name of its hook.
const NAME_CHARS: usize = 40;

/// When a hook is asked. An unknown name is refused when the configuration is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum HookEvent {
    /// Before a tool call. The only event that can deny.
    PreToolUse,
    /// After a tool call that worked.
    PostToolUse,
    /// Before a turn.
    UserPromptSubmit,
    /// After a turn that ended well.
    Stop,
    /// When a session begins or is continued, and after its old messages were replaced by a summary.
    SessionStart,
    /// When a session ends.
    SessionEnd,
}

impl HookEvent {
    /// As it is written in the configuration and in `hook_event_name`.
    pub fn name(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::Stop => "Stop",
            Self::SessionStart => "SessionStart",
            Self::SessionEnd => "SessionEnd",
        }
    }
}

/// What follows for the call when a `PreToolUse` hook fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// It is not made.
    #[default]
    Deny,
    /// It goes on to the next gate and the permissions, and the failure is reported.
    Allow,
}

/// One hook as the user writes it. Unknown keys are refused.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessHookSettings {
    /// When it is asked.
    pub event: HookEvent,
    /// Which tools (`PreToolUse`, `PostToolUse`) or which kinds of start (`SessionStart`: `startup`, `resume`, `compact`)
    /// it is asked about: names separated by `|`, or a regular expression; absent, empty or `*` means all. Built-in tools
    /// go by our name and by Claude Code's.
    pub matcher: Option<String>,
    /// A command line for `sh`. Either this or `program`.
    pub command: Option<String>,
    /// A program without a shell: an absolute path, or a file name on `PATH`.
    pub program: Option<PathBuf>,
    /// The arguments of `program`, word by word.
    #[serde(default)]
    pub args: Vec<String>,
    /// Shown in messages.
    pub name: Option<String>,
    /// After this time it is killed with everything that it started; 60 if absent.
    pub timeout_seconds: Option<u64>,
    /// Only for `PreToolUse`.
    pub on_failure: Option<OnFailure>,
    /// Further variables of the host's environment that it gets.
    #[serde(default)]
    pub env: Vec<String>,
}

/// An entry that cannot be a hook.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessHookError {
    /// Nothing to run, or two things.
    #[error("[[hook]] number {number} needs either `command`, a shell command line, or `program`")]
    NoProgram {
        /// Counted from 1.
        number: i32,
    },
    /// Arguments beside a command line.
    #[error("[[hook]] number {number}: `args` belong to `program`; put them into the line of `command`")]
    StrayArguments {
        /// Counted from 1.
        number: i32,
    },
    /// The matcher is no regular expression.
    #[error(
        "[[hook]] number {number}: `matcher` is neither a list of names nor a regular expression: {source}"
    )]
    Matcher {
        /// Counted from 1.
        number: i32,
        /// What is wrong with it.
        #[source]
        source: regex::Error,
    },
    /// A matcher where there is nothing to match. Left in, it would look like a restriction.
    #[error("[[hook]] number {number}: {event} has nothing that a `matcher` could match; remove it")]
    StrayMatcher {
        /// Counted from 1.
        number: i32,
        /// Its event.
        event: &'static str,
    },
    /// A failure rule where nothing can be denied.
    #[error("[[hook]] number {number}: `on_failure` is for PreToolUse; a failing {event} hook is reported")]
    StrayFailureRule {
        /// Counted from 1.
        number: i32,
        /// Its event.
        event: &'static str,
    },
}

/// What runs.
#[derive(Debug, Clone)]
pub(crate) enum ProgramLine {
    Shell(String),
    Direct(PathBuf, Vec<String>),
}

impl ProgramLine {
    pub(crate) fn words(&self) -> (PathBuf, Vec<String>) {
        match self {
            Self::Shell(line) => ("/bin/sh".into(), vec!["-c".to_owned(), line.clone()]),
            Self::Direct(program, arguments) => (program.clone(), arguments.clone()),
        }
    }
}

/// Settings that make sense.
pub(crate) struct Checked {
    pub(crate) name: String,
    pub(crate) event: HookEvent,
    pub(crate) matcher: Matcher,
    pub(crate) line: ProgramLine,
    pub(crate) variables: Vec<String>,
    pub(crate) timeout: Duration,
    pub(crate) on_failure: OnFailure,
}

impl ProcessHookSettings {
    pub(crate) fn check(self, number: i32) -> Result<Checked, ProcessHookError> {
        let event = self.event;
        let line = match (self.command, self.program) {
            (Some(_), None) if !self.args.is_empty() => {
                return Err(ProcessHookError::StrayArguments { number });
            }
            (Some(line), None) if !line.trim().is_empty() => ProgramLine::Shell(line),
            (None, Some(program)) => ProgramLine::Direct(program, self.args),
            _ => return Err(ProcessHookError::NoProgram { number }),
        };
        let matcher = Matcher::new(self.matcher.as_deref())
            .map_err(|source| ProcessHookError::Matcher { number, source })?;
        let matches =
            matches!(event, HookEvent::PreToolUse | HookEvent::PostToolUse | HookEvent::SessionStart);
        if !matches && !matches!(matcher, Matcher::Everything) {
            return Err(ProcessHookError::StrayMatcher { number, event: event.name() });
        }
        if self.on_failure.is_some() && event != HookEvent::PreToolUse {
            return Err(ProcessHookError::StrayFailureRule { number, event: event.name() });
        }
        let shown = match &line {
            ProgramLine::Shell(line) => line.clone(),
            ProgramLine::Direct(program, _) => program.display().to_string(),
        };
        let name = self.name.unwrap_or_else(|| {
            let brief: String = shown.chars().filter(|c| !c.is_control()).take(NAME_CHARS).collect();
            format!("{} `{brief}`", event.name())
        });
        Ok(Checked {
            name,
            event,
            matcher,
            line,
            variables: self.env,
            timeout: self.timeout_seconds.map_or(DEFAULT_TIMEOUT, Duration::from_secs),
            on_failure: self.on_failure.unwrap_or_default(),
        })
    }
}
