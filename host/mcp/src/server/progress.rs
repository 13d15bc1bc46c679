//! Partial results of a call, as progress notifications for a client that asked for them.
//!
//! The latest one counts: a tool that reports faster than the client reads overwrites what was not sent yet, so neither is
//! held up and nothing piles up.

use capstan_ports::ToolOutcome;
use capstan_ports::message::text_of;
use capstan_ports::tool::Progress;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Between two notifications of one call. A person does not read faster, and clients redraw for each.
const PAUSE: Duration = Duration::from_millis(50);

/// How long a finished call waits for its last notification to be on its way. A client that does not read must not hold the
/// result up, which could not be written either.
const LAST_MAY_TAKE: Duration = Duration::from_millis(500);

/// The latest report of a call.
#[derive(Default)]
pub(super) struct Slot {
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Default)]
struct State {
    /// Reports so far: the progress that only ever grows.
    n_reports: u32,
    waiting: Option<String>,
    is_closed: bool,
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        self.lock().is_closed = true;
        self.wake.notify_one();
    }

    /// The latest report that was not taken; waits for one. `None` after the end of the call.
    async fn next(&self) -> Option<(u32, String)> {
        loop {
            {
                let mut state = self.lock();
                if let Some(text) = state.waiting.take() {
                    return Some((state.n_reports, text));
                }
                if state.is_closed {
                    return None;
                }
            }
            self.wake.notified().await;
        }
    }

    fn is_closed(&self) -> bool {
        self.lock().is_closed
    }
}

impl Progress for Slot {
    fn report(&self, partial: ToolOutcome) {
        let mut state = self.lock();
        if state.is_closed {
            return;
        }
        state.n_reports = state.n_reports.saturating_add(1);
        state.waiting = Some(text_of(&partial.content));
        drop(state);
        self.wake.notify_one();
    }
}

/// Runs a call and notifies the client beside it. All notifications are sent when the result is there.
pub(super) async fn beside<R>(
    slot: &Arc<Slot>,
    token: ProgressToken,
    peer: &Peer<RoleServer>,
    running: impl Future<Output = R>,
) -> R {
    let sending = async {
        while let Some((n_reports, text)) = slot.next().await {
            let mut param = ProgressNotificationParam::new(token.clone(), n_reports.into());
            if !text.is_empty() {
                param = param.with_message(text);
            }
            if peer.notify_progress(param).await.is_err() {
                return;
            }
            if !slot.is_closed() {
                tokio::time::sleep(PAUSE).await;
            }
        }
    };
    tokio::pin!(sending, running);
    let mut is_sending = true;
    let result = loop {
        tokio::select! {
            result = &mut running => break result,
            () = &mut sending, if is_sending => is_sending = false,
        }
    };
    slot.close();
    if is_sending && tokio::time::timeout(LAST_MAY_TAKE, sending).await.is_err() {
        tracing::debug!("the client does not read; the last progress of a call is not sent");
    }
    result
}

#[cfg(test)]
#[path = "progress_tests.rs"]
mod tests;
