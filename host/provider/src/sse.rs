//! Server-sent events with limits: a thin guard before the `sse-stream` parser.
//!
//! The parser knows line ends of all three kinds, a byte order mark, comments and multi-line data. What it leaves to its
//! caller is how long to wait and how much to take, and it gives up at invalid UTF-8 where the standard asks for
//! replacement characters. Both happen here, before a byte reaches the parser.

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use sse_stream::{Sse, SseByteStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Anything that broke below.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Raw bytes as they come from the connection.
pub(crate) type ByteStream = BoxStream<'static, Result<Bytes, BoxError>>;

/// How long and how much.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Between two pieces of bytes. Longer silence means a dead connection or a stuck server.
    pub(crate) idle: Duration,
    /// For the whole stream. A server that drips one byte a minute is never idle.
    pub(crate) total: Duration,
    /// Of the whole stream. The longest answers of today's models stay below a tenth.
    pub(crate) bytes: u64,
    /// Of one event, because the parser holds an event in memory until it is whole.
    pub(crate) event_bytes: u64,
    /// Of one event. Empty `data:` lines cost the sender little and would pass a limit on bytes alone.
    pub(crate) event_lines: u32,
}

impl Limits {
    /// The limits of a real connection; only the idle time is configurable.
    pub(crate) fn with_idle(idle: Duration) -> Self {
        Self {
            idle,
            total: Duration::from_secs(60 * 60),
            bytes: 256 << 20,
            event_bytes: 16 << 20,
            event_lines: 10_000,
        }
    }
}

/// Why reading stopped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("nothing arrived for {} s", .0.as_secs_f32())]
    Idle(Duration),
    #[error("the answer took longer than {} s", .0.as_secs_f32())]
    TooLong(Duration),
    #[error("{what} is larger than {limit}")]
    TooLarge { what: &'static str, limit: u64 },
    #[error("the connection broke")]
    Broken(#[source] BoxError),
    #[error("the event stream is not readable")]
    Unreadable(#[source] sse_stream::Error),
}

/// The events of one answer.
pub(crate) struct Events {
    events: SseByteStream<BoxStream<'static, Result<Bytes, ReadError>>>,
    head: Arc<Mutex<Vec<u8>>>,
}

impl Events {
    pub(crate) fn new(body: ByteStream, limits: Limits) -> Self {
        let head = Arc::new(Mutex::new(Vec::new()));
        let guard = Guard {
            body,
            limits,
            deadline: Instant::now() + limits.total,
            total: 0,
            meter: EventMeter::default(),
            tail: Vec::new(),
            head: Arc::clone(&head),
        };
        let bytes = stream::try_unfold(guard, |mut guard| async move {
            Ok(guard.next().await?.map(|bytes| (bytes, guard)))
        });
        Self { events: SseByteStream::new(bytes.boxed()), head }
    }

    /// The next event, `None` at the end. After an error comes only `None`.
    pub(crate) async fn next(&mut self) -> Option<Result<Sse, ReadError>> {
        Some(self.events.next().await?.map_err(|error| match error {
            sse_stream::Error::Body(inner) => match inner.downcast::<ReadError>() {
                Ok(error) => *error,
                Err(inner) => ReadError::Broken(inner),
            },
            error => ReadError::Unreadable(error),
        }))
    }

    /// How the stream began, to show what it was when it held no events.
    pub(crate) fn head(&self) -> String {
        String::from_utf8_lossy(&self.head.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

/// Kept for [`Events::head`].
const HEAD_BYTES: usize = 2048;

struct Guard {
    body: ByteStream,
    limits: Limits,
    deadline: Instant,
    total: u64,
    meter: EventMeter,
    /// The first bytes of a character whose rest has not arrived.
    tail: Vec<u8>,
    head: Arc<Mutex<Vec<u8>>>,
}

impl Guard {
    async fn next(&mut self) -> Result<Option<Bytes>, ReadError> {
        loop {
            let idle = Instant::now() + self.limits.idle;
            let Ok(chunk) = timeout_at(idle.min(self.deadline), self.body.next()).await else {
                return Err(if idle < self.deadline {
                    ReadError::Idle(self.limits.idle)
                } else {
                    ReadError::TooLong(self.limits.total)
                });
            };
            let Some(chunk) = chunk else { return Ok(None) };
            let chunk = chunk.map_err(ReadError::Broken)?;
            self.total = self.total.saturating_add(chunk.len() as u64);
            if self.total > self.limits.bytes {
                return Err(ReadError::TooLarge { what: "the answer in bytes", limit: self.limits.bytes });
            }
            // A steady drip of one-byte pieces is never idle and may always be ready: look at the clock here, too.
            if Instant::now() >= self.deadline {
                return Err(ReadError::TooLong(self.limits.total));
            }
            self.meter.take(&chunk, self.limits)?;
            self.remember(&chunk);
            let mended = self.mend(chunk);
            if !mended.is_empty() {
                return Ok(Some(mended));
            }
        }
    }

    fn remember(&self, chunk: &[u8]) {
        let mut head = self.head.lock().unwrap_or_else(PoisonError::into_inner);
        let room = HEAD_BYTES.saturating_sub(head.len()).min(chunk.len());
        head.extend_from_slice(&chunk[..room]);
    }

    /// Replaces invalid UTF-8 as the standard asks, without tearing a character that two chunks share.
    fn mend(&mut self, chunk: Bytes) -> Bytes {
        if self.tail.is_empty() && std::str::from_utf8(&chunk).is_ok() {
            return chunk;
        }
        let mut bytes = std::mem::take(&mut self.tail);
        bytes.extend_from_slice(&chunk);
        let mut out = Vec::with_capacity(bytes.len() + 2);
        let mut left = bytes.len();
        for piece in bytes.utf8_chunks() {
            let (valid, invalid) = (piece.valid(), piece.invalid());
            left -= valid.len() + invalid.len();
            out.extend_from_slice(valid.as_bytes());
            if invalid.is_empty() {
                continue;
            }
            let incomplete = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if left == 0 && incomplete {
                self.tail = invalid.to_vec();
            } else {
                out.extend_from_slice("\u{fffd}".as_bytes());
            }
        }
        out.into()
    }
}

/// Counts what the parser has to hold until the next empty line.
#[derive(Default)]
struct EventMeter {
    bytes: u64,
    lines: u32,
    line_has_bytes: bool,
    after_cr: bool,
}

impl EventMeter {
    fn take(&mut self, chunk: &[u8], limits: Limits) -> Result<(), ReadError> {
        for &byte in chunk {
            let completes_crlf = byte == b'\n' && std::mem::take(&mut self.after_cr);
            if completes_crlf {
                continue;
            }
            self.after_cr = byte == b'\r';
            if !matches!(byte, b'\n' | b'\r') {
                self.bytes += 1;
                self.line_has_bytes = true;
                if self.bytes > limits.event_bytes {
                    return Err(ReadError::TooLarge {
                        what: "one event in bytes",
                        limit: limits.event_bytes,
                    });
                }
            } else if std::mem::take(&mut self.line_has_bytes) {
                self.lines += 1;
                if self.lines > limits.event_lines {
                    return Err(ReadError::TooLarge {
                        what: "one event in lines",
                        limit: u64::from(limits.event_lines),
                    });
                }
            } else {
                (self.bytes, self.lines) = (0, 0);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
