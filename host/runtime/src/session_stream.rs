//! A turn as a stream of events.

use crate::error::AgentError;
use crate::session::ChatResponse;
use async_trait::async_trait;
use capstan_ports::{AgentEvent, EventSink};
use futures::future::BoxFuture;
use futures::{Stream, StreamExt};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// What happens in a turn, in order: text as it is written, calls and their results, and at last
/// [`AgentEvent::AgentEnd`]. Then [`TurnStream::response`] has what
/// [`submit_turn`](crate::AgentSession::submit_turn) would have answered.
pub struct TurnStream<'a> {
    turn: Option<BoxFuture<'a, Result<ChatResponse, AgentError>>>,
    /// Runs empty before the turn goes on, so what waits here is what one step of the turn brought.
    events: UnboundedReceiver<AgentEvent>,
    ended: Option<Result<ChatResponse, AgentError>>,
}

impl<'a> TurnStream<'a> {
    pub(crate) fn new(turn: impl FnOnce(Events) -> BoxFuture<'a, Result<ChatResponse, AgentError>>) -> Self {
        let (sender, events) = unbounded_channel();
        Self { turn: Some(turn(Events(sender))), events, ended: None }
    }

    /// Reads what is left of the stream, and gives the final answer.
    ///
    /// # Errors
    /// Those of [`submit_turn_until`](crate::AgentSession::submit_turn_until).
    pub async fn response(mut self) -> Result<ChatResponse, AgentError> {
        while self.next().await.is_some() {}
        self.ended.unwrap_or_else(|| Err(AgentError::Other("the turn did not end".to_owned())))
    }
}

impl Stream for TurnStream<'_> {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        if let Ok(event) = self.events.try_recv() {
            return Poll::Ready(Some(event));
        }
        if let Some(turn) = &mut self.turn
            && let Poll::Ready(ended) = turn.as_mut().poll(context)
        {
            self.ended = Some(ended);
            self.turn = None;
        }
        // Also arranges to be woken by what the turn sends later.
        self.events.poll_recv(context)
    }
}

impl fmt::Debug for TurnStream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnStream").field("ended", &self.ended.is_some()).finish_non_exhaustive()
    }
}

/// Hands events on to the stream.
pub(crate) struct Events(UnboundedSender<AgentEvent>);

#[async_trait]
impl EventSink for Events {
    async fn emit(&self, event: AgentEvent) {
        // The stream and the turn are dropped together, so somebody reads.
        drop(self.0.send(event));
    }
}
