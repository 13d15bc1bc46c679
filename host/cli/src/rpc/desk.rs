//! Does what a client asks for. Commands are taken up in the order in which they come; what takes long goes on beside, so that
//! a run can be steered, ended and looked at while it is on.

use super::answer::Answer;
use super::command::{Command, Mode, Request};
use super::questions::Questions;
use super::queues::Queues;
use super::runs::Runs;
use super::shell::{self, Shell};
use super::talk::ended_by;
use crate::explain::Explanations;
use crate::home::Home;
use crate::live::{CurrentCommands, Running};
use crate::model::ConfiguredModels;
use crate::output::Output;
use crate::session_command::html;
use crate::sessions::Sessions;
use anyhow::{Context, Result, ensure};
use capstan_agent::{AgentSession, QueueMode, RetryPolicy};
use capstan_ports::{EntryId, ModelCatalog, ThinkingLevel};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Everything that commands work on.
pub(super) struct Desk {
    pub(super) home: Home,
    pub(super) session: AgentSession,
    pub(super) sessions: Sessions,
    pub(super) models: Arc<ConfiguredModels>,
    pub(super) commands: CurrentCommands,
    pub(super) running: Running,
    pub(super) explanations: Explanations,
    pub(super) output: Output,
    pub(super) questions: Arc<Questions>,
    pub(super) runs: Arc<Runs>,
    pub(super) queues: Arc<Queues>,
    pub(super) shell: Shell,
    /// What goes on beside.
    pub(super) tasks: TaskTracker,
    /// Ends what is on beside a run: slash commands, a compaction.
    pub(super) stop_others: Mutex<CancellationToken>,
    /// Told when a run has ended that may have left calls to be decided.
    pub(super) look_at_deferred: mpsc::UnboundedSender<()>,
    /// Retries where they are switched on.
    pub(super) max_retries: u32,
}

/// Retries as configured, or the usual number where the configuration has none: a client that switches them on wants some.
pub(super) fn retries_when_on(session: &AgentSession) -> u32 {
    let mut configured = 0;
    session.agent().configure(|config| configured = config.retry.max_retries);
    if configured == 0 { RetryPolicy::default().max_retries } else { configured }
}

impl Desk {
    /// Takes up one command.
    pub(super) async fn handle(self: &Arc<Self>, request: Request) {
        let Request { id, name, command } = request;
        let answer = Answer::new(id, name, self.output.clone());
        match command {
            Command::Prompt { message, images, streaming_behavior } => {
                self.prompt(answer, message, images, streaming_behavior).await;
            }
            Command::Abort => self.abort(answer),
            Command::Compact { custom_instructions } => {
                // Taken now, so that an abort right behind this command counts.
                let (desk, stop) = (self.clone(), self.stop_token());
                self.tasks.spawn(async move {
                    let compacted = desk.compact(custom_instructions, &stop).await;
                    answer.with(compacted).await;
                });
            }
            Command::ExportHtml { output_path } => {
                let desk = self.clone();
                self.tasks.spawn(async move {
                    let exported = desk.export(output_path.as_deref()).await;
                    answer.with(exported).await;
                });
            }
            Command::Bash { command, exclude_from_context } => {
                let (desk, stop) = (self.clone(), self.shell.stop_token());
                let hidden = exclude_from_context.unwrap_or_default();
                self.tasks.spawn(async move {
                    let ran = desk.bash(answer.id.as_ref(), command, hidden, &stop).await;
                    answer.with(ran).await;
                });
            }
            command => {
                let done = self.at_once(command).await;
                answer.with(done).await;
            }
        }
    }

    /// What takes no time worth speaking of.
    async fn at_once(self: &Arc<Self>, command: Command) -> Result<Option<Value>> {
        let agent = self.session.agent();
        match command {
            Command::Steer { message, images } => self.steer(&message, images).await?,
            Command::FollowUp { message, images } => self.follow_up(&message, images).await?,
            Command::GetState => return self.state().map(Some),
            Command::GetMessages => return self.messages().map(Some),
            Command::GetSessionStats => return self.stats().map(Some),
            Command::GetForkMessages => return self.fork_points().map(Some),
            Command::GetLastAssistantText => return self.last_text().map(Some),
            Command::GetCommands => return Ok(Some(self.commands_data())),
            Command::GetAvailableModels => return Ok(Some(json!({"models": self.available_models()}))),
            Command::SetModel { provider, model_id } => {
                return self.set_model(&provider, &model_id).await.map(Some);
            }
            Command::CycleModel => return self.cycle_model().await.map(Some),
            Command::SetThinkingLevel { level } => self.set_thinking_level(level).await?,
            Command::CycleThinkingLevel => {
                let now = self.session.thinking_level();
                let at = ThinkingLevel::ALL.iter().position(|level| *level == now).unwrap_or_default();
                let next = ThinkingLevel::ALL[(at + 1) % ThinkingLevel::ALL.len()];
                self.set_thinking_level(next).await?;
                return Ok(Some(json!({"level": next.name()})));
            }
            Command::SetSteeringMode { mode } => agent.set_steering_mode(mode.into()),
            Command::SetFollowUpMode { mode } => agent.set_follow_up_mode(mode.into()),
            Command::SetAutoRetry { enabled } => {
                let retries = if enabled { self.max_retries } else { 0 };
                agent.configure(|config| config.retry.max_retries = retries);
            }
            Command::AbortRetry => agent.abort_retry(),
            Command::AbortBash => self.shell.abort(),
            Command::SetSessionName { name } => {
                let name = name.trim();
                ensure!(!name.is_empty(), "a session's name cannot be empty");
                self.session.set_name(Some(name.to_owned())).await?;
                self.output.line(&json!({"type": "session_info_changed", "name": name})).await;
            }
            Command::NewSession { parent_session } => {
                let _turn = self.between_runs().await?;
                self.sessions.new_session(parent_session).await?;
                return Ok(Some(json!({"cancelled": false})));
            }
            Command::SwitchSession { session_path } => {
                let _turn = self.between_runs().await?;
                self.sessions.open(&session_path).await?;
                self.look_at_deferred.send(()).ok();
                return Ok(Some(json!({"cancelled": false})));
            }
            Command::Fork { entry_id } => {
                let _turn = self.between_runs().await?;
                let text = self.sessions.fork(&EntryId::new(entry_id)).await?;
                return Ok(Some(json!({"text": text, "cancelled": false})));
            }
            Command::Clone => {
                let _turn = self.between_runs().await?;
                self.sessions.clone_current().await?;
                return Ok(Some(json!({"cancelled": false})));
            }
            Command::SetAutoCompaction { enabled } => self.session.set_auto_compaction(enabled),
            // Taken up before.
            Command::Prompt { .. }
            | Command::Abort
            | Command::Bash { .. }
            | Command::Compact { .. }
            | Command::ExportHtml { .. } => {}
        }
        Ok(None)
    }

    /// Waits until the last run is over for the agent, too; nothing begins before the guard is dropped.
    async fn between_runs(&self) -> Result<tokio::sync::MutexGuard<'_, ()>> {
        ensure!(!self.runs.is_on(), "the agent is busy: wait for agent_end, or send abort first");
        // Not waited for: whoever wants to end it must be heard.
        ensure!(
            !self.session.is_compacting(),
            "the session is being compacted: wait for compaction_end, or send abort"
        );
        Ok(self.runs.turn().await)
    }

    async fn set_model(&self, provider: &str, id: &str) -> Result<Value> {
        let model = self.models.find(provider, id)?;
        let data = super::facts::model(model.info(), self.models.as_ref());
        self.session.set_model(model).await?;
        Ok(data)
    }

    /// The next of the models that can be named without knowing them; null where there is no other.
    async fn cycle_model(&self) -> Result<Value> {
        let (now, all) = (self.session.model().info().full_name(), self.models.available());
        let at = all.iter().position(|model| model.full_name() == now);
        let next = at.map_or(0, |at| at + 1);
        let Some(next) = all.get(next % all.len().max(1)).filter(|next| next.full_name() != now) else {
            return Ok(Value::Null);
        };
        let model = self.set_model(&next.provider, &next.id).await?;
        let level = self.session.thinking_level().name();
        Ok(json!({"model": model, "thinkingLevel": level, "isScoped": false}))
    }

    async fn set_thinking_level(&self, level: ThinkingLevel) -> Result<()> {
        self.session.set_thinking_level(level).await?;
        self.output.line(&json!({"type": "thinking_level_changed", "level": level.name()})).await;
        Ok(())
    }

    async fn bash(
        &self,
        id: Option<&Value>,
        command: String,
        hidden: bool,
        stop: &CancellationToken,
    ) -> Result<Option<Value>> {
        let bash = self.shell.run(id, command, hidden, stop).await?;
        let data = shell::data(&bash);
        self.session
            .record_bash(bash)
            .await
            .context("the command ran, but its output is not in the session")?;
        Ok(Some(data))
    }
}

impl Desk {
    /// Prompts that come meanwhile wait for the end of it.
    async fn compact(&self, instructions: Option<String>, stop: &CancellationToken) -> Result<Option<Value>> {
        let _turn = self.between_runs().await?;
        let compact = self.session.compact(instructions);
        let compacted = ended_by(stop, || self.session.abort_compaction(), compact).await?;
        Ok(Some(serde_json::to_value(compacted)?))
    }

    /// Writes the conversation as a page, into the workspace where no other place is named.
    async fn export(&self, path: Option<&str>) -> Result<Option<Value>> {
        let header = self.sessions.header();
        let name = format!("capstan-session-{}.html", header.id);
        let path = self.home.workspace.join(path.unwrap_or(&name));
        let page = html::render(&header, &self.session.log().path(None)?);
        tokio::fs::write(&path, page)
            .await
            .with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(Some(json!({"path": path.to_string_lossy()})))
    }
}

impl From<Mode> for QueueMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::All => Self::All,
            Mode::OneAtATime => Self::OneAtATime,
        }
    }
}
