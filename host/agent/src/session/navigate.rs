//! Moving within the tree of a session.

use super::{AgentSession, branch_summary};
use crate::agent::ActiveRun;
use crate::error::AgentError;
use capstan_ports::entry::{BranchSummary, Entry, EntryKind, Label, MessageBody, MessageEntry};
use capstan_ports::{EntryId, Message, SessionError, SessionLifecycle, SessionLog};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What [`BranchSummary::from_id`] holds when the conversation came from before the first entry.
const ROOT: &str = "root";

/// How to move; see [`AgentSession::navigate`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NavigateOptions {
    /// Has the model summarize what is left behind, for the branch that is gone on with.
    pub summarize: bool,
    /// What the summary should look at besides.
    pub instructions: Option<String>,
    /// A bookmark: on the summary where there is one, else on the target.
    pub label: Option<String>,
}

/// What came of a move.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Navigated {
    /// The text of the target, to be changed and sent again, where the target was a message of the user or an extension.
    /// The session then stands before it.
    pub editor_text: Option<String>,
    /// The summary of what was left behind.
    pub summary_entry: Option<EntryId>,
}

impl AgentSession {
    /// Goes on from another entry of the session; `None` begins at the root again (001-069). What was said elsewhere stays
    /// in the session.
    ///
    /// # Errors
    /// [`AgentError::AlreadyRunning`] during a run (X8), [`AgentError::Closed`], [`AgentError::Session`] when there is no
    /// such entry; then nothing changes.
    pub async fn branch(&self, to: Option<&EntryId>) -> Result<(), AgentError> {
        {
            let _upkeep = self.announced().await?;
            let run = self.agent.claim()?;
            self.flush_waiting(&run).await?;
            let log = self.log();
            log.branch(to)?;
            self.follow(&run, log.as_ref())?;
            self.finish(run).await?;
        }
        self.tell(SessionLifecycle::Switched).await;
        Ok(())
    }

    /// Goes to an entry as a person does who picks it from the tree (001-157): to a message of the user or of an extension
    /// in order to say it differently, to anything else in order to go on after it. Going to where the session stands does
    /// nothing.
    ///
    /// With [`NavigateOptions::summarize`] the model is asked for a summary of what was said since the two ways parted, and
    /// that becomes the first entry of the new branch. Nothing is added where nothing was said.
    ///
    /// # Errors
    /// [`AgentError::AlreadyRunning`] during a run, [`AgentError::Closed`], [`AgentError::Session`] when there is no such
    /// entry or something could not be written, [`AgentError::BranchSummary`] when the model did not summarize and
    /// [`AgentError::Aborted`] when that was aborted. The session then stands where it stood.
    pub async fn navigate(
        &self,
        target: &EntryId,
        options: NavigateOptions,
    ) -> Result<Navigated, AgentError> {
        let navigated = {
            let _upkeep = self.announced().await?;
            let run = self.agent.claim()?;
            self.flush_waiting(&run).await?;
            let moved = self.go_to(&run, target, &options).await;
            self.finish(run).await?;
            moved?
        };
        match navigated {
            Some(navigated) => {
                self.tell(SessionLifecycle::Switched).await;
                Ok(navigated)
            }
            None => Ok(Navigated::default()),
        }
    }

    /// `None` when the session stands there already.
    async fn go_to(
        &self,
        run: &ActiveRun,
        target: &EntryId,
        options: &NavigateOptions,
    ) -> Result<Option<Navigated>, AgentError> {
        let log = self.log();
        let from = log.leaf();
        if from.as_ref() == Some(target) {
            return Ok(None);
        }
        let unknown = || SessionError::UnknownEntry { session: log.id().clone(), entry: target.clone() };
        let entry = log.entry(target).ok_or_else(unknown)?;
        let editor_text = said_by_hand(&entry);
        let to = match &editor_text {
            // The parent as it is written need not exist.
            Some(_) => entry.parent_id.clone().filter(|parent| log.entry(parent).is_some()),
            None => Some(target.clone()),
        };
        let summary = match options.summarize {
            true => self.summary_of(run, &left_behind(log.as_ref(), from.as_ref(), target)?, options).await?,
            false => None,
        };
        let summary = summary.map(|(summary, details)| BranchSummary {
            from_id: from.as_ref().map_or(ROOT, EntryId::as_str).to_owned(),
            summary,
            details: Some(details),
            from_hook: None,
        });
        log.branch(to.as_ref())?;
        match self.arrive(log.as_ref(), target, summary, options.label.clone()).await {
            Ok(summary_entry) => {
                self.follow(run, log.as_ref())?;
                Ok(Some(Navigated { editor_text, summary_entry }))
            }
            Err(error) => {
                // That place was there a moment ago, so this does not fail for another reason than the first failure.
                log.branch(from.as_ref())?;
                Err(error)
            }
        }
    }

    /// Writes what belongs to the new place.
    async fn arrive(
        &self,
        log: &dyn SessionLog,
        target: &EntryId,
        summary: Option<BranchSummary>,
        label: Option<String>,
    ) -> Result<Option<EntryId>, AgentError> {
        let summary_entry = match summary {
            Some(summary) => Some(log.append(EntryKind::BranchSummary(summary)).await?),
            None => None,
        };
        if label.is_some() {
            let target_id = summary_entry.clone().unwrap_or_else(|| target.clone());
            log.append(EntryKind::Label(Label { target_id, label })).await?;
        }
        log.commit().await?;
        Ok(summary_entry)
    }

    async fn summary_of(
        &self,
        run: &ActiveRun,
        left: &[Arc<Entry>],
        options: &NavigateOptions,
    ) -> Result<Option<(String, serde_json::Value)>, AgentError> {
        let config = self.agent.config();
        let instructions = options.instructions.as_deref();
        match branch_summary::summarize(&config, left, instructions, run.cancel()).await {
            // What is aborted is not gone on with, even if the answer came.
            _ if run.cancel().is_cancelled() => Err(AgentError::Aborted),
            Ok(summary) => Ok(summary),
            Err(error) => Err(AgentError::BranchSummary(error)),
        }
    }

    /// Lets the agent follow where the session stands now.
    fn follow(&self, run: &ActiveRun, log: &dyn SessionLog) -> Result<(), AgentError> {
        run.set_messages(log.transcript()?);
        // Model and thinking level stay as they are, and the branch may say others.
        self.shared.unsettled.store(true, Ordering::Relaxed);
        Ok(())
    }
}

/// The text of a message that somebody wrote in order to have it answered.
fn said_by_hand(entry: &Entry) -> Option<String> {
    match &entry.kind {
        EntryKind::Message(MessageEntry { message: MessageBody::Known(message) }) => {
            matches!(message.as_ref(), Message::User(_)).then(|| message.text())
        }
        EntryKind::CustomMessage(_) => entry.message().map(|message| message.text()),
        _ => None,
    }
}

/// The entries of the present branch after the place where the way to `target` parts from it, oldest first.
fn left_behind(
    log: &dyn SessionLog,
    from: Option<&EntryId>,
    target: &EntryId,
) -> Result<Vec<Arc<Entry>>, SessionError> {
    // Without a leaf the session stands before everything.
    let Some(from) = from else { return Ok(Vec::new()) };
    let kept = log.path(Some(target))?;
    let kept: HashSet<&EntryId> = kept.iter().map(|entry| &entry.id).collect();
    let mut left = log.path(Some(from))?;
    left.retain(|entry| !kept.contains(&entry.id));
    Ok(left)
}

#[cfg(test)]
#[path = "navigate_tests.rs"]
mod tests;
