//! Collects the output of a command: the tail in memory, all of it in a file once it is more than the model gets.

use crate::text::truncate::{MAX_BYTES, MAX_LINES, Truncation, tail};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use tokio::fs::File;
use tokio::io::AsyncWriteExt;

/// Bytes kept in memory. Twice what is shown, so that the first line shown is never one that was cut here.
const KEEP_BYTES: usize = 2 * MAX_BYTES;

/// Bytes kept in the file. A command that writes without end must not fill the disk; beyond this its output is counted
/// and dropped, and the result says so.
const MAX_FILE_BYTES: u64 = 100 * 1024 * 1024;

/// The output of a finished command as far as the model gets it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Output {
    /// The tail, at most 2000 lines and 50 KB.
    pub text: String,
    /// Set when that is not all.
    pub truncation: Option<Truncation>,
    /// All of it, where it was truncated and could be kept. The file outlives the command and the session; see
    /// [`OutputFolder::sweep`](crate::OutputFolder::sweep).
    pub full_output: Option<PathBuf>,
    /// False when the output was too long even for the file, which then holds its beginning.
    pub full_output_is_whole: bool,
}

impl Output {
    /// Short output, as tests and embedders make it.
    pub fn short(text: impl Into<String>) -> Self {
        Self { text: text.into(), full_output_is_whole: true, ..Self::default() }
    }
}

/// Takes output piece by piece. Never fails: a file that cannot be written costs the full output, not the command.
pub struct OutputBuffer {
    directory: PathBuf,
    kept: Vec<u8>,
    n_bytes: u64,
    n_newlines: u64,
    file: Spill,
}

enum Spill {
    /// Everything is still in memory.
    NotYet,
    Open {
        file: File,
        path: PathBuf,
        n_bytes: u64,
    },
    Failed,
}

impl OutputBuffer {
    /// An empty buffer that puts its file, if it comes to one, into `directory`.
    pub fn new(directory: PathBuf) -> Self {
        Self { directory, kept: Vec::new(), n_bytes: 0, n_newlines: 0, file: Spill::NotYet }
    }

    /// Appends raw output.
    pub async fn push(&mut self, bytes: &[u8]) {
        self.n_bytes += bytes.len() as u64;
        self.n_newlines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.kept.extend_from_slice(bytes);
        if let Spill::NotYet = self.file {
            if self.n_bytes > MAX_BYTES as u64 || self.n_newlines > MAX_LINES as u64 {
                self.spill().await;
            }
        } else {
            self.append(bytes).await;
        }
        // Dropping the front moves the rest; doing it only every so often keeps that cheap.
        if self.kept.len() > 2 * KEEP_BYTES && !matches!(self.file, Spill::NotYet) {
            self.kept.drain(..self.kept.len() - KEEP_BYTES);
        }
    }

    /// The tail so far.
    pub fn tail(&self) -> String {
        tail(&String::from_utf8_lossy(&self.kept), MAX_LINES, MAX_BYTES).text.to_owned()
    }

    /// The end of the output: cuts it and closes the file.
    pub async fn finish(mut self) -> Output {
        let text = String::from_utf8_lossy(&self.kept).into_owned();
        let cut = tail(&text, MAX_LINES, MAX_BYTES);
        let truncation = cut.truncation.map(|truncation| {
            // Only the kept part was looked at; the counts are of everything.
            let ends_open = !self.kept.ends_with(b"\n");
            Truncation {
                total_lines: self.n_newlines as usize + usize::from(ends_open),
                total_bytes: self.n_bytes as usize,
                ..truncation
            }
        });
        let text = cut.text.to_owned();
        if truncation.is_some()
            && let Spill::NotYet = self.file
        {
            // Invalid bytes grow when they are shown, so little output can still be too much.
            self.spill().await;
        }
        let (full_output, full_output_is_whole) = match (self.file, truncation.is_some()) {
            (Spill::Open { mut file, path, n_bytes }, true) => {
                let flushed = file.flush().await.is_ok();
                (Some(path), flushed && n_bytes == self.n_bytes)
            }
            (Spill::Open { .. } | Spill::NotYet | Spill::Failed, _) => (None, truncation.is_none()),
        };
        Output { text, truncation, full_output, full_output_is_whole }
    }

    async fn spill(&mut self) {
        self.file = match create(&self.directory) {
            Ok((file, path)) => Spill::Open { file, path, n_bytes: 0 },
            Err(_) => Spill::Failed,
        };
        let all = std::mem::take(&mut self.kept);
        self.append(&all).await;
        self.kept = all;
    }

    async fn append(&mut self, bytes: &[u8]) {
        if let Spill::Open { file, n_bytes, .. } = &mut self.file {
            let room = usize::try_from(MAX_FILE_BYTES.saturating_sub(*n_bytes)).unwrap_or(usize::MAX);
            let bytes = &bytes[..bytes.len().min(room)];
            match file.write_all(bytes).await {
                Ok(()) => *n_bytes += bytes.len() as u64,
                // What is there stays readable, but it is no longer written to.
                Err(_) => self.file = Spill::Failed,
            }
        }
    }
}

fn create(directory: &std::path::Path) -> io::Result<(File, PathBuf)> {
    let make = || tempfile::Builder::new().prefix("capstan-bash-").suffix(".log").tempfile_in(directory);
    let file = make().or_else(|error| {
        if error.kind() != io::ErrorKind::NotFound {
            return Err(error);
        }
        // An old session's empty folder is swept away, even if the session still runs.
        DirBuilder::new().mode(0o700).create(directory)?;
        make()
    })?;
    let (file, path) = file.keep()?;
    Ok((File::from_std(file), path))
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
