//! Bodies, both ways: counted against what the call may send and receive, stopped at the deadline, searched.

use super::Share;
use super::audit::Audit;
use super::fault::Fault;
use super::redact::Redactor;
use super::secrets::PlaceholderSearch;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Sleep, sleep, sleep_until};
use tokio_util::task::AbortOnDropHandle;
use wasmtime_wasi_http::{Error, WasiBody};

/// So much of a request's body is read and searched before anything is sent. A longer one is searched while it is sent, and
/// the request is cut off where something is found.
const SEARCHED_AHEAD_BYTES: usize = 1 << 20;

/// Where a body leaves word of why it ended; the HTTP library only says that it did.
#[derive(Clone, Default)]
pub(crate) struct Faults {
    first: Arc<Mutex<Option<Fault>>>,
}

impl Faults {
    pub(crate) fn take(&self) -> Option<Fault> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn leave(&self, fault: Fault) {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(fault);
    }
}

/// The body of a request.
pub(crate) struct Upload {
    body: WasiBody,
    /// Read already and not yet sent.
    ahead: VecDeque<Bytes>,
    is_read: bool,
    search: Option<PlaceholderSearch>,
    share: Arc<Share>,
    sent: Arc<AtomicU64>,
    faults: Faults,
    limit: u64,
}

impl Upload {
    pub(crate) fn new(
        body: WasiBody,
        share: Arc<Share>,
        sent: Arc<AtomicU64>,
        faults: Faults,
        limit: u64,
    ) -> Self {
        let is_read = body.is_end_stream();
        Self { body, ahead: VecDeque::new(), is_read, search: None, share, sent, faults, limit }
    }

    /// Searches for placeholders, which have no place in a body: all of a usual body before the first byte is sent.
    pub(crate) async fn search_ahead(&mut self) -> Result<(), Fault> {
        self.search = Some(PlaceholderSearch::default());
        let mut bytes = 0;
        while !self.is_read && bytes < SEARCHED_AHEAD_BYTES {
            match self.body.frame().await {
                Some(frame) => {
                    let data = self.admit(frame)?;
                    bytes += data.len();
                    self.ahead.push_back(data);
                }
                None => self.is_read = true,
            }
        }
        Ok(())
    }

    fn admit(&mut self, frame: Result<Frame<Bytes>, Error>) -> Result<Bytes, Fault> {
        let data = match frame.map_err(Fault::BodyGivenUp)?.into_data() {
            Ok(data) => data,
            Err(_trailers) => return Err(Fault::Trailers),
        };
        if self.search.as_mut().is_some_and(|search| search.finds_in(&data)) {
            return Err(Fault::PlaceholderPlace { place: "the request's body" });
        }
        if !take(&self.share.to_send, data.len()) {
            return Err(Fault::SentTooMuch { limit: self.limit });
        }
        self.sent.fetch_add(data.len() as u64, Ordering::Relaxed);
        Ok(data)
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if let Some(data) = self.ahead.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        if self.is_read {
            return Poll::Ready(None);
        }
        match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(None) => {
                self.is_read = true;
                Poll::Ready(None)
            }
            Poll::Ready(Some(frame)) => {
                Poll::Ready(Some(self.admit(frame).map(Frame::data).map_err(|fault| {
                    let error = fault.to_wasi();
                    self.faults.leave(fault);
                    error
                })))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.is_read && self.ahead.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        let ahead: usize = self.ahead.iter().map(Bytes::len).sum();
        match (self.is_read, ahead) {
            (true, ahead) => SizeHint::with_exact(ahead as u64),
            (false, 0) => self.body.size_hint(),
            (false, _) => SizeHint::default(),
        }
    }
}

/// The body of an answer. Holds the connection, which ends with it, and the call's slot.
pub(crate) struct Answer {
    incoming: Incoming,
    redactor: Option<Redactor>,
    deadline: Pin<Box<Sleep>>,
    /// How long the guest waits between two pieces, and until when.
    pause: Option<(Duration, Pin<Box<Sleep>>)>,
    share: Arc<Share>,
    /// Trailers that follow what the redactor had held back.
    trailers: Option<Frame<Bytes>>,
    is_over: bool,
    audit: Option<Audit>,
    held: Option<(AbortOnDropHandle<()>, OwnedSemaphorePermit)>,
}

impl Answer {
    pub(crate) fn new(
        incoming: Incoming,
        redactor: Option<Redactor>,
        deadline: Instant,
        pause: Option<Duration>,
        share: Arc<Share>,
        held: (AbortOnDropHandle<()>, OwnedSemaphorePermit),
    ) -> Self {
        Self {
            incoming,
            redactor,
            deadline: Box::pin(sleep_until(deadline)),
            pause: pause.map(|pause| (pause, Box::pin(sleep(pause)))),
            share,
            trailers: None,
            is_over: false,
            audit: None,
            held: Some(held),
        }
    }

    /// The line in the log that is written when the answer is over.
    pub(crate) fn keep(&mut self, audit: Audit) {
        self.audit = Some(audit);
    }

    fn fail(&mut self, fault: Fault) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let error = match &mut self.audit {
            Some(audit) => audit.fail(fault),
            None => fault.to_wasi(),
        };
        self.end();
        Poll::Ready(Some(Err(error)))
    }

    fn end(&mut self) {
        self.is_over = true;
        self.audit = None;
        self.held = None;
    }

    /// What the redactor had held back, once nothing can follow it.
    fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        if let Some(redactor) = &mut self.redactor {
            redactor.finish(&mut rest);
        }
        rest
    }

    /// Data that goes on to the guest; empty where all of it is held back for now.
    fn receive(&mut self, data: Bytes) -> Result<Bytes, Fault> {
        if !take(&self.share.to_receive, data.len()) {
            return Err(Fault::ReceivedTooMuch { announced: None });
        }
        if let Some(audit) = &mut self.audit {
            audit.receive(data.len());
        }
        Ok(match &mut self.redactor {
            None => data,
            Some(redactor) => {
                let mut clean = Vec::with_capacity(data.len());
                redactor.push(&data, &mut clean);
                clean.into()
            }
        })
    }

    fn last(&mut self, frame: Frame<Bytes>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let Ok(mut trailers) = frame.into_trailers() else {
            self.end();
            return Poll::Ready(None);
        };
        if let Some(redactor) = &self.redactor
            && let Err(fault) = redactor.hide_in(&mut trailers)
        {
            return self.fail(fault);
        }
        let (rest, trailers) = (self.rest(), Frame::trailers(trailers));
        self.end();
        if rest.is_empty() {
            return Poll::Ready(Some(Ok(trailers)));
        }
        self.trailers = Some(trailers);
        Poll::Ready(Some(Ok(Frame::data(rest.into()))))
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if let Some(trailers) = self.trailers.take() {
            return Poll::Ready(Some(Ok(trailers)));
        }
        if self.is_over {
            return Poll::Ready(None);
        }
        // Looked at first: a server that always has another byte must not get past it.
        if self.deadline.as_mut().poll(cx).is_ready() {
            return self.fail(Fault::Timeout);
        }
        loop {
            match Pin::new(&mut self.incoming).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    if let Some((pause, until)) = &mut self.pause {
                        until.as_mut().reset(Instant::now() + *pause);
                    }
                    match frame.into_data().map(|data| self.receive(data)) {
                        Ok(Ok(data)) if data.is_empty() => {}
                        Ok(Ok(data)) => return Poll::Ready(Some(Ok(Frame::data(data)))),
                        Ok(Err(fault)) => return self.fail(fault),
                        Err(trailers) => return self.last(trailers),
                    }
                }
                Poll::Ready(Some(Err(source))) if source.is_timeout() => return self.fail(Fault::Timeout),
                Poll::Ready(Some(Err(source))) => return self.fail(Fault::Incomplete { source }),
                Poll::Ready(None) => {
                    let rest = self.rest();
                    self.end();
                    return Poll::Ready((!rest.is_empty()).then(|| Ok(Frame::data(rest.into()))));
                }
                Poll::Pending => {
                    let is_paused =
                        self.pause.as_mut().is_some_and(|(_, until)| until.as_mut().poll(cx).is_ready());
                    return if is_paused { self.fail(Fault::Pause) } else { Poll::Pending };
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.is_over && self.trailers.is_none()
    }
}

/// Takes bytes from what is left; false where that is less.
fn take(left: &AtomicU64, bytes: usize) -> bool {
    let bytes = bytes as u64;
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
}
