//! A [`RuntimeBundle`] of noting ports, for tests of whole turns.

use crate::recording_tests::*;
use crate::scripted_tests::{call, shorts};
use crate::{AgentConfig, AgentError, RuntimeBundle, TurnResult};
use capstan_ports::*;
use serde_json::json;
use std::sync::Arc;

/// A bundle of noting ports, and everything to look at.
pub(crate) struct Stage {
    pub(crate) notes: Arc<Notes>,
    pub(crate) chat: Arc<NotingChat>,
    pub(crate) store: Arc<NotingStore>,
    pub(crate) bundle: RuntimeBundle,
}

pub(crate) struct Parts {
    pub(crate) answers: Vec<Result<ModelResponse, ModelError>>,
    pub(crate) actions: Vec<CompressAction>,
    pub(crate) shape: Box<dyn FnOnce(&mut StageHook)>,
    pub(crate) settings: AgentConfig,
}

impl Default for Parts {
    fn default() -> Self {
        Self { answers: vec![], actions: vec![], shape: Box::new(|_| {}), settings: AgentConfig::default() }
    }
}

pub(crate) fn stage(parts: Parts) -> Stage {
    let notes = Arc::new(Notes::default());
    let chat = NotingChat::new(&notes, parts.answers);
    let store = NotingStore::new(&notes);
    let mut hook = StageHook::new("h", &notes);
    (parts.shape)(&mut hook);
    let tools = Arc::new(NotingTools(notes.clone()));
    let bundle = RuntimeBundle::from_ports(
        Arc::new(ChatAdapter(chat.clone())),
        tools.clone(),
        tools,
        store.clone(),
        Arc::new(NotingObserver(notes.clone())),
        ScriptedCompressor::new(&notes, parts.actions),
        Some(Arc::new(hook)),
        None,
        parts.settings,
    );
    assert!(notes.observers.set(bundle.config().observers.clone()).is_ok());
    Stage { notes, chat, store, bundle }
}

pub(crate) fn work(id: &str) -> ToolCall {
    call(id, "echo", json!({"n": 1}))
}

pub(crate) fn broken(id: &str) -> ToolCall {
    call(id, "echo", json!({"fail": true}))
}

impl Stage {
    pub(crate) async fn turn(&self) -> Result<TurnResult, AgentError> {
        self.bundle.run_turn(Message::user("hello"), "session_1").await
    }

    pub(crate) fn saved(&self) -> Vec<String> {
        shorts(&self.store.get("session_1").messages)
    }
}

pub(crate) fn count(lines: &[String], wanted: &str) -> usize {
    lines.iter().filter(|line| line.starts_with(wanted)).count()
}
