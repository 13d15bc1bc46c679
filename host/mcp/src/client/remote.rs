//! One server over the length of a session: started, started again, asked anew, and offered as what the user allowed of it.

use super::approval::{Approvals, Standing};
use super::call::{CallFailure, call};
use super::connection::{About, Connection, with_stderr};
use super::definition::{LeftOut, Listed, Listing};
use super::settings::Server;
use super::tool::RemoteTool;
use capstan_ports::tool::ToolContext;
use capstan_ports::{Tool, ToolError, ToolOutcome};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A server that failed so many times in a row is left alone for the rest of the session.
const MAX_FAILURES: u32 = 5;

/// The wait before the second start in a row; each further one doubles it. The first comes at once.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// How long the list must have been still before it is asked for: servers that load plug-ins tell of each.
const STILL: Duration = Duration::from_millis(50);

/// How long the list may take when it is asked for again.
const MAY_TAKE_TO_LIST: Duration = Duration::from_secs(10);

/// One server of a session.
pub(crate) struct Remote {
    pub(crate) server: Server,
    workspace: PathBuf,
    /// Itself, for its tools.
    own: Weak<Self>,
    /// Locked while the server starts, so that it is started once however many calls want it.
    state: tokio::sync::Mutex<State>,
    approvals: Arc<RwLock<Approvals>>,
    offer: RwLock<Arc<Offer>>,
    /// Counts changes of the offers of all servers.
    changed: watch::Sender<u64>,
    /// The session is over: a start in progress is given up.
    over: CancellationToken,
}

enum State {
    /// Not started yet.
    Idle,
    Running {
        connection: Arc<Connection>,
        follower: JoinHandle<()>,
        n_failures: u32,
    },
    /// It failed so often in a row.
    Failed {
        reason: String,
        n_failures: u32,
        again_at: Instant,
    },
    /// The session is over.
    Over,
}

/// What one look at a server came to, measured against what the user allowed.
#[derive(Default)]
pub(crate) struct Offer {
    pub(crate) listing: Listing,
    pub(crate) tools: Vec<Arc<RemoteTool>>,
}

impl Remote {
    pub(crate) fn new(
        server: Server,
        workspace: PathBuf,
        approvals: Arc<RwLock<Approvals>>,
        changed: watch::Sender<u64>,
    ) -> Arc<Self> {
        Arc::new_cyclic(|own| Self {
            server,
            workspace,
            own: own.clone(),
            state: tokio::sync::Mutex::new(State::Idle),
            approvals,
            offer: RwLock::default(),
            changed,
            over: CancellationToken::new(),
        })
    }

    /// What is offered to the model now.
    pub(crate) fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.offer().tools.iter().map(|tool| tool.clone() as Arc<dyn Tool>).collect()
    }

    pub(crate) fn offer(&self) -> Arc<Offer> {
        self.offer.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn standing(&self, tool: &Listed) -> Standing {
        self.approvals.read().unwrap_or_else(PoisonError::into_inner).standing(&self.server, tool)
    }

    /// The tools that the user's patterns choose.
    pub(crate) fn wanted(listing: &Listing, server: &Server) -> Vec<Listed> {
        listing.tools.iter().filter(|tool| server.offers(&tool.own)).cloned().collect()
    }

    /// What of the server cannot be offered, and why, among what the user's patterns choose.
    pub(crate) fn left_out(listing: &Listing, server: &Server) -> Vec<LeftOut> {
        listing.left_out.iter().filter(|tool| server.offers(&tool.tool)).cloned().collect()
    }

    /// Connects if there is no connection.
    ///
    /// # Errors
    /// A text for the user.
    pub(crate) async fn connect(&self, within: Duration) -> Result<(Arc<Connection>, About), String> {
        let mut state = self.state.lock().await;
        let n_failures = match &mut *state {
            State::Running { connection, .. } if !connection.is_closed() => {
                return Ok((connection.clone(), connection.about.clone()));
            }
            State::Running { .. } => self.bury(&mut state).await,
            State::Idle => 0,
            State::Failed { n_failures, .. } => *n_failures,
            State::Over => return Err("the session is over".to_owned()),
        };
        if let State::Failed { reason, n_failures, again_at } = &*state {
            let wait = again_at.saturating_duration_since(Instant::now());
            if *n_failures >= MAX_FAILURES {
                return Err(format!("it failed {n_failures} times in a row and is left alone: {reason}"));
            }
            if !wait.is_zero() {
                return Err(format!("{reason} (tried again in {} s at the earliest)", wait.as_secs() + 1));
            }
        }
        let started = tokio::select! {
            started = self.start(within) => started,
            () = self.over.cancelled() => Err("the session is over".to_owned()),
        };
        match started {
            Ok(connection) => {
                let connection = Arc::new(connection);
                let follower = self.follow(&connection);
                let about = connection.about.clone();
                *state = State::Running { connection: connection.clone(), follower, n_failures };
                Ok((connection, about))
            }
            Err(reason) => {
                *state = failed(reason.clone(), n_failures + 1);
                Err(reason)
            }
        }
    }

    /// Starts the server and takes over what it offers; all or nothing.
    async fn start(&self, within: Duration) -> Result<Connection, String> {
        let started = tokio::time::timeout(within, async {
            let connection = Connection::open(&self.server, &self.workspace).await?;
            match connection.list().await {
                Ok(tools) => Ok((connection, tools)),
                Err(reason) => {
                    connection.close().await;
                    Err(reason)
                }
            }
        });
        let (connection, tools) = started
            .await
            .unwrap_or_else(|_elapsed| Err(format!("it was not ready within {} s", within.as_secs_f64())))?;
        self.take_over(Listing::of(&self.server.name, tools));
        Ok(connection)
    }

    /// Takes leave of a connection that ended, and answers how many there were in a row now.
    async fn bury(&self, state: &mut State) -> u32 {
        let State::Running { connection, follower, n_failures } = std::mem::replace(state, State::Idle)
        else {
            return 0;
        };
        follower.abort();
        let (fault, stderr) = (connection.fault(), connection.stderr.clone());
        let status = match Arc::into_inner(connection) {
            Some(connection) => connection.close().await,
            // Another call still looks at it; its process goes with the last one.
            None => None,
        };
        let reason = match (fault, status) {
            (Some(fault), _) => format!("its connection was ended, because {fault}"),
            (None, Some(status)) => format!("it stopped ({status})"),
            (None, None) => "the connection to it was lost".to_owned(),
        };
        tracing::warn!("the MCP server {}: {}", self.server.name, with_stderr(reason.clone(), &stderr));
        let n_failures = n_failures + 1;
        *state = failed(reason, n_failures);
        n_failures
    }

    /// Asks for the tools anew whenever the server says that they changed.
    fn follow(&self, connection: &Arc<Connection>) -> JoinHandle<()> {
        let (own, connection) = (self.own.clone(), Arc::downgrade(connection));
        tokio::spawn(async move {
            loop {
                let Some(changed) = connection.upgrade().map(|held| held.handler().tools_changed.clone())
                else {
                    return;
                };
                changed.notified().await;
                tokio::time::sleep(STILL).await;
                let (Some(remote), Some(connection)) = (own.upgrade(), connection.upgrade()) else { return };
                remote.refresh(&connection).await;
            }
        })
    }

    async fn refresh(&self, connection: &Connection) {
        let listed = tokio::time::timeout(MAY_TAKE_TO_LIST, connection.list()).await;
        let listed = listed.unwrap_or_else(|_elapsed| Err("it does not list its tools in time".to_owned()));
        match listed {
            Ok(tools) => self.take_over(Listing::of(&self.server.name, tools)),
            Err(reason) => tracing::warn!(
                "the MCP server {} says that its tools changed, but {reason}. Those of before stay",
                self.server.name
            ),
        }
    }

    /// Measures the offer anew against what the user allows by now.
    pub(crate) fn reconsider(&self) {
        self.take_over(self.offer().listing.clone());
    }

    /// Puts a list in the place of the one before, at once. A tool that stays keeps its object.
    fn take_over(&self, listing: Listing) {
        let approved = Self::wanted(&listing, &self.server);
        let approved = approved.into_iter().filter(|tool| self.standing(tool) == Standing::Approved);
        let before = self.offer();
        let kept = |tool: &Listed| before.tools.iter().find(|held| held.listed == *tool).cloned();
        let tools: Vec<_> = approved
            .map(|tool| {
                let is_read_only = self.server.is_read_only(&tool.own);
                kept(&tool).unwrap_or_else(|| Arc::new(RemoteTool::new(self.own.clone(), tool, is_read_only)))
            })
            .collect();
        let is_news = listing != before.listing || tools.len() != before.tools.len();
        *self.offer.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(Offer { listing, tools });
        if is_news {
            self.changed.send_modify(|n| *n += 1);
        }
    }

    /// Calls one of its tools.
    pub(crate) async fn call(
        &self,
        tool: &RemoteTool,
        arguments: Map<String, Value>,
        context: &ToolContext,
    ) -> Result<ToolOutcome, ToolError> {
        let name = &self.server.name;
        let connected = tokio::select! {
            connected = self.connect(self.server.start_timeout) => connected,
            () = context.cancel.cancelled() => return Err(ToolError::Aborted),
        };
        let (connection, _) = connected.map_err(|reason| {
            // What it wrote to stderr is for the user.
            let brief = reason.lines().next().unwrap_or_default();
            ToolError::failed(format!("The MCP server {name} cannot be reached: {brief}"))
        })?;
        // It may have been started anew, and say something else by now.
        if !self.offer().tools.iter().any(|offered| offered.listed == tool.listed) {
            return Err(ToolError::Denied(format!(
                "The MCP server {name} has changed or taken away {}; the user can look at it and allow it with: capstan mcp allow {name}",
                tool.listed.own
            )));
        }
        let answered = call(&connection, &tool.listed.own, arguments, self.server.timeout, context).await;
        match answered {
            Ok(outcome) => {
                self.is_well();
                Ok(outcome)
            }
            Err(CallFailure::Told(error)) => Err(error),
            Err(CallFailure::Lost) => {
                drop(connection);
                let mut state = self.state.lock().await;
                if matches!(&*state, State::Running { connection, .. } if connection.is_closed()) {
                    self.bury(&mut state).await;
                }
                let reason = match &*state {
                    State::Failed { reason, .. } => reason.clone(),
                    _ => "the connection to it was lost".to_owned(),
                };
                Err(ToolError::failed(format!(
                    "The MCP server {name} did not answer: {reason}. Whether the call had an effect is not known"
                )))
            }
        }
    }

    /// Whether it was never started.
    pub(crate) async fn is_idle(&self) -> bool {
        matches!(&*self.state.lock().await, State::Idle)
    }

    /// Forgets earlier failures: a server that answers is well. Whoever starts it anew at the moment knows better.
    fn is_well(&self) {
        if let Ok(mut state) = self.state.try_lock()
            && let State::Running { n_failures, .. } = &mut *state
        {
            *n_failures = 0;
        }
    }

    /// Ends the server for good.
    pub(crate) async fn end(&self) {
        self.over.cancel();
        let state = std::mem::replace(&mut *self.state.lock().await, State::Over);
        let State::Running { connection, follower, .. } = state else { return };
        follower.abort();
        // A call in progress, or the follower at work, may hold it for a moment still.
        let mut held = connection;
        for _ in 0..50 {
            held = match Arc::try_unwrap(held) {
                Ok(connection) => {
                    connection.close().await;
                    return;
                }
                Err(held) => held,
            };
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

fn failed(reason: String, n_failures: u32) -> State {
    let wait = match n_failures {
        0 | 1 => Duration::ZERO,
        n => FIRST_WAIT * 2_u32.saturating_pow(n - 2),
    };
    State::Failed { reason, n_failures, again_at: Instant::now() + wait }
}
