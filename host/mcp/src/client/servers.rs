//! All servers of a session.

use super::approval::{Approvals, Standing};
use super::connection::About;
use super::definition::LeftOut;
use super::remote::Remote;
use super::settings::{Server, ServerName};
use capstan_ports::{Tool, ToolDefinition, ToolProvider};
use futures::future::join_all;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How much longer a slow server may take to start while nobody waits for it.
const BESIDE: u32 = 6;

/// Servers that speak the Model Context Protocol, and their tools as tools of this host.
///
/// A server is started only if the user allowed something of it, and only what they allowed is offered, word for word as it was then.
/// [`Servers::shut_down`] ends them; a program that forgets to leaves that to the drop of each, which kills.
///
/// ```no_run
/// use capstan_mcp::client::{Approvals, Server, ServerSettings, Servers};
///
/// # async fn example(approvals: Approvals) -> Result<(), Box<dyn std::error::Error>> {
/// let settings = ServerSettings { command: Some("my-server".into()), ..ServerSettings::default() };
/// let servers = Servers::new([Server::new("mine", settings)?], approvals, "/project");
/// for notice in servers.start().await {
///     eprintln!("{notice}");
/// }
/// let tools = servers.tools();
/// // … a session with them …
/// servers.shut_down().await;
/// # Ok(())
/// # }
/// ```
pub struct Servers {
    remotes: Vec<Arc<Remote>>,
    approvals: Arc<RwLock<Approvals>>,
    changed: watch::Sender<u64>,
}

/// What a look at one server found, for a person. Nothing in it is escaped.
#[derive(Debug, Clone)]
pub struct Look {
    /// What the server says of itself.
    pub about: About,
    /// How long it took until it was ready and had listed its tools.
    pub took: Duration,
    /// Its tools, as far as the user's patterns choose them.
    pub tools: Vec<Seen>,
    /// Those that cannot be offered.
    pub left_out: Vec<LeftOut>,
    /// The end of what it wrote to stderr.
    pub stderr: String,
}

/// One tool of a [`Look`].
#[derive(Debug, Clone)]
pub struct Seen {
    /// The server's own name for it.
    pub own: String,
    /// What the model sees.
    pub definition: ToolDefinition,
    /// Where it stands.
    pub standing: Standing,
    /// It only reads, by the user's word.
    pub is_read_only: bool,
}

impl Servers {
    /// These servers, with what the user allowed. Nothing is started yet. Relative directories are below `workspace`.
    pub fn new(
        servers: impl IntoIterator<Item = Server>,
        approvals: Approvals,
        workspace: impl Into<PathBuf>,
    ) -> Self {
        let (approvals, workspace) = (Arc::new(RwLock::new(approvals)), workspace.into());
        let changed = watch::Sender::new(0);
        let enabled = servers.into_iter().filter(|server| server.enabled);
        let remote = |server| Remote::new(server, workspace.clone(), approvals.clone(), changed.clone());
        Self {
            remotes: enabled.map(remote).collect(),
            approvals: approvals.clone(),
            changed: changed.clone(),
        }
    }

    /// Starts all of which the user allowed something, side by side, each for as long as its start may take; one that is not ready
    /// by then may still join later. Answers what the user should know.
    pub async fn start(&self) -> Vec<String> {
        let started = self.remotes.iter().map(|remote| self.start_one(remote));
        join_all(started).await.into_iter().flatten().collect()
    }

    async fn start_one(&self, remote: &Arc<Remote>) -> Vec<String> {
        let name = &remote.server.name;
        if !self.approvals.read().unwrap_or_else(PoisonError::into_inner).knows(name.as_str()) {
            return vec![format!(
                "the MCP server {name} is not used, because you have allowed nothing of it yet. To look at its tools and allow them: \
                 capstan mcp allow {name}"
            )];
        }
        let begun = Instant::now();
        if let Err(reason) = remote.connect(remote.server.start_timeout).await {
            let mut notice = format!("the MCP server {name} did not start: {reason}");
            if begun.elapsed() >= remote.server.start_timeout {
                notice
                    .push_str(". It is tried once more beside the session; its tools join when it is ready");
                let remote = remote.clone();
                tokio::spawn(async move {
                    if let Err(reason) = remote.connect(remote.server.start_timeout * BESIDE).await {
                        tracing::warn!("the MCP server {} did not start: {reason}", remote.server.name);
                    }
                });
            }
            return vec![notice];
        }
        notices(remote)
    }

    /// What the model can call now, of all servers.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.remotes.iter().flat_map(|remote| remote.tools()).collect()
    }

    /// What the model can call now, of one server.
    pub fn tools_of(&self, name: &ServerName) -> Vec<Arc<dyn Tool>> {
        self.remotes
            .iter()
            .filter(|remote| remote.server.name == *name)
            .flat_map(|remote| remote.tools())
            .collect()
    }

    /// The names of the servers.
    pub fn names(&self) -> impl Iterator<Item = &ServerName> {
        self.remotes.iter().map(|remote| &remote.server.name)
    }

    /// What the user should know of tools that are not offered, of all servers that run.
    pub fn notices(&self) -> Vec<String> {
        self.remotes.iter().flat_map(notices).collect()
    }

    /// Changes whenever what is offered may have changed.
    pub fn changed(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Starts one server if it does not run, whether the user allowed anything of it or not, and says what it is and offers. `None` if
    /// there is none of this name that is enabled.
    ///
    /// # Errors
    /// Why it did not start, for the user.
    pub async fn look(&self, name: &str) -> Option<Result<Look, String>> {
        let remote = self.remotes.iter().find(|remote| remote.server.name.as_str() == name)?;
        let begun = Instant::now();
        let (connection, about) = match remote.connect(remote.server.start_timeout).await {
            Ok(connected) => connected,
            Err(reason) => return Some(Err(reason)),
        };
        let took = begun.elapsed();
        let listing = &remote.offer().listing;
        let tools = Remote::wanted(listing, &remote.server).into_iter().map(|tool| Seen {
            standing: remote.standing(&tool),
            is_read_only: remote.server.is_read_only(&tool.own),
            own: tool.own,
            definition: tool.definition,
        });
        Some(Ok(Look {
            about,
            took,
            tools: tools.collect(),
            left_out: Remote::left_out(listing, &remote.server),
            stderr: connection.stderr.text(),
        }))
    }

    /// Allows tools of a server as they were at the last look, by the server's own names; the caller keeps [`Servers::approvals`].
    /// Answers those names that are none of its tools.
    pub fn allow(&self, name: &str, tools: &[String]) -> Vec<String> {
        let Some(remote) = self.remotes.iter().find(|remote| remote.server.name.as_str() == name) else {
            return tools.to_vec();
        };
        let offer = remote.offer();
        let wanted = Remote::wanted(&offer.listing, &remote.server);
        let chosen = wanted.iter().filter(|tool| tools.contains(&tool.own));
        self.approvals.write().unwrap_or_else(PoisonError::into_inner).allow(&remote.server, chosen);
        remote.reconsider();
        let is_there = |own: &&String| wanted.iter().any(|tool| tool.own == **own);
        tools.iter().filter(|own| !is_there(own)).cloned().collect()
    }

    /// Puts another set of approvals in the place of the one before: what was allowed or taken back elsewhere counts at once. A
    /// server of which nothing had been allowed before is started.
    pub async fn set_approvals(&self, approvals: Approvals) {
        *self.approvals.write().unwrap_or_else(PoisonError::into_inner) = approvals;
        let knows = |name: &ServerName| {
            self.approvals.read().unwrap_or_else(PoisonError::into_inner).knows(name.as_str())
        };
        for remote in &self.remotes {
            remote.reconsider();
            if knows(&remote.server.name)
                && remote.is_idle().await
                && let Err(reason) = remote.connect(remote.server.start_timeout).await
            {
                tracing::warn!("the MCP server {} did not start: {reason}", remote.server.name);
            }
        }
    }

    /// What the user allowed, with what was allowed since.
    pub fn approvals(&self) -> Approvals {
        self.approvals.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends all servers side by side, in good order where they heed it, and reaps their processes.
    pub async fn shut_down(&self) {
        join_all(self.remotes.iter().map(|remote| remote.end())).await;
    }
}

impl ToolProvider for Servers {
    fn list_tools(&self) -> Vec<ToolDefinition> {
        self.tools().iter().map(|tool| tool.definition().clone()).collect()
    }
}

/// What the user should know of a server's tools.
fn notices(remote: &Arc<Remote>) -> Vec<String> {
    let name = &remote.server.name;
    let offer = remote.offer();
    let left_out = Remote::left_out(&offer.listing, &remote.server);
    let mut notices: Vec<_> = left_out
        .into_iter()
        .map(|tool| format!("the MCP server {name}: {} is left out: {}", tool.tool, tool.reason))
        .collect();
    let (mut new, mut modified) = (Vec::new(), Vec::new());
    for tool in Remote::wanted(&offer.listing, &remote.server) {
        match remote.standing(&tool) {
            Standing::Approved => {}
            Standing::New => new.push(tool.own),
            Standing::Modified { .. } => modified.push(tool.own),
        }
    }
    for (tools, what) in
        [(new, "waits for your yes"), (modified, "was modified since you allowed it and is off")]
    {
        if !tools.is_empty() {
            notices.push(format!(
                "the MCP server {name}: {} {what}. To look and allow: capstan mcp allow {name}",
                tools.join(", ")
            ));
        }
    }
    notices
}
