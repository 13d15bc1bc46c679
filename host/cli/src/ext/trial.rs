//! One extension in force by itself, as `ext run` and `ext test` use it: the product's own sandbox, checks and limits, only
//! what the author grants, and neither a model nor a session.

use super::call::lacks;
use anyhow::{Context, Result, bail, ensure};
use capstan_agent::SessionFacts;
use capstan_agent::arguments::ArgumentSchema;
use capstan_engine::limits::LimitTable;
use capstan_engine::{Extension, ExtensionSettings, Inspected, Sandbox, Services};
use capstan_policy::{Effective, Places};
use capstan_ports::extension::{Access, Capability};
use capstan_ports::message::ToolCall;
use capstan_ports::session::SessionId;
use capstan_ports::tool::{Progress, ToolContext, TurnContext};
use capstan_ports::{Tool, ToolOutcome, TurnEventSink};
use capstan_storage::KeyValueFiles;
use capstan_tools::LocalPrograms;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What the extension gets.
pub(super) struct Given {
    /// `all`, or kinds of capabilities.
    pub(super) allow: Vec<String>,
    /// How far the workspace is granted beyond `allow`.
    pub(super) workspace: Option<Access>,
    /// What directory grants are relative to.
    pub(super) places: Places,
    /// Its configuration table.
    pub(super) config: Value,
    /// Where it keeps what it keeps.
    pub(super) storage: Arc<KeyValueFiles>,
    /// Hears its events.
    pub(super) events: Option<Arc<dyn TurnEventSink>>,
    /// What its call may use.
    pub(super) limits: Arc<LimitTable>,
}

/// Puts an extension into force with what is given and nothing else.
///
/// # Errors
/// When something is to be granted that it does not ask for or that this version cannot enforce, when its configuration does
/// not fit its schema, and when a granted directory cannot be given.
pub(super) fn put_in_force(sandbox: &Sandbox, file: Inspected, given: Given) -> Result<Extension> {
    let descriptor = &file.surface.descriptor;
    let granted = granted(descriptor.requests.iter().map(|request| &request.capability), &given)?;
    let effective = Effective::of(&descriptor.requests, &granted);
    let services = Services {
        storage: Some(given.storage),
        events: given.events,
        programs: Some(Arc::new(LocalPrograms::new())),
        session_memory: Some(Arc::new(SessionFacts::default())),
        ..Services::default()
    };
    let settings =
        ExtensionSettings { config: given.config, places: given.places, services, limits: given.limits };
    Ok(sandbox.extension(file, effective, &settings)?)
}

fn granted<'a>(
    requests: impl Iterator<Item = &'a Capability> + Clone,
    given: &Given,
) -> Result<BTreeSet<Capability>> {
    let all = given.allow.iter().any(|kind| kind == "all");
    let mut granted = BTreeSet::new();
    for kind in given.allow.iter().filter(|kind| *kind != "all") {
        let mut of_kind = requests.clone().filter(|wish| kind_of(wish) == *kind).peekable();
        if of_kind.peek().is_none() {
            let kinds: BTreeSet<_> = requests.clone().map(kind_of).collect();
            let kinds: Vec<_> = kinds.into_iter().collect();
            let asks = if kinds.is_empty() {
                "it asks for nothing".to_owned()
            } else {
                format!("it asks for {}", kinds.join(", "))
            };
            bail!("it does not ask for `{kind}`, so that cannot be granted; {asks}");
        }
        granted.extend(of_kind.cloned());
    }
    if all {
        granted.extend(requests.clone().cloned());
    }
    if let Some(access) = given.workspace {
        let mut of_workspace = requests.clone().filter(|wish| is_of_workspace(wish)).peekable();
        ensure!(
            of_workspace.peek().is_some(),
            "it does not ask for a folder of the workspace, so none can be granted"
        );
        for wish in of_workspace {
            match (wish, access) {
                (Capability::Directory { access: Access::ReadWrite, .. }, Access::ReadOnly) if !all => bail!(
                    "it asks to {wish}, and for less than it asks there is no grant; for writing, add `:rw` to the folder"
                ),
                _ => granted.insert(wish.clone()),
            };
        }
    }
    Ok(granted)
}

/// The word for a capability on the command line and in files of cases: its kind, or the name of a power.
pub(super) fn kind_of(capability: &Capability) -> String {
    let name = |value: serde_json::Result<Value>, field: &str| match value {
        Ok(value) => value[field].as_str().unwrap_or_default().to_owned(),
        Err(reason) => reason.to_string(),
    };
    let field = if matches!(capability, Capability::Power { .. }) { "power" } else { "kind" };
    name(serde_json::to_value(capability), field)
}

fn is_of_workspace(capability: &Capability) -> bool {
    matches!(capability, Capability::Directory { path, .. } if path == "." || path.starts_with("./"))
}

/// Whether a grant means the same on every machine and reaches nothing of the user's.
pub(super) fn is_repeatable(capability: &Capability) -> bool {
    match capability {
        Capability::Directory { .. } => is_of_workspace(capability),
        Capability::KeyValue { .. } | Capability::SessionMemory | Capability::Power { .. } => true,
        Capability::Http { .. }
        | Capability::Secret { .. }
        | Capability::Environment { .. }
        | Capability::Process { .. }
        | Capability::Model { .. } => false,
    }
}

/// Where every call of a trial happens.
pub(super) fn turn() -> TurnContext {
    TurnContext { session_id: SessionId::new("trial"), turn: 0, round: 0, model: Arc::from("none/none") }
}

/// Why there is no result.
#[derive(Debug)]
pub(super) struct Failure(pub(super) String);

impl Failure {
    /// The call was aborted from outside.
    pub(super) fn stopped() -> Self {
        Self("it was aborted".to_owned())
    }
}

/// Calls a tool as the agent does: prepare, validate, execute. A call that fails in the sandbox is a [`Failure`], which is
/// as much an answer as a result is.
///
/// # Errors
/// When there is no such tool.
pub(super) async fn call_tool(
    extension: &Extension,
    name: &str,
    arguments: Value,
    progress: Arc<dyn Progress>,
    cancel: &CancellationToken,
) -> Result<Result<ToolOutcome, Failure>> {
    let tools = extension.tools();
    let tool = tools.iter().find(|tool| tool.definition().name == name).with_context(|| {
        lacks(extension, "tool", name, tools.iter().map(|tool| tool.definition().name.as_str()))
    })?;
    Ok(execute(tool.as_ref(), arguments, progress, cancel).await.map_err(Failure))
}

async fn execute(
    tool: &dyn Tool,
    written: Value,
    progress: Arc<dyn Progress>,
    cancel: &CancellationToken,
) -> Result<ToolOutcome, String> {
    let prepared = tool.prepare(written.clone()).await.map_err(|error| error.to_string())?;
    let arguments = ArgumentSchema::default().check(tool.definition(), prepared, &written)?;
    let call =
        ToolCall { id: "trial".to_owned(), name: tool.definition().name.clone(), arguments, malformed: None };
    let context = ToolContext { turn: turn(), cancel: cancel.clone(), progress };
    tool.execute(&call, &context).await.map_err(|error| error.to_string())
}
