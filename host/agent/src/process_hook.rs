//! Hooks that are programs of the user, in the shape that users of Claude Code know: the event as JSON on standard input,
//! an exit code or JSON on standard output as the answer.
//!
//! What differs from Claude Code, and why:
//! - A `PreToolUse` hook that fails in any way (another exit code than 0 and 2, a time-out, a missing program, output that
//!   is no JSON object) denies the call. There it lets the call pass, which is how guards turn into decoration.
//! - `allow` lets nothing pass that the permissions would stop. A hook tightens, it never grants.
//! - Hooks of one event run one after another, in the order of the configuration, and each sees what those before it
//!   changed. They come after the gates of components, so they see the call that those left.
//! - `Stop` watches: it cannot keep the model going. `additionalContext` of `PreToolUse` has no place to go and is reported.
//! - Programs get a short list of environment variables instead of everything that the host has.

mod answer;
mod matcher;
mod payload;
mod settings;

pub use settings::{HookEvent, OnFailure, ProcessHookError, ProcessHookSettings};

use crate::extension::Extension;
use crate::process_hook::answer::{Answer, Decision};
use crate::process_hook::payload::Payload;
use crate::process_hook::settings::ProgramLine;
use async_trait::async_trait;
use capstan_ports::hook::HookContext;
use capstan_ports::{
    Amendment, Content, GateVerdict, Hook, HookError, HookStage, Message, ProgramError, ProgramRequest,
    ProgramRunner, SessionId, SessionLifecycle, ToolCall, ToolOutcome, Verdict,
};
use matcher::Matcher;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Where process hooks stand among all hooks: behind components, whose priorities are near 0.
const FIRST_PLACE: i32 = 1000;

/// Bytes of each output that are looked at. A rewritten file of this size still fits; a hook that writes more is cut off,
/// its JSON is then none, and it counts as failed.
const MAX_OUTPUT_BYTES: usize = 4 << 20;

/// The variables that every program gets, as far as the host has them: what a shell and an interpreter need to work.
const VARIABLES: [&str; 8] = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TMPDIR", "TZ"];

/// Where the programs of hooks run.
#[derive(Clone)]
pub struct ProcessHookHost {
    /// Starts them.
    pub runner: Arc<dyn ProgramRunner>,
    /// The workspace: where they start, and what they are told as `cwd`.
    pub directory: PathBuf,
    /// The host's environment. A program gets `PATH`, `HOME`, the language and a few more of it, and what its
    /// configuration names; never the rest.
    pub environment: BTreeMap<String, String>,
}

impl ProcessHookHost {
    /// What a program gets of the environment.
    pub(crate) fn environment(&self, named: &[String]) -> Vec<(String, String)> {
        let wanted = |name: &str| {
            VARIABLES.contains(&name) || name.starts_with("LC_") || named.iter().any(|other| other == name)
        };
        let mut environment: Vec<_> = self
            .environment
            .iter()
            .filter(|(name, _)| wanted(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        environment.push(("CLAUDE_PROJECT_DIR".to_owned(), self.directory.display().to_string()));
        environment
    }
}

/// The process hooks of a session, as one native extension.
pub struct ProcessHooks {
    hooks: Vec<Arc<ProcessHook>>,
}

impl ProcessHooks {
    /// The hooks of a configuration, in its order.
    ///
    /// # Errors
    /// [`ProcessHookError`] for the first entry that cannot be a hook.
    pub fn new(settings: Vec<ProcessHookSettings>, host: &ProcessHookHost) -> Result<Self, ProcessHookError> {
        let hooks = settings
            .into_iter()
            .zip(1..)
            .map(|(settings, number)| ProcessHook::new(settings, number, host.clone()).map(Arc::new));
        Ok(Self { hooks: hooks.collect::<Result<_, _>>()? })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }
}

impl Extension for ProcessHooks {
    /// With a space, so that no component can have it.
    fn name(&self) -> &str {
        "process hooks"
    }

    fn hooks(&self, _place: i32) -> Vec<Arc<dyn Hook>> {
        self.hooks.iter().map(|hook| hook.clone() as Arc<dyn Hook>).collect()
    }
}

/// One program that is asked at one event.
struct ProcessHook {
    name: String,
    /// Counted from 1 in the configuration.
    number: i32,
    event: HookEvent,
    matcher: Matcher,
    line: ProgramLine,
    variables: Vec<String>,
    timeout: Duration,
    on_failure: OnFailure,
    host: ProcessHookHost,
    /// What a `SessionStart` hook wants the model to know; goes into the next prompt.
    pending: Mutex<Vec<String>>,
}

impl ProcessHook {
    fn new(
        settings: ProcessHookSettings,
        number: i32,
        host: ProcessHookHost,
    ) -> Result<Self, ProcessHookError> {
        let checked = settings.check(number)?;
        Ok(Self {
            name: checked.name,
            number,
            event: checked.event,
            matcher: checked.matcher,
            line: checked.line,
            variables: checked.variables,
            timeout: checked.timeout,
            on_failure: checked.on_failure,
            host,
            pending: Mutex::default(),
        })
    }

    /// Runs the program and reads its answer.
    async fn ask(&self, payload: Payload, cancel: &CancellationToken) -> Result<Answer, HookError> {
        let (program, arguments) = self.line.words();
        let request = ProgramRequest {
            program,
            arguments,
            stdin: payload.into_bytes(self.event, &self.host.directory),
            environment: self.host.environment(&self.variables),
            directory: Some(self.host.directory.clone()),
            timeout: self.timeout,
            max_output_bytes: MAX_OUTPUT_BYTES,
        };
        match self.host.runner.run(request, cancel).await {
            Ok(outcome) if outcome.timed_out => {
                Err(self.failed(format!("it did not answer within {:?}", self.timeout), None))
            }
            Ok(outcome) => {
                let answer =
                    Answer::of(self.event, &outcome).map_err(|problem| self.failed(problem, None))?;
                if let Some(message) = &answer.message {
                    tracing::warn!(hook = self.name, "{message}");
                }
                Ok(answer)
            }
            Err(error @ ProgramError::Cancelled) => Err(self.failed(error.to_string(), Some(error))),
            Err(error) => Err(self.failed(error.to_string(), Some(error))),
        }
    }

    fn failed(&self, problem: String, source: Option<ProgramError>) -> HookError {
        let remedy = match self.event {
            HookEvent::PreToolUse => ", remove it, or give it on_failure = \"allow\"",
            _ => " or remove it",
        };
        HookError::Failed {
            hook: self.name.clone(),
            message: format!("{problem}; mend [[hook]] number {} of config.toml{remedy}", self.number),
            source: source.map(|source| Box::new(source) as Box<dyn std::error::Error + Send + Sync>),
        }
    }

    /// Asks at a stage where a failure changes nothing.
    async fn ask_or_report(&self, payload: Payload, cancel: &CancellationToken) -> Option<Answer> {
        match self.ask(payload, cancel).await {
            Ok(answer) => Some(answer),
            Err(error) => {
                tracing::warn!(hook = self.name, %error, "a hook failed; what it was asked about stays as it was");
                None
            }
        }
    }

    fn take_pending(&self) -> Vec<String> {
        std::mem::take(&mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn says(&self, text: &str) -> String {
        format!("[hook {}] {text}", self.name)
    }
}

#[async_trait]
impl Hook for ProcessHook {
    fn name(&self) -> &str {
        &self.name
    }

    fn handles(&self, stage: HookStage, tool: Option<&str>) -> bool {
        let here = match self.event {
            HookEvent::PreToolUse => stage == HookStage::BeforeToolCall,
            HookEvent::PostToolUse => stage == HookStage::AfterToolCall,
            HookEvent::UserPromptSubmit => stage == HookStage::BeforeTurn,
            HookEvent::Stop => stage == HookStage::AfterTurn,
            HookEvent::SessionStart => matches!(stage, HookStage::SessionLifecycle | HookStage::BeforeTurn),
            HookEvent::SessionEnd => stage == HookStage::SessionLifecycle,
        };
        here && tool.is_none_or(|tool| self.matcher.takes_tool(tool))
    }

    /// The order of the configuration at every stage; those that run in reverse are turned around once more.
    fn priority(&self, stage: HookStage) -> i32 {
        match stage {
            HookStage::AfterToolCall | HookStage::AfterTurn => -(FIRST_PLACE + self.number),
            _ => FIRST_PLACE + self.number,
        }
    }

    async fn before_turn(
        &self,
        context: &HookContext,
        input: &Message,
    ) -> Result<Verdict<Message>, HookError> {
        let Message::User(_) = input else { return Ok(Verdict::Proceed) };
        let notes = match self.event {
            HookEvent::SessionStart => self.take_pending(),
            _ => {
                let payload = Payload::new(&context.turn.session_id).with("prompt", input.text());
                let answer = self.ask(payload, &context.cancel).await?;
                if let Some(reason) = answer.stop {
                    return Ok(Verdict::Abort(reason));
                }
                if let Decision::Deny(reason) = answer.decision {
                    return Ok(Verdict::Abort(reason));
                }
                answer.context.into_iter().collect()
            }
        };
        let mut message = input.clone();
        match &mut message {
            Message::User(user) if !notes.is_empty() => {
                user.content.extend(notes.iter().map(|note| Content::text(self.says(note))));
                Ok(Verdict::Rewrite(message))
            }
            _ => Ok(Verdict::Proceed),
        }
    }

    async fn before_tool_call(
        &self,
        context: &HookContext,
        call: &ToolCall,
    ) -> Result<GateVerdict, HookError> {
        let payload = Payload::new(&context.turn.session_id).with_call(call, &self.host.directory);
        let answer = match (self.ask(payload, &context.cancel).await, self.on_failure) {
            (Ok(answer), _) => answer,
            (Err(error), OnFailure::Allow) => {
                tracing::warn!(hook = self.name, %error, "a gate failed and lets the call pass, as configured");
                return Ok(GateVerdict::Pass);
            }
            (Err(error), OnFailure::Deny) => return Err(error),
        };
        if let Some(reason) = answer.stop {
            return Err(HookError::Aborted { reason });
        }
        if answer.context.is_some() {
            tracing::warn!(
                hook = self.name,
                "additionalContext of PreToolUse has no place to go and is left out"
            );
        }
        let updated =
            answer.updated_input.map(|input| payload::own_arguments(call, input, &self.host.directory));
        Ok(match (answer.decision, updated) {
            (Decision::Deny(reason), _) => GateVerdict::Block(reason),
            (Decision::Ask(question), Some(arguments)) => GateVerdict::RewriteAndAsk { arguments, question },
            (Decision::Ask(question), None) => GateVerdict::Ask(question),
            (Decision::None, Some(arguments)) => GateVerdict::Rewrite(arguments),
            (Decision::None, None) => GateVerdict::Pass,
        })
    }

    /// Only for calls that worked, as in Claude Code.
    async fn after_tool_call(
        &self,
        context: &HookContext,
        call: &ToolCall,
        outcome: &ToolOutcome,
    ) -> Result<Option<Amendment>, HookError> {
        if outcome.is_error {
            return Ok(None);
        }
        let payload = Payload::new(&context.turn.session_id)
            .with_call(call, &self.host.directory)
            .with("tool_response", serde_json::to_value(outcome).unwrap_or(Value::Null));
        let Some(answer) = self.ask_or_report(payload, &context.cancel).await else { return Ok(None) };
        let terminate = answer.stop.is_some();
        let denied = match answer.decision {
            Decision::Deny(reason) => Some(reason),
            Decision::Ask(_) | Decision::None => None,
        };
        let notes: Vec<String> = [denied, answer.stop, answer.context].into_iter().flatten().collect();
        if notes.is_empty() {
            return Ok(None);
        }
        let mut content = outcome.content.clone();
        content.extend(notes.iter().map(|note| Content::text(self.says(note))));
        Ok(Some(Amendment { content: Some(content), terminate, ..Amendment::default() }))
    }

    async fn after_turn(
        &self,
        context: &HookContext,
        answer: &Message,
        _results: &[Arc<Message>],
    ) -> Result<(), HookError> {
        let payload = Payload::new(&context.turn.session_id)
            .with("stop_hook_active", false)
            .with("last_assistant_message", answer.text());
        let answer = self.ask(payload, &context.cancel).await?;
        match answer.decision {
            Decision::Deny(reason) => Err(self.failed(
                format!("it wants the model to go on ({reason}), which a Stop hook cannot do here"),
                None,
            )),
            Decision::Ask(_) | Decision::None => Ok(()),
        }
    }

    async fn session_lifecycle(&self, session: &SessionId, event: SessionLifecycle) -> Result<(), HookError> {
        let (wanted, key, value) = match event {
            SessionLifecycle::Start => (HookEvent::SessionStart, "source", "startup"),
            SessionLifecycle::Resume => (HookEvent::SessionStart, "source", "resume"),
            SessionLifecycle::Compacted => (HookEvent::SessionStart, "source", "compact"),
            SessionLifecycle::End => (HookEvent::SessionEnd, "reason", "other"),
            SessionLifecycle::Switched => return Ok(()),
        };
        if wanted != self.event || !self.matcher.takes(value) {
            return Ok(());
        }
        let payload = Payload::new(session).with(key, value);
        let answer = self.ask(payload, &CancellationToken::new()).await?;
        if self.event == HookEvent::SessionStart {
            self.pending.lock().unwrap_or_else(PoisonError::into_inner).extend(answer.context);
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "process_hook_tests.rs"]
mod tests;
