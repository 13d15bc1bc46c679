//! One call of a tool: sent, followed, given up in time.

use super::connection::{Connection, brief, unreachable};
use super::handler::Handler;
use super::outcome::outcome;
use capstan_ports::tool::{Progress, ToolContext};
use capstan_ports::{ToolError, ToolOutcome};
use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ProgressNotificationParam, ServerResult,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, ServiceError};
use serde_json::{Map, Value};
use std::time::Duration;
use tokio::sync::mpsc;

/// How long it may take to tell a server that a call is given up. One that reads nothing any more is not waited for.
const MAY_TAKE_TO_TELL: Duration = Duration::from_millis(200);

/// How a call failed that reached its server, or should have.
pub(crate) enum CallFailure {
    /// With an error for the model. The connection goes on.
    Told(ToolError),
    /// The connection ended under it.
    Lost,
}

/// Calls a tool by the server's own name for it.
pub(crate) async fn call(
    connection: &Connection,
    tool: &str,
    arguments: Map<String, Value>,
    timeout: Duration,
    context: &ToolContext,
) -> Result<ToolOutcome, CallFailure> {
    let mut params = CallToolRequestParams::new(tool.to_owned());
    params.arguments = Some(arguments);
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let (place, mut reports) = Handler::place();
    let mut places = connection.handler().reports.lock().await;
    let sent = connection.peer().send_cancellable_request(request, PeerRequestOptions::no_options()).await;
    let mut handle = sent.map_err(failure)?;
    places.insert(handle.progress_token.clone(), place);
    drop(places);
    let token = handle.progress_token.clone();
    let answered = tokio::select! {
        answered = answer(&mut handle, &mut reports, context.progress.as_ref()) => answered.map_err(failure),
        () = context.cancel.cancelled() => {
            give_up(handle, "the user stopped it").await;
            Err(CallFailure::Told(ToolError::Aborted))
        }
        () = tokio::time::sleep(timeout) => {
            give_up(handle, "it took too long").await;
            let text = format!("{tool} did not answer within {} s", timeout.as_secs_f64());
            Err(CallFailure::Told(ToolError::TimedOut(text)))
        }
    };
    connection.handler().reports.lock().await.remove(&token);
    match answered? {
        ServerResult::CallToolResult(result) => Ok(outcome(result)),
        // Some servers answer that with an empty object.
        ServerResult::EmptyResult(_) => Ok(outcome(Default::default())),
        ServerResult::InputRequiredResult(_) => {
            Err(told(format!("{tool} asks for more input from the user, which Capstan does not pass on")))
        }
        ServerResult::CreateTaskResult(_) => {
            Err(told(format!("{tool} began a task to ask about later, which Capstan does not do")))
        }
        _ => Err(told(format!("the answer of {tool} is not one of the protocol"))),
    }
}

/// Waits for the answer, and passes on how far the call is.
async fn answer(
    handle: &mut RequestHandle<RoleClient>,
    reports: &mut mpsc::Receiver<ProgressNotificationParam>,
    progress: &dyn Progress,
) -> Result<ServerResult, ServiceError> {
    let mut furthest = f64::NEG_INFINITY;
    let mut tell = |report: ProgressNotificationParam| {
        // They are handled side by side, so one may overtake another.
        if report.progress > furthest {
            furthest = report.progress;
            progress.report(ToolOutcome::text(describe(&report)));
        }
    };
    loop {
        tokio::select! {
            biased;
            Some(report) = reports.recv() => tell(report),
            answered = &mut handle.rx => {
                return answered.unwrap_or(Err(ServiceError::TransportClosed));
            }
        }
    }
}

fn describe(report: &ProgressNotificationParam) -> String {
    let done = match report.total {
        Some(total) => format!("{} of {total}", report.progress),
        None => report.progress.to_string(),
    };
    match &report.message {
        Some(message) => format!("{done}: {message}"),
        None => done,
    }
}

async fn give_up(handle: RequestHandle<RoleClient>, reason: &str) {
    let told = tokio::time::timeout(MAY_TAKE_TO_TELL, handle.cancel(Some(reason.to_owned()))).await;
    if !matches!(told, Ok(Ok(()))) {
        tracing::debug!("a server was not told that a call is given up");
    }
}

fn told(text: String) -> CallFailure {
    CallFailure::Told(ToolError::failed(text))
}

fn failure(error: ServiceError) -> CallFailure {
    match error {
        ServiceError::TransportClosed | ServiceError::Cancelled { .. } => CallFailure::Lost,
        ServiceError::McpError(error) => {
            told(format!("the server refuses the call: {}", brief(&error.message)))
        }
        ServiceError::TransportSend(error) => {
            let message = format!("the server cannot be reached: {}", unreachable(&error.error.to_string()));
            CallFailure::Told(ToolError::Failed { message, source: Some(error.error) })
        }
        other => {
            let message = format!("the call failed: {}", brief(&other.to_string()));
            CallFailure::Told(ToolError::Failed { message, source: Some(Box::new(other)) })
        }
    }
}
