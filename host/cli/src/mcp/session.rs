//! The servers of a running session.

use super::approvals;
use crate::config::Config;
use crate::home::Home;
use crate::live::Live;
use crate::load::Stamp;
use crate::screen;
use anyhow::Result;
use capstan_agent::Extension;
use capstan_mcp::client::{ServerName, Servers};
use capstan_ports::Tool;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Everything that was started in this process. Kept here, so that no way out of the program can forget it.
static STARTED: Mutex<Vec<Arc<Servers>>> = Mutex::new(Vec::new());

/// How often it is looked whether the user allowed or took back something in another terminal.
const TICK: Duration = Duration::from_secs(1);

/// The servers of the configuration, none of them started.
pub(super) fn servers(home: &Home, config: &Config) -> Result<Arc<Servers>> {
    let approvals = approvals::load(home)?;
    let servers = Servers::new(config.mcp.values().cloned(), approvals, &home.workspace);
    let servers = Arc::new(servers);
    STARTED.lock().unwrap_or_else(PoisonError::into_inner).push(servers.clone());
    Ok(servers)
}

/// Ends all servers that were started and waits until their processes are gone.
pub(crate) async fn shut_down() {
    let started = std::mem::take(&mut *STARTED.lock().unwrap_or_else(PoisonError::into_inner));
    for servers in started {
        servers.shut_down().await;
    }
}

/// The part that servers have in a session.
pub(crate) struct Mcp {
    servers: Arc<Servers>,
    starting: JoinHandle<Vec<String>>,
    /// What the user was told.
    told: HashSet<String>,
    /// Since before the first look at the tools, so that no change falls between the two.
    changed: watch::Receiver<u64>,
}

impl Mcp {
    /// Begins to start them; everything else can go on meanwhile. `None` where none is configured.
    ///
    /// # Errors
    /// When what the user allowed cannot be read.
    pub(crate) fn begin(home: &Home, config: &Config) -> Result<Option<Self>> {
        if config.mcp.is_empty() {
            return Ok(None);
        }
        let servers = servers(home, config)?;
        let starting = tokio::spawn({
            let servers = servers.clone();
            async move { servers.start().await }
        });
        let changed = servers.changed();
        Ok(Some(Self { servers, starting, told: HashSet::new(), changed }))
    }

    /// Waits until all are ready or have had their time. Answers what the user should know.
    pub(crate) async fn ready(&mut self) -> Vec<String> {
        let notices = match (&mut self.starting).await {
            Ok(notices) => notices,
            Err(stopped) => vec![format!("the MCP servers could not be started: {stopped}")],
        };
        self.told.extend(notices.iter().cloned());
        self.changed.mark_unchanged();
        notices
    }

    /// Each server as an extension, for the one list of what takes part in a session.
    pub(crate) fn extensions(&self) -> Vec<Arc<dyn Extension>> {
        let extension = |name: &ServerName| {
            let (label, servers) = (format!("mcp {name}"), self.servers.clone());
            Arc::new(ServerTools { label, name: name.clone(), servers }) as Arc<dyn Extension>
        };
        self.servers.names().map(extension).collect()
    }

    /// Follows what servers change, and what the user allows elsewhere, for as long as the session is there.
    pub(crate) fn follow(self, home: Home, live: &Arc<Live>) {
        let live = Arc::downgrade(live);
        tokio::spawn(self.keep_up(home, live));
    }

    async fn keep_up(mut self, home: Home, live: Weak<Live>) {
        let file = approvals::file(&home);
        let mut seen = Stamp::of(&file);
        loop {
            tokio::select! {
                changed = self.changed.changed() => {
                    if changed.is_err() {
                        return;
                    }
                }
                () = tokio::time::sleep(TICK) => {
                    let now = Stamp::of(&file);
                    if now == seen {
                        continue;
                    }
                    seen = now;
                    match approvals::load(&home) {
                        Ok(approvals) => self.servers.set_approvals(approvals).await,
                        Err(error) => {
                            tracing::warn!("{}. What was allowed before counts", screen::whole(&error));
                            continue;
                        }
                    }
                }
            }
            let Some(live) = live.upgrade() else { return };
            let mut notices = self.servers.notices();
            match live.renew_tools() {
                Ok(left_out) => notices.extend(left_out),
                Err(error) => {
                    notices.push(format!("{}. What was in force stays in force", screen::whole(&error)))
                }
            }
            for notice in notices {
                if self.told.insert(notice.clone()) {
                    tracing::warn!("{notice}");
                }
            }
        }
    }
}

/// One server among the extensions of a session.
struct ServerTools {
    /// No component can have a name with a space.
    label: String,
    name: ServerName,
    servers: Arc<Servers>,
}

impl Extension for ServerTools {
    fn name(&self) -> &str {
        &self.label
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.servers.tools_of(&self.name)
    }
}
