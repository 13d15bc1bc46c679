//! `capstan mcp serve`: the tools of extensions in any client of the Model Context Protocol.
//!
//! stdout is the protocol's; everything that is said goes to stderr. The end of stdin ends the server, and so do Ctrl-C and
//! SIGTERM, with the calls that are on.

use super::tools::SessionTools;
use crate::args::{ServeOptions, SessionFlags, Setup};
use crate::compose::{self, Composed, Plan};
use crate::config::{self, Config};
use crate::explain::Explanations;
use crate::live::Live;
use crate::loader::{Loader, Say};
use crate::screen::{self, WARN};
use crate::sessions::Which;
use crate::watch::Follower;
use crate::{model, print, start, usage};
use anyhow::{Context, Result, ensure};
use capstan_agent::{AgentLoopConfig, AgentSession};
use capstan_mcp::server::{self, HttpOptions, Token, ToolHost};
use capstan_policy::PermissionMode;
use capstan_ports::{SessionLifecycle, TurnContext};
use futures::StreamExt;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::{Arc, PoisonError};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// What a `Host` header says that means this machine.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Serves to the end of stdin, or over HTTP until it is told to end.
pub(super) async fn run(options: ServeOptions) -> Result<ExitCode> {
    let door = Door::of(&options)?;
    let flags = SessionFlags { cwd: options.cwd.clone(), ..SessionFlags::default() };
    let home = start::home(&flags)?;
    let setup = setup(&options);
    let grants = config::load_grants(&home)?;
    let mut config = Config::load(&home, &grants)?;
    model::heed_environment(&mut config);
    // Other servers' tools are for sessions of one's own; clients have their own ways to them.
    config.mcp.clear();
    let commands = Arc::new(compose::commands(&home, &config, options.token_env.as_deref()));
    let plan = Plan {
        which: Which::Unkept,
        default_mode: PermissionMode::ReadOnly,
        person: None,
        // All extensions are there before the first call: a gate that is not there yet would be an open one.
        loader: Loader::default(),
    };
    let composed = compose::assemble(&home, &setup, plan, &config, &grants, commands).await?;
    let explanations = Explanations::of(&home, &composed);
    let records = composed.trace.follow();
    let Composed { session, catalog, notices, live, loader, .. } = composed;
    let host = Arc::new(tools_of(&session, live.clone(), records));
    if host.tools().is_empty() {
        screen::note(&format!(
            "{WARN}capstan:{WARN:#} no tools are on offer yet: no extension with tools is in force (capstan ext list), and \
             --builtin names none"
        ));
    }
    let say: Say = Arc::new(|text| screen::note(&format!("capstan: {text}")));
    let follower = Follower::new(home.clone(), setup, live.clone(), loader, &catalog, &notices, say);
    let following = tokio::spawn(follower.follow());
    tell_hooks(&session, SessionLifecycle::Start).await;
    let served = until_told_to_end(host, door).await;
    following.abort();
    tell_hooks(&session, SessionLifecycle::End).await;
    explanations.keep();
    print::finish(&session).await;
    usage::keep(&home, live.running().lock().unwrap_or_else(PoisonError::into_inner).iter());
    served
}

/// How clients come in.
enum Door {
    Stdio,
    Http { address: SocketAddr, options: HttpOptions, token_is_new: bool },
}

impl Door {
    fn of(options: &ServeOptions) -> Result<Self> {
        let Some(address) = options.http else { return Ok(Self::Stdio) };
        ensure!(
            address.ip().is_loopback() || !options.allow_remote.is_empty(),
            "other machines reach {address}. If they should, say under which name: --allow-remote HOST. Whoever has the token \
             can then call the tools, and everybody in between can read it: put something that speaks TLS in front"
        );
        let token = match &options.token_env {
            Some(name) => {
                let text = std::env::var(name).with_context(|| format!("--token-env {name}"))?;
                Token::chosen(&text).with_context(|| format!("--token-env {name}"))?
            }
            None => Token::random().context("no token can be made up")?,
        };
        let remote = options.allow_remote.iter().cloned();
        let hosts = LOOPBACK.iter().map(|host| (*host).to_owned()).chain(remote).collect();
        let http = HttpOptions { token, hosts, origins: options.allow_origin.clone() };
        Ok(Self::Http { address, options: http, token_is_new: options.token_env.is_none() })
    }
}

fn setup(options: &ServeOptions) -> Setup {
    Setup {
        model_is_optional: true,
        tools: (!options.builtin.is_empty()).then(|| options.builtin.clone()),
        no_tools: options.builtin.is_empty(),
        permissions: options.permissions,
        add_dir: options.add_dir.clone(),
        extensions: options.extensions.clone(),
        // For models of one's own.
        no_context_files: true,
        ..Setup::default()
    }
}

fn tools_of(
    session: &AgentSession,
    live: Arc<Live>,
    records: Option<tokio::sync::mpsc::UnboundedReceiver<capstan_agent::trace::HookRecord>>,
) -> SessionTools {
    let config = config_of(session);
    let turn = TurnContext {
        session_id: session.id(),
        turn: 0,
        round: 0,
        model: config.model.info().full_name().into(),
    };
    SessionTools::new(config, turn, live, records)
}

/// The session's configuration, of which calls need hooks, permissions, observers and limits.
fn config_of(session: &AgentSession) -> AgentLoopConfig {
    let mut copy = None;
    session.agent().configure(|config| copy = Some(config.clone()));
    // The closure runs at once.
    copy.unwrap_or_else(|| {
        AgentLoopConfig::new(Arc::new(model::NoModel::because(&anyhow::anyhow!("no model"))))
    })
}

/// One run of the server is one session to extensions.
async fn tell_hooks(session: &AgentSession, event: SessionLifecycle) {
    config_of(session).hooks.current().session_lifecycle(&session.id(), event).await;
}

async fn until_told_to_end(host: Arc<SessionTools>, door: Door) -> Result<ExitCode> {
    let stop = CancellationToken::new();
    let stops = print::stops()?;
    tokio::pin!(stops);
    let serving = serve(host, door, stop.clone());
    tokio::pin!(serving);
    let stopped = tokio::select! {
        served = &mut serving => return served.map(|()| ExitCode::SUCCESS),
        Some(stopped) = stops.next() => stopped?,
    };
    stop.cancel();
    tokio::select! {
        served = serving => served?,
        // Whoever says it twice does not want to wait.
        Some(again) = stops.next() => drop(again?),
    }
    Ok(stopped.exit_code())
}

async fn serve(host: Arc<dyn ToolHost>, door: Door, stop: CancellationToken) -> Result<()> {
    match door {
        Door::Stdio => {
            if std::io::stdin().is_terminal() {
                screen::note(
                    "capstan: this speaks the Model Context Protocol on stdin and stdout; a client starts it. Over HTTP: \
                     capstan mcp serve --http",
                );
            }
            Ok(server::serve_stdio(host, tokio::io::stdin(), tokio::io::stdout(), stop).await?)
        }
        Door::Http { address, options, token_is_new } => {
            let listener = TcpListener::bind(address).await.with_context(|| {
                format!("there can be no server at {address}; --http PORT takes another port, 0 a free one")
            })?;
            let address = listener.local_addr()?;
            screen::note(&format!("capstan: MCP server at http://{address}{}", server::PATH));
            if token_is_new {
                screen::note(&format!(
                    "capstan: clients send `Authorization: Bearer {}`",
                    options.token.reveal()
                ));
            }
            Ok(server::serve_http(host, listener, options, stop).await?)
        }
    }
}
