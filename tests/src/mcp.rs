//! A server of the Model Context Protocol that does what a test wants, well-behaved or not: over pipes as the program
//! `capstan-scripted-mcp`, over HTTP in the test's own process. It knows nothing of the library that the product uses.
//!
//! Everything about it lies in one folder: `tools.json` is what it lists, where that is there; `refuse-list` makes it refuse to;
//! `log` gets a line for each message that came; `pid` has the process id of the last one that was started.

pub mod http;
pub mod script;

use crate::product::TIME_LIMIT;
use anyhow::{Result, ensure};
use capstan_mcp::client::{Server, ServerSettings};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The program that speaks over pipes. A macro, because only a test binary knows where its package's programs are.
#[macro_export]
macro_rules! scripted_mcp {
    () => {
        env!("CARGO_BIN_EXE_capstan-scripted-mcp")
    };
}

/// How a test speaks to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Over pipes.
    Stdio,
    /// Over streamable HTTP.
    Http,
}

/// A folder for a scripted server, and the server itself where that is in this process.
pub struct Scripted {
    folder: TempDir,
    program: &'static str,
    http: Option<http::HttpServer>,
}

impl Scripted {
    /// One to be spoken to in this way.
    pub async fn new(way: Way, program: &'static str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let http = match way {
            Way::Stdio => None,
            Way::Http => Some(http::HttpServer::start(folder.path().to_owned()).await?),
        };
        Ok(Self { folder, program, http })
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// How the product is told of it. `flags` change how it starts, and need pipes.
    pub fn settings(&self, flags: &[&str]) -> ServerSettings {
        if let Some(http) = &self.http {
            return ServerSettings { url: Some(http.url()), ..ServerSettings::default() };
        }
        let folder = [self.folder().to_string_lossy().into_owned()].into_iter();
        let args = folder.chain(flags.iter().map(|flag| (*flag).to_owned())).collect();
        ServerSettings { command: Some(self.program.to_owned()), args, ..ServerSettings::default() }
    }

    /// A server of this name, reached so.
    pub fn server(&self, name: &str, settings: ServerSettings) -> Result<Server> {
        Ok(Server::new(name, settings)?)
    }

    /// Lists these from now on.
    pub fn list(&self, tools: &Value) -> Result<()> {
        Ok(std::fs::write(self.folder().join("tools.json"), tools.to_string())?)
    }

    /// Refuses to list from now on.
    pub fn refuse_list(&self) -> Result<()> {
        Ok(std::fs::write(self.folder().join("refuse-list"), "")?)
    }

    /// What came so far.
    pub fn log(&self) -> Result<Vec<Value>> {
        match std::fs::read_to_string(self.folder().join("log")) {
            Ok(text) => crate::product::json_lines(&text),
            Err(_) => Ok(Vec::new()),
        }
    }

    /// Waits until a message came for which this is true.
    pub async fn hears(&self, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        let began = Instant::now();
        loop {
            // A line that is being written is no JSON yet.
            if let Some(found) = self.log().unwrap_or_default().into_iter().find(|message| wanted(message)) {
                return Ok(found);
            }
            ensure!(began.elapsed() < TIME_LIMIT, "it never came: {:?}", self.log());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// The process that was started last.
    pub fn pid(&self) -> Result<u32> {
        Ok(std::fs::read_to_string(self.folder().join("pid"))?.trim().parse()?)
    }
}

/// Whether there is a process of this id, be it one that nobody has waited for.
pub fn is_there(pid: u32) -> bool {
    PathBuf::from(format!("/proc/{pid}")).exists()
}

/// Whether a process of this id does anything still. One whose parent is gone may stay as a zombie where nobody reaps orphans.
pub fn is_alive(pid: u32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !state.is_empty() && !state.contains(") Z")
}

/// Waits until this is no longer so.
pub async fn no_longer(is_so: impl Fn() -> bool) -> Result<()> {
    let began = Instant::now();
    while is_so() {
        ensure!(began.elapsed() < TIME_LIMIT, "it stays so");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}
