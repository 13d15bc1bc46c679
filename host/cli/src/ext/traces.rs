//! What calls leave behind beside their answers: files, what they stored, lines that they logged, events.

use super::cases::inside;
use anyhow::{Context as _, Result};
use capstan_ports::extension::ExtensionId;
use capstan_ports::{StoragePort, TurnEvent, TurnEventSink};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tracing::dispatcher::{self, Dispatch};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::{Layer, registry};

/// What is there after a case.
#[derive(Debug, Default)]
pub(super) struct Traces {
    /// The folder that stood as the workspace.
    pub(super) workspace: PathBuf,
    /// The extension's own storage.
    pub(super) stored: BTreeMap<String, Vec<u8>>,
    /// What was logged, by the extension and about it.
    pub(super) logged: Vec<String>,
    /// Events of the extension's own: label and data.
    pub(super) emitted: Vec<(String, Value)>,
}

impl Traces {
    /// The text of a file of the workspace.
    pub(super) fn file(&self, name: &str) -> Result<String> {
        Ok(std::fs::read_to_string(self.workspace.join(inside(name)?))?)
    }

    /// Adds them to an expectation.
    pub(super) fn add_to(&self, expectation: &mut Value) {
        if !self.logged.is_empty() {
            expectation["logged"] = json!(self.logged);
        }
        if !self.emitted.is_empty() {
            let events = self.emitted.iter().map(|(label, data)| json!({"label": label, "data": data}));
            expectation["emitted"] = Value::Array(events.collect());
        }
        if !self.stored.is_empty() {
            let texts = self.stored.iter().map(|(key, bytes)| (key, String::from_utf8_lossy(bytes)));
            expectation["stored"] = texts.map(|(key, text)| (key.clone(), json!(text))).collect();
        }
    }

    /// Under which keys something is stored.
    pub(super) fn keys(&self) -> Vec<&str> {
        self.stored.keys().map(String::as_str).collect()
    }
}

/// Everything under every key of an extension.
pub(super) async fn stored(
    storage: &dyn StoragePort,
    owner: &ExtensionId,
) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut stored = BTreeMap::new();
    for key in storage.list_keys(owner, "").await? {
        if let Some(value) = storage.get(owner, &key).await? {
            stored.insert(key, value);
        }
    }
    Ok(stored)
}

/// Writes what a case says is stored already: texts as they are, everything else as JSON.
pub(super) async fn store(
    storage: &dyn StoragePort,
    owner: &ExtensionId,
    values: &BTreeMap<String, Value>,
) -> Result<()> {
    for (key, value) in values {
        let text = match value {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        let kept = storage.set(owner, key, text.as_bytes(), u64::MAX);
        kept.await.with_context(|| format!("{key:?} cannot be stored"))?;
    }
    Ok(())
}

/// Listens to the log and to events. What it hears is also told to the log as it is.
#[derive(Debug, Clone, Default)]
pub(super) struct Ear {
    heard: Arc<Mutex<Heard>>,
}

/// What was heard.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Lines of the log.
    pub(super) logged: Vec<String>,
    /// Events.
    pub(super) emitted: Vec<(String, Value)>,
}

impl Ear {
    /// A log that it hears. It is one for everything that is polled under it.
    pub(super) fn log(&self) -> Dispatch {
        let others = dispatcher::get_default(Dispatch::clone);
        Dispatch::new(registry().with(Listening { ear: self.clone(), others }))
    }

    /// What it heard since it was asked last.
    pub(super) fn take(&self) -> Heard {
        std::mem::take(&mut *self.heard.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl TurnEventSink for Ear {
    fn tell(&self, event: TurnEvent) {
        if let TurnEvent::Custom { label, data, .. } = event {
            self.heard.lock().unwrap_or_else(PoisonError::into_inner).emitted.push((label, data));
        }
    }
}

struct Listening {
    ear: Ear,
    others: Dispatch,
}

impl<S: Subscriber> Layer<S> for Listening {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let about = event.metadata();
        let is_own = about.target() == "capstan::extension";
        let is_warning = about.target().starts_with("capstan") && *about.level() <= Level::WARN;
        if is_own || is_warning {
            let mut line = Line::default();
            event.record(&mut line);
            self.ear.heard.lock().unwrap_or_else(PoisonError::into_inner).logged.push(line.text);
        }
        if self.others.enabled(about) {
            self.others.event(event);
        }
    }
}

/// The message of an event.
#[derive(Default)]
struct Line {
    text: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.text = format!("{value:?}");
        }
    }
}
