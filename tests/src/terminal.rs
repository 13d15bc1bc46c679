//! The product in a terminal, with a person who reads the screen and types.

use crate::product::{Product, TIME_LIMIT};
use anyhow::{Context, Result, bail};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A key that is no character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D.
    End,
}

/// A run in a terminal. Dropping it ends the run.
pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    keyboard: Box<dyn Write + Send>,
    screen: Arc<Mutex<Vec<u8>>>,
    /// Ends when nobody can write to the screen any more.
    reading: std::thread::JoinHandle<()>,
    /// How much of the screen the person has read.
    read_bytes: usize,
    _master: Box<dyn MasterPty + Send>,
}

impl Terminal {
    /// Starts the product in a terminal that is wide enough for no line of the tests to be broken.
    pub fn start(product: &Product, arguments: &[&str]) -> Result<Self> {
        let pair =
            native_pty_system().openpty(PtySize { rows: 50, cols: 400, pixel_width: 0, pixel_height: 0 })?;
        let (program, environment) = product.command_line();
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        command.cwd(product.workspace());
        command.env_clear();
        for (name, value) in environment {
            command.env(name, value);
        }
        command.env("TERM", "xterm");
        let child = pair.slave.spawn_command(command)?;
        // The last handle on this side; the output ends when the product's own are closed.
        drop(pair.slave);
        let screen = Arc::new(Mutex::new(Vec::new()));
        let mut output = pair.master.try_clone_reader()?;
        let shown = screen.clone();
        let reading = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = output.read(&mut bytes) {
                shown.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&bytes[..n]);
            }
        });
        let keyboard = pair.master.take_writer()?;
        Ok(Self { child, keyboard, screen, reading, read_bytes: 0, _master: pair.master })
    }

    /// Reads on until `part` is there, and answers what was read, `part` included.
    pub async fn wait_for(&mut self, part: &str) -> Result<String> {
        let began = Instant::now();
        loop {
            let unread = self.unread();
            if let Some(at) = find(&unread, part.as_bytes()) {
                let read = &unread[..at + part.len()];
                self.read_bytes += read.len();
                return Ok(String::from_utf8_lossy(read).into_owned());
            }
            if began.elapsed() > TIME_LIMIT {
                bail!("{part:?} never came; unread: {:?}", String::from_utf8_lossy(&unread));
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Types a line and Enter.
    pub fn type_line(&mut self, line: &str) -> Result<()> {
        self.keys(format!("{line}\r").as_bytes())
    }

    /// Types text without Enter.
    pub fn type_text(&mut self, text: &str) -> Result<()> {
        self.keys(text.as_bytes())
    }

    /// Pastes text as a terminal does that marks what was pasted.
    pub fn paste(&mut self, text: &str) -> Result<()> {
        self.keys(format!("\u{1b}[200~{text}\u{1b}[201~").as_bytes())
    }

    /// Presses a key.
    pub fn press(&mut self, key: Key) -> Result<()> {
        self.keys(match key {
            Key::Interrupt => b"\x03",
            Key::End => b"\x04",
        })
    }

    fn keys(&mut self, bytes: &[u8]) -> Result<()> {
        self.keyboard.write_all(bytes)?;
        Ok(self.keyboard.flush()?)
    }

    /// The process id.
    pub fn id(&self) -> Result<u32> {
        self.child.process_id().context("the product has ended")
    }

    /// Whether the product has ended.
    pub fn has_ended(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Waits for the end and answers the exit code and what was not read yet.
    pub async fn end(mut self) -> Result<(u32, String)> {
        let began = Instant::now();
        loop {
            // The last words are on their way still when the process is gone.
            if let (Some(status), true) = (self.child.try_wait()?, self.reading.is_finished()) {
                return Ok((status.exit_code(), String::from_utf8_lossy(&self.unread()).into_owned()));
            }
            if began.elapsed() > TIME_LIMIT {
                bail!("the product did not end; unread: {:?}", String::from_utf8_lossy(&self.unread()));
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn unread(&self) -> Vec<u8> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)[self.read_bytes..].to_vec()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // After its end there is nothing to kill.
        if matches!(self.child.try_wait(), Ok(None)) {
            drop(self.child.kill());
        }
    }
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
