//! Decides on one call before anything runs: lookup, prepare, validate, gates, permission, in this order.

use crate::arguments::malformed_report;
use crate::error::panic_text;
use crate::gate::{Approval, Gated};
use crate::hooks::{HookChain, TurnAbort};
use crate::registry::{ToolEntry, ToolSet};
use crate::result::{ABORTED, failure};
use capstan_ports::hook::HookContext;
use capstan_ports::{CallAccess, Permission, PermissionPort, ToolCall, ToolOutcome};
use futures::FutureExt;
use serde_json::{Value, json};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// What was decided on a call.
pub(crate) enum Preflight {
    /// Run it. The call holds the arguments as they are after every rewrite.
    Ready(ReadyCall),
    /// Do not run it; this is its result.
    Settled(ToolOutcome),
    /// Do not run it now, for this reason; the turn ends after the batch.
    Deferred(String),
    /// Do not run it, and end the turn.
    TurnAborted(TurnAbort),
}

/// A call that may run.
pub(crate) struct ReadyCall {
    pub(crate) entry: Arc<ToolEntry>,
    pub(crate) call: ToolCall,
}

/// What a decision needs besides the call.
pub(crate) struct Gatekeeper<'a> {
    pub(crate) tools: &'a ToolSet,
    pub(crate) hooks: &'a HookChain,
    pub(crate) permissions: &'a dyn PermissionPort,
    pub(crate) context: &'a HookContext,
    pub(crate) approval: Approval,
}

impl Gatekeeper<'_> {
    /// Decides on `call`. An abort ends the decision at whatever it waits for, a person's answer included.
    pub(crate) async fn decide(&self, call: &ToolCall) -> Preflight {
        tokio::select! {
            biased;
            () = self.context.cancel.cancelled() => Preflight::Settled(failure(ABORTED)),
            decision = self.steps(call) => decision.unwrap_or_else(Preflight::Settled),
        }
    }

    async fn steps(&self, call: &ToolCall) -> Result<Preflight, ToolOutcome> {
        let entry =
            self.tools.get(&call.name).ok_or_else(|| failure(format!("Tool {} not found", call.name)))?;
        if let Some(written) = &call.malformed {
            return Err(failure(malformed_report(call, written)));
        }
        let definition = entry.tool.definition();
        let prepared = prepare(entry, call).await?;
        let arguments = entry.schema.check(definition, prepared, &call.arguments).map_err(failure)?;
        let call = ToolCall { arguments, ..call.clone() };
        let revalidate = |rewritten: Value| entry.schema.check(definition, rewritten.clone(), &rewritten);
        let call =
            match self.hooks.gate(self.context, call, self.approval, &revalidate, self.permissions).await {
                Gated::Pass(call) => call,
                Gated::Refused(reason) => return Err(failure(reason)),
                Gated::Deferred(reason) => return Ok(Preflight::Deferred(reason)),
                Gated::TurnAborted(abort) => return Ok(Preflight::TurnAborted(abort)),
            };
        let access = access(entry, &call)?;
        match self.permissions.decide(&self.context.turn, &call, &access).await {
            Permission::Allow => Ok(Preflight::Ready(ReadyCall { entry: entry.clone(), call })),
            Permission::Deny(reason) => Err(failure(reason)),
        }
    }
}

/// The result of a call that was put off. The model learns that nothing was done and why; a program finds the reason in
/// the details (X13).
pub(crate) fn deferred(reason: &str) -> ToolOutcome {
    let text = format!("Not executed, it needs approval: {reason}");
    ToolOutcome { details: Some(json!({ "deferred": true, "reason": reason })), ..ToolOutcome::error(text) }
}

async fn prepare(entry: &ToolEntry, call: &ToolCall) -> Result<Value, ToolOutcome> {
    match AssertUnwindSafe(entry.tool.prepare(call.arguments.clone())).catch_unwind().await {
        Ok(prepared) => prepared.map_err(|error| failure(error.to_string())),
        Err(payload) => Err(panicked(&call.name, payload.as_ref())),
    }
}

fn access(entry: &ToolEntry, call: &ToolCall) -> Result<CallAccess, ToolOutcome> {
    std::panic::catch_unwind(AssertUnwindSafe(|| entry.tool.access(&call.arguments)))
        .map_err(|payload| panicked(&call.name, payload.as_ref()))
}

/// The result of a call whose tool panicked.
pub(crate) fn panicked(tool: &str, payload: &(dyn std::any::Any + Send)) -> ToolOutcome {
    failure(format!("The tool {tool} panicked: {}", panic_text(payload)))
}
