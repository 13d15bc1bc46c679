//! Bytes to lines: LF ends one, nothing else does. A text may hold any other separator of the Unicode tables, and pieces
//! come as the pipe cuts them.

use std::io::Read;
use tokio::sync::mpsc;

/// Longest line in bytes. A prompt with a dozen photographs has some 30 MB; beyond the limit the line is answered with an error
/// and not kept, so that a client that never ends a line does not fill the memory.
pub(super) const MAX_LINE_BYTES: usize = 64 << 20;

/// What a pipe holds by default.
const PIECE_BYTES: usize = 64 << 10;

/// What was found between two line ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Frame {
    /// A line without its end, and without a CR before that.
    Line(Vec<u8>),
    /// A line that was too long to be kept; how many bytes it had.
    TooLong(usize),
}

/// Takes bytes and gives lines.
#[derive(Debug)]
pub(super) struct Splitter {
    max_bytes: usize,
    kept: Vec<u8>,
    /// Bytes of the line so far, kept or not.
    n_bytes: usize,
}

impl Splitter {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, kept: Vec::new(), n_bytes: 0 }
    }

    /// Takes a piece; answers the lines that it ends.
    pub(super) fn push(&mut self, piece: &[u8]) -> Vec<Frame> {
        let mut frames = Vec::new();
        let mut rest = piece;
        while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
            self.take(&rest[..at]);
            frames.push(self.end());
            rest = &rest[at + 1..];
        }
        self.take(rest);
        frames
    }

    /// The line that no LF ended, if there is one.
    pub(super) fn finish(mut self) -> Option<Frame> {
        (self.n_bytes > 0).then(|| self.end())
    }

    fn take(&mut self, part: &[u8]) {
        self.n_bytes += part.len();
        if self.n_bytes <= self.max_bytes {
            self.kept.extend_from_slice(part);
        } else {
            self.kept = Vec::new();
        }
    }

    fn end(&mut self) -> Frame {
        let n_bytes = std::mem::take(&mut self.n_bytes);
        let mut line = std::mem::take(&mut self.kept);
        if n_bytes > self.max_bytes {
            return Frame::TooLong(n_bytes);
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Frame::Line(line)
    }
}

/// The lines of `input`, read by a thread of its own because reading cannot be called off. At most one is read ahead. The
/// channel ends with the input.
///
/// # Errors
/// When the system has no thread for it.
pub(super) fn lines(mut input: impl Read + Send + 'static) -> std::io::Result<mpsc::Receiver<Frame>> {
    let (frames, received) = mpsc::channel(1);
    std::thread::Builder::new().name("capstan-input".to_owned()).spawn(move || {
        let mut splitter = Splitter::new(MAX_LINE_BYTES);
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let n = match input.read(&mut piece) {
                Ok(0) => break,
                Ok(n) => n,
                Err(reason) if reason.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(reason) => {
                    tracing::warn!(%reason, "stdin cannot be read");
                    break;
                }
            };
            for frame in splitter.push(&piece[..n]) {
                if frames.blocking_send(frame).is_err() {
                    return;
                }
            }
        }
        if let Some(last) = splitter.finish() {
            // Nobody is there to take it when the program ends at the same moment.
            drop(frames.blocking_send(last));
        }
    })?;
    Ok(received)
}

#[cfg(test)]
#[path = "framing_tests.rs"]
mod tests;
