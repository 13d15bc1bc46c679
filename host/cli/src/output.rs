//! Lines of JSON for programs, on stdout: through one writer, so that no line is ever broken by another.
//!
//! The writer is a thread of its own. A reader that is slow holds up who writes events, once enough is waiting; one that is
//! gone holds up nobody.

use crate::screen;
use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::json;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// Bytes that may wait to be written before who writes has to wait. A few long events, and nothing against a session in memory.
const MAX_WAITING_BYTES: usize = 1 << 20;

/// Bytes that are put together for one write, where lines come faster than they are written.
const BATCH_BYTES: usize = 64 << 10;

/// Where lines go. Clones write to the same place.
#[derive(Clone)]
pub(crate) struct Output {
    items: mpsc::UnboundedSender<Item>,
    room: Arc<Semaphore>,
    closed: CancellationToken,
}

enum Item {
    Line {
        text: String,
        /// Given back when the line is written.
        _room: Option<OwnedSemaphorePermit>,
    },
    /// Answered when everything before it is written.
    Mark(oneshot::Sender<()>),
}

impl Output {
    /// Takes stdout.
    ///
    /// # Errors
    /// When the system has no thread for the writer.
    pub(crate) fn stdout() -> Result<Self> {
        Self::to(screen::data)
    }

    /// Writes with `write`, which answers false once nobody reads any more.
    pub(crate) fn to(mut write: impl FnMut(&str) -> std::io::Result<bool> + Send + 'static) -> Result<Self> {
        let (items, mut waiting) = mpsc::unbounded_channel();
        let closed = CancellationToken::new();
        let ended = closed.clone();
        std::thread::Builder::new()
            .name("capstan-output".to_owned())
            .spawn(move || {
                let _ended = ended.drop_guard();
                while let Some(batch) = next_batch(&mut waiting) {
                    match write(&batch.text) {
                        Ok(true) => {}
                        Ok(false) => return,
                        Err(reason) => {
                            tracing::warn!(%reason, "stdout cannot be written");
                            return;
                        }
                    }
                    // Nobody needs to wait for a mark.
                    for mark in batch.marks {
                        mark.send(()).ok();
                    }
                }
            })
            .context("stdout cannot be written")?;
        Ok(Self { items, room: Arc::new(Semaphore::new(MAX_WAITING_BYTES)), closed })
    }

    /// Writes one line, and waits while too much is waiting already.
    pub(crate) async fn line(&self, value: &impl Serialize) {
        let text = text_of(value);
        let bytes = u32::try_from(text.len().min(MAX_WAITING_BYTES)).unwrap_or(u32::MAX);
        let room = tokio::select! {
            room = self.room.clone().acquire_many_owned(bytes) => room.ok(),
            () = self.closed.cancelled() => return,
        };
        self.send(Item::Line { text, _room: room });
    }

    /// Writes one line without waiting, for the few that come from where nothing can wait.
    pub(crate) fn line_now(&self, value: &impl Serialize) {
        self.send(Item::Line { text: text_of(value), _room: None });
    }

    /// Writes one line where there is room, and leaves it out where there is none: for what the next one replaces.
    pub(crate) fn line_if_room(&self, value: &impl Serialize) {
        let text = text_of(value);
        let bytes = u32::try_from(text.len().min(MAX_WAITING_BYTES)).unwrap_or(u32::MAX);
        if let Ok(room) = self.room.clone().try_acquire_many_owned(bytes) {
            self.send(Item::Line { text, _room: Some(room) });
        }
    }

    /// Ends when nobody reads any more.
    pub(crate) async fn closed(&self) {
        self.closed.cancelled().await;
    }

    /// Waits until everything is written, at most `limit`: a reader that does not read must not hold up the end.
    pub(crate) async fn flush(&self, limit: Duration) {
        let (mark, written) = oneshot::channel();
        self.send(Item::Mark(mark));
        drop(tokio::time::timeout(limit, written).await);
    }

    /// After the end of the writer a line is for nobody.
    fn send(&self, item: Item) {
        drop(self.items.send(item));
    }
}

/// What goes out in one write.
#[derive(Default)]
struct Batch {
    text: String,
    rooms: Vec<OwnedSemaphorePermit>,
    marks: Vec<oneshot::Sender<()>>,
}

/// What waits, as far as it fits one write; waits for the first. `None` when nothing can come any more.
fn next_batch(waiting: &mut mpsc::UnboundedReceiver<Item>) -> Option<Batch> {
    let mut batch = Batch::default();
    let mut next = Some(waiting.blocking_recv()?);
    while let Some(item) = next {
        match item {
            Item::Line { text, _room: room } => {
                batch.text.push_str(&text);
                batch.text.push('\n');
                batch.rooms.extend(room);
            }
            Item::Mark(mark) => batch.marks.push(mark),
        }
        next = if batch.text.len() < BATCH_BYTES { waiting.try_recv().ok() } else { None };
    }
    Some(batch)
}

fn text_of(value: &impl Serialize) -> String {
    // A line end within a text is escaped in JSON, so the only one on a line is its own.
    let text = serde_json::to_string(value)
        .unwrap_or_else(|reason| json!({"type": "error", "message": reason.to_string()}).to_string());
    // Stdout may be a terminal.
    match screen::json_visible(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(shown) => shown,
    }
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
