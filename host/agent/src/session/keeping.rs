//! What is recorded in a session besides the conversation: settings, shell commands, names, records of extensions.

use super::AgentSession;
use crate::error::AgentError;
use capstan_ports::entry::{
    BashExecution, Custom, EntryKind, Label, MessageBody, MessageEntry, ModelChange, SessionInfo,
    ThinkingLevelChange,
};
use capstan_ports::{EntryId, Model, ThinkingLevel};
use serde_json::Value;
use std::sync::Arc;

impl AgentSession {
    /// Who answers from the next run on.
    pub fn model(&self) -> Arc<dyn Model> {
        self.agent.config().model
    }

    /// Lets another model answer from the next run on, and records it (001-067); during a run, when that is over.
    ///
    /// # Errors
    /// [`AgentError::Session`] when it cannot be recorded, [`AgentError::Closed`]; then nothing changes.
    pub async fn set_model(&self, model: Arc<dyn Model>) -> Result<(), AgentError> {
        let info = model.info();
        let change = ModelChange { provider: info.provider.clone(), model_id: info.id.clone() };
        self.record_between_runs(EntryKind::ModelChange(change)).await?;
        self.agent.configure(|config| config.model = model);
        Ok(())
    }

    /// How much the model thinks from the next run on.
    pub fn thinking_level(&self) -> ThinkingLevel {
        self.agent.config().thinking
    }

    /// Changes how much the model thinks from the next run on, and records it (001-067); during a run, when that is over.
    ///
    /// # Errors
    /// As [`AgentSession::set_model`].
    pub async fn set_thinking_level(&self, level: ThinkingLevel) -> Result<(), AgentError> {
        let change = ThinkingLevelChange { thinking_level: level.name().to_owned() };
        self.record_between_runs(EntryKind::ThinkingLevelChange(change)).await?;
        self.agent.configure(|config| config.thinking = level);
        Ok(())
    }

    /// Records a shell command that the user ran. The model reads it with the next prompt, unless it is excluded. During a
    /// run it is kept back until the run is over: it must not come between a call and its result.
    ///
    /// # Errors
    /// [`AgentError::Session`] when it cannot be recorded, [`AgentError::Closed`].
    pub async fn record_bash(&self, bash: BashExecution) -> Result<(), AgentError> {
        let message = MessageBody::Bash(bash);
        self.record_between_runs(EntryKind::Message(MessageEntry { message })).await
    }

    /// Keeps a private record of an extension in the session. No model ever sees it (001-071).
    ///
    /// # Errors
    /// [`AgentError::Session`] when it cannot be recorded.
    pub async fn append_custom_entry(
        &self,
        custom_type: impl Into<String>,
        data: Option<Value>,
    ) -> Result<EntryId, AgentError> {
        self.record(EntryKind::Custom(Custom { custom_type: custom_type.into(), data })).await
    }

    /// The private records of this type on the branch, oldest first.
    ///
    /// # Errors
    /// [`AgentError::Session`] when the entries cannot be read.
    pub fn custom_entries(&self, custom_type: &str) -> Result<Vec<Value>, AgentError> {
        let path = self.log().path(None)?;
        let of_type = path.iter().filter_map(|entry| match &entry.kind {
            EntryKind::Custom(custom) if custom.custom_type == custom_type => custom.data.clone(),
            _ => None,
        });
        Ok(of_type.collect())
    }

    /// Sets, replaces or removes the bookmark on an entry.
    ///
    /// # Errors
    /// [`AgentError::Session`] when there is no such entry or it cannot be recorded.
    pub async fn set_label(&self, target: EntryId, label: Option<String>) -> Result<EntryId, AgentError> {
        self.record(EntryKind::Label(Label { target_id: target, label })).await
    }

    /// Names the session, or takes its name away.
    ///
    /// # Errors
    /// [`AgentError::Session`] when it cannot be recorded.
    pub async fn set_name(&self, name: Option<String>) -> Result<(), AgentError> {
        self.record(EntryKind::SessionInfo(SessionInfo { name })).await.map(drop)
    }

    /// What the user calls the session.
    pub fn name(&self) -> Option<String> {
        self.log().entries().iter().rev().find_map(|entry| match &entry.kind {
            EntryKind::SessionInfo(info) => Some(info.name.clone()),
            _ => None,
        })?
    }

    /// Adds an entry that is no part of the conversation, and makes it durable.
    pub(super) async fn record(&self, kind: EntryKind) -> Result<EntryId, AgentError> {
        let closed = self.shared.closed.read().await;
        if *closed {
            return Err(AgentError::Closed);
        }
        let log = self.log();
        let id = log.append(kind).await?;
        log.commit().await?;
        Ok(id)
    }
}
