//! A question that old servers may never answer is answered for them.
//!
//! The newest revision of the protocol begins with a question that earlier ones do not know. Most servers answer that they do not
//! know it, and are then spoken to as before. Some say nothing at all; those are taken to have said so.

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use std::time::Duration;
use tokio::time::Instant;

/// A transport with an end to the patience for that question.
pub(crate) struct Probing<T> {
    inner: T,
    patience: Duration,
    /// The question that is open, and when it is given up.
    open: Option<(RequestId, Instant)>,
    /// The one that was given up. What still comes for it is dropped.
    given_up: Option<RequestId>,
}

impl<T> Probing<T> {
    pub(crate) fn new(inner: T, patience: Duration) -> Self {
        Self { inner, patience, open: None, given_up: None }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Probing<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &message
            && matches!(request.request, ClientRequest::DiscoverRequest(_))
        {
            self.open = Some((request.id.clone(), Instant::now() + self.patience));
        }
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let received = match &self.open {
                Some((_, until)) => tokio::time::timeout_at(*until, self.inner.receive()).await.ok(),
                None => Some(self.inner.receive().await),
            };
            let Some(received) = received else {
                let (id, _) = self.open.take()?;
                self.given_up = Some(id.clone());
                let silence = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "no answer", None);
                return Some(ServerJsonRpcMessage::error(silence, Some(id)));
            };
            let message = received?;
            let answered = match &message {
                JsonRpcMessage::Response(response) => Some(&response.id),
                JsonRpcMessage::Error(error) => error.id.as_ref(),
                JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
            };
            if answered.is_some() && answered == self.given_up.as_ref() {
                continue;
            }
            if answered.is_some() {
                // Nothing else has been asked before that question is answered.
                self.open = None;
            }
            return Some(message);
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
