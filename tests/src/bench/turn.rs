//! A turn of the agent loop in process: a scripted model that calls a tool which does nothing, round after round.

use anyhow::{Result, ensure};
use capstan_agent::{Agent, AgentLoopConfig, AgentSession, HookChain, TypedTool};
use capstan_ports::{Message, Model, ModelInfo, ModelRequest, ModelStream, SessionLog, ToolOutcome};
use capstan_provider::{Answer, ScriptedModel};
use capstan_session::MemorySession;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// A turn that is ready to run.
pub(crate) struct Turn {
    agent: Agent,
    /// Keeps the turn, where there is one.
    session: Option<AgentSession>,
    rounds: usize,
}

impl Turn {
    /// A turn of a session in memory, without hooks.
    pub(crate) fn logged(rounds: usize) -> Result<Self> {
        let log: Arc<dyn SessionLog> = Arc::new(MemorySession::new(Path::new("/")));
        Self::new(rounds, Some(log), HookChain::default())
    }

    /// So many rounds with a call, and one more for the last answer.
    pub(crate) fn new(rounds: usize, log: Option<Arc<dyn SessionLog>>, hooks: HookChain) -> Result<Self> {
        let config = AgentLoopConfig::new(Arc::new(Forgetful(script(rounds))));
        config.hooks.replace(hooks);
        let (agent, session) = match log {
            None => (Agent::with_config(config), None),
            Some(log) => {
                let session = AgentSession::open(config, log)?;
                (session.agent().clone(), Some(session))
            }
        };
        let tool = TypedTool::new("noop", "Does nothing.", |_: BTreeMap<String, Value>, _| async {
            Ok(ToolOutcome::text("ok"))
        });
        agent.set_tools([Arc::new(tool) as _])?;
        Ok(Self { agent, session, rounds })
    }

    /// Runs the turn. Returns what it added.
    pub(crate) fn run(&self, runtime: &Runtime) -> Result<Vec<Arc<Message>>> {
        let added = match &self.session {
            Some(session) => runtime.block_on(session.prompt_text("go")),
            None => runtime.block_on(self.agent.prompt_text("go")),
        };
        Ok(added?)
    }

    /// Makes sure that every round took place, with its call and its result.
    pub(crate) fn check(&self, added: &[Arc<Message>]) -> Result<()> {
        let n_results = added.iter().filter(|message| is_good_result(message)).count();
        ensure!(n_results == self.rounds, "{n_results} of {} calls were executed", self.rounds);
        Ok(())
    }
}

fn is_good_result(message: &Message) -> bool {
    matches!(message, Message::ToolResult(result) if !result.is_error)
}

/// So many calls, then a text.
pub(crate) fn script(rounds: usize) -> ScriptedModel {
    let calls = (0..rounds).map(|_| Answer::call("noop", json!({ "path": "src/lib.rs", "limit": 40 })));
    ScriptedModel::new(calls.chain([Answer::text("done")]))
}

/// Forgets what it is asked, as a model over HTTP does once it is sent. The script would keep it, and a list that someone
/// keeps is copied when it grows.
struct Forgetful(ScriptedModel);

impl Model for Forgetful {
    fn info(&self) -> &ModelInfo {
        self.0.info()
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        drop(request);
        self.0.stream(ModelRequest::default())
    }
}
