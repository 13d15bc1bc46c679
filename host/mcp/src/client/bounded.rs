//! A reader that gives up on a line that is too long, so that no server can fill the memory with one.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, ReadBuf};

/// Longest message of a server. A picture of ten megabytes fits in; what is longer ends the connection, and the calls in progress
/// with it.
pub(crate) const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// Why a connection was ended from this side, once it was.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fault(Arc<Mutex<Option<String>>>);

impl Fault {
    pub(crate) fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, text: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }
}

/// Reads from `inner` until a line is longer than `max_bytes`; that is an error.
pub(crate) struct Bounded<R> {
    inner: R,
    max_bytes: usize,
    /// Of the line that is being read.
    n_bytes: usize,
    fault: Fault,
}

impl<R> Bounded<R> {
    pub(crate) fn new(inner: R, max_bytes: usize, fault: Fault) -> Self {
        Self { inner, max_bytes, n_bytes: 0, fault }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buffer))?;
        let read = buffer.filled().get(before..).unwrap_or_default();
        let mut lines = read.split(|byte| *byte == b'\n');
        // The first piece goes on with the line of before, each other begins a new one.
        self.n_bytes += lines.next().map_or(0, <[u8]>::len);
        let mut longest = self.n_bytes;
        for line in lines {
            self.n_bytes = line.len();
            longest = longest.max(line.len());
        }
        if longest > self.max_bytes {
            let text = format!("it sent a message of more than {} MiB", self.max_bytes >> 20);
            self.fault.set(text.clone());
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, text)));
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
#[path = "bounded_tests.rs"]
mod tests;
