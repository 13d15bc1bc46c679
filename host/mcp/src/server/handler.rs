//! What is answered to which request of a client.

// Logging is still part of all revisions with an `initialize`, where clients show it to their user.
#![allow(deprecated, reason = "the newest revision drops logging; the older ones that clients speak have it")]

use super::progress::{Slot, beside};
use super::{Called, ClientCall, OfferedTool, ToolHost, answer, offer};
use capstan_ports::tool::{NoProgress, Progress};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, Implementation,
    ListToolsResult, LoggingLevel, LoggingMessageNotificationParam, PaginatedRequestParams, ProtocolVersion,
    ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

/// For the client's model, where the client shows it.
const INSTRUCTIONS: &str = "Tools of Capstan extensions. Each runs in a sandbox with the grants that the user gave it; a \
                            result that says something was denied names what the user can do, and you cannot do it for them.";

/// What is answered.
const METHODS: [&str; 7] = [
    "initialize",
    "logging/setLevel",
    "ping",
    "server/discover",
    "subscriptions/listen",
    "tools/call",
    "tools/list",
];

/// One client's conversation.
pub(super) struct Handler {
    host: Arc<dyn ToolHost>,
    /// Fires when the client is gone, for calls that still run.
    gone: CancellationToken,
    /// From which level on the client wants to be told. Denials are warnings.
    level: Mutex<LoggingLevel>,
    watching: AtomicBool,
    /// Ends what runs beside with the conversation.
    over: CancellationToken,
    _end: DropGuard,
}

impl Handler {
    /// Serves calls until `gone` fires.
    pub(super) fn new(host: Arc<dyn ToolHost>, gone: CancellationToken) -> Self {
        let over = gone.child_token();
        let end = over.clone().drop_guard();
        let level = Mutex::new(LoggingLevel::Warning);
        Self { host, gone, level, watching: AtomicBool::new(false), over, _end: end }
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<Called> {
        let cancel = self.gone.child_token();
        // Also when this future is dropped: the connection of a request without a session was closed.
        let _stop = cancel.clone().drop_guard();
        let slot = Arc::new(Slot::default());
        let token = context.meta.get_progress_token();
        let progress: Arc<dyn Progress> = if token.is_some() { slot.clone() } else { Arc::new(NoProgress) };
        let running = self.host.call(ClientCall {
            tool: request.name.into_owned(),
            arguments: request.arguments.unwrap_or_default(),
            progress,
            cancel: cancel.clone(),
        });
        let cancelled = async {
            tokio::pin!(running);
            tokio::select! {
                called = &mut running => called,
                () = context.ct.cancelled() => {
                    cancel.cancel();
                    running.await
                }
            }
        };
        match token {
            Some(token) => beside(&slot, token, &context.peer, cancelled).await,
            None => cancelled.await,
        }
    }

    /// From which level on this client wants to be told while this request is on. The newest revision has it in each request,
    /// and one without it wants nothing.
    fn wanted(&self, context: &RequestContext<RoleServer>) -> Option<LoggingLevel> {
        let is_newest =
            context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        match is_newest {
            true => context.meta.log_level(),
            false => Some(*self.level.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    async fn tell_of_denials(&self, context: &RequestContext<RoleServer>, denied: Vec<String>) {
        if self.wanted(context).is_none_or(|level| rank(level) > rank(LoggingLevel::Warning)) {
            return;
        }
        for line in denied {
            let param = LoggingMessageNotificationParam::new(LoggingLevel::Warning, line.into());
            // Whoever is gone reads no log.
            drop(context.peer.notify_logging_message(param.with_logger("capstan")).await);
        }
    }
}

/// The level as a number that grows with its weight.
fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

/// What is on offer, as it changes.
struct Offers {
    host: Arc<dyn ToolHost>,
    changes: watch::Receiver<u64>,
    known: Vec<OfferedTool>,
}

impl Offers {
    fn of(host: Arc<dyn ToolHost>) -> Self {
        let (changes, known) = (host.changes(), host.tools());
        Self { host, changes, known }
    }

    /// Waits until something else is on offer than before. False when nothing will be any more.
    async fn change(&mut self) -> bool {
        while self.changes.changed().await.is_ok() {
            let now = self.host.tools();
            if now != self.known {
                self.known = now;
                return true;
            }
        }
        false
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_logging().enable_tools().enable_tool_list_changed().build();
        let mut info = ServerConfig::new(capabilities).with_instructions(INSTRUCTIONS);
        info.server_info = Implementation::new("capstan", env!("CARGO_PKG_VERSION"));
        info.server_info.title = Some("Capstan".to_owned());
        info
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.host.tools();
        Ok(ListToolsResult::with_all_items(tools.iter().map(offer::tool).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let named = |offered: &OfferedTool| offered.definition.name == name;
        self.host.tools().iter().find(|offered| named(offered)).map(offer::tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.clone();
        let Some(Called { outcome, denied }) = self.call(request, &context).await else {
            return Err(ErrorData::invalid_params(format!("Unknown tool: {name}"), None));
        };
        self.tell_of_denials(&context, denied).await;
        Ok(answer::result(outcome).into())
    }

    /// Where a request ends up whose method is unknown, and one whose parameters are not those of its method.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        Err(if METHODS.contains(&method.as_str()) {
            ErrorData::invalid_params(format!("the parameters of {method} do not fit"), None)
        } else {
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)
        })
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = request.level;
        Ok(())
    }

    /// From here on the client is told of other tools, once however often it says this.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if self.watching.swap(true, Ordering::Relaxed) {
            return;
        }
        let (mut offers, over, peer) = (Offers::of(self.host.clone()), self.over.clone(), context.peer);
        tokio::spawn(async move {
            let telling =
                async { while offers.change().await && peer.notify_tool_list_changed().await.is_ok() {} };
            tokio::select! {
                () = telling => {}
                () = over.cancelled() => {}
            }
        });
    }

    /// The newest revision's way to be told.
    fn accepted_subscription_filter(&self, _requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let (mut offers, sink) = (Offers::of(self.host.clone()), context.sink().clone());
        let telling =
            async { while offers.change().await && sink.notify_tool_list_changed().await.is_ok() {} };
        tokio::select! {
            () = telling => {}
            () = context.cancelled() => {}
            () = self.gone.cancelled() => {}
        }
        Ok(())
    }
}
