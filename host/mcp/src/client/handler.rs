//! What a server may say to this client unasked: how far a call is, and that its tools changed. Nothing else is declared, so nothing
//! else is answered: no model calls on the server's behalf, no questions to the user, no list of folders.

use rmcp::model::{ClientConfig, Implementation, ProgressNotificationParam, ProgressToken, ProtocolVersion};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::{Mutex, Notify, mpsc};

/// Progress that a call has not looked at yet. More is dropped: it only says how far the call was.
const PENDING_REPORTS: usize = 16;

/// How far a call is, for those that are in progress.
pub(crate) type Reports = Arc<Mutex<HashMap<ProgressToken, mpsc::Sender<ProgressNotificationParam>>>>;

/// Takes what servers say unasked.
#[derive(Clone, Default)]
pub(crate) struct Handler {
    pub(crate) reports: Reports,
    pub(crate) tools_changed: Arc<Notify>,
}

impl Handler {
    /// A place for the reports of one call. The map is to be locked from before the call is sent, so that no report is too early.
    pub(crate) fn place()
    -> (mpsc::Sender<ProgressNotificationParam>, mpsc::Receiver<ProgressNotificationParam>) {
        mpsc::channel(PENDING_REPORTS)
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        info.client_info = Implementation::new("capstan", env!("CARGO_PKG_VERSION"));
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        info
    }

    async fn on_progress(
        &self,
        report: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        if let Some(place) = self.reports.lock().await.get(&report.progress_token) {
            // A full place has enough to say.
            drop(place.try_send(report));
        }
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }
}
