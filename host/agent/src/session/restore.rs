//! With what a session goes on: the model and thinking level that it was last continued with, as far as they still exist.

use super::AgentSession;
use crate::agent::ActiveRun;
use crate::config::{AgentLoopConfig, Chosen};
use crate::error::AgentError;
use capstan_ports::SessionContext;
use capstan_ports::entry::{EntryKind, ModelChange, ThinkingLevelChange};
use capstan_ports::{ModelInfo, ThinkingLevel};
use std::fmt;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

/// What could not be taken up as the session says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreNotice {
    /// The session's model is not to be had, so another one answers.
    ModelUnavailable {
        /// The session's model, as `provider/model`.
        wanted: String,
        /// The one that answers, as `provider/model`.
        used: String,
        /// Why.
        reason: String,
    },
}

impl fmt::Display for RestoreNotice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ModelUnavailable { wanted, used, reason } => write!(
                formatter,
                "the session was continued with {wanted}, which is not available ({reason}); {used} answers now"
            ),
        }
    }
}

/// Puts what the session says into the configuration, where nothing else was chosen.
pub(super) fn take_up(
    config: &mut AgentLoopConfig,
    context: &SessionContext,
    chosen: Chosen,
) -> Vec<RestoreNotice> {
    let mut notices = Vec::new();
    if let Some(level) = context.thinking.filter(|_| !chosen.thinking) {
        config.thinking = level;
    }
    let wanted =
        context.model.as_ref().filter(|model| !chosen.model && !is_model(model, config.model.info()));
    if let Some(wanted) = wanted {
        let found = match &config.models {
            Some(models) => {
                models.find(&wanted.provider, &wanted.model_id).map_err(|error| error.to_string())
            }
            None => Err("this program knows one model only".to_owned()),
        };
        match found {
            Ok(model) => config.model = model,
            Err(reason) => notices.push(RestoreNotice::ModelUnavailable {
                wanted: format!("{}/{}", wanted.provider, wanted.model_id),
                used: config.model.info().full_name(),
                reason,
            }),
        }
    }
    notices
}

fn is_model(change: &ModelChange, info: &ModelInfo) -> bool {
    change.provider == info.provider && change.model_id == info.id
}

impl AgentSession {
    /// What the user should know of how the present session was taken up.
    pub fn notices(&self) -> Vec<RestoreNotice> {
        self.shared.notices.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records model and thinking level where the present branch says something else, once after each opening, switch and
    /// move. A new session gets no entry for its model, because each answer names its own, and none for a level that is off.
    pub(super) async fn record_settings(&self, _idle: &ActiveRun) -> Result<(), AgentError> {
        if !self.shared.unsettled.load(Ordering::Relaxed) {
            return Ok(());
        }
        let said = self.log().context()?;
        let config = self.agent.config();
        let info = config.model.info();
        if said.model.is_some_and(|model| !is_model(&model, info)) {
            let change = ModelChange { provider: info.provider.clone(), model_id: info.id.clone() };
            self.record(EntryKind::ModelChange(change)).await?;
        }
        if said.thinking.unwrap_or(ThinkingLevel::Off) != config.thinking {
            let change = ThinkingLevelChange { thinking_level: config.thinking.name().to_owned() };
            self.record(EntryKind::ThinkingLevelChange(change)).await?;
        }
        self.shared.unsettled.store(false, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
#[path = "restore_tests.rs"]
mod tests;
