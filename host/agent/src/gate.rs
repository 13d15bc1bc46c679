//! The hooks around a tool call: gates before it, amenders after it.

use crate::hooks::{HookChain, Member, Silence, TurnAbort};
use crate::result::failure;
use crate::trace::HookEffect;
use capstan_ports::hook::HookContext;
use capstan_ports::{
    Amendment, Failure, GateVerdict, HookError, HookStage, Permission, PermissionPort, ToolCall, ToolOutcome,
};
use serde_json::Value;

/// What a call gets whose gate gave no reason (000-132).
const BLOCKED: &str = "Tool execution was blocked";

/// What the gates of one call add up to.
#[derive(Debug, PartialEq)]
pub(crate) enum Gated {
    /// Go on with this call, whose arguments may have changed and are valid.
    Pass(ToolCall),
    /// The model reads why not.
    Refused(String),
    /// The model is told, and the turn ends after this batch.
    Deferred(String),
    /// The turn ends now.
    TurnAborted(TurnAbort),
}

/// Turns rewritten arguments into valid ones, or says what is wrong with them.
pub(crate) type Revalidate<'a> = &'a (dyn Fn(Value) -> Result<Value, String> + Sync);

/// Whether a person has already agreed to a call that a gate had put off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Approval {
    Open,
    /// Putting it off again is no answer any more. Blocking it still is.
    Given,
}

impl HookChain {
    /// Asks the gates. Each sees the arguments as the ones before it left them; the first that objects decides.
    pub(crate) async fn gate(
        &self,
        context: &HookContext,
        mut call: ToolCall,
        approval: Approval,
        revalidate: Revalidate<'_>,
        people: &dyn PermissionPort,
    ) -> Gated {
        const STAGE: HookStage = HookStage::BeforeToolCall;
        for member in self.members(STAGE) {
            if !member.takes_part(STAGE, &call.name) {
                continue;
            }
            let hook = member.hook.as_ref();
            let verdict = self.ask(member, hook.before_tool_call(context, &call)).await;
            match verdict.map_err(Silence::into_error) {
                Ok(GateVerdict::Pass) => self.record(member, STAGE, &call.id, || HookEffect::Passed),
                Ok(GateVerdict::Rewrite(arguments)) => {
                    if let Err(reason) = self.rewrite(member, &mut call, arguments, revalidate) {
                        return Gated::Refused(reason);
                    }
                }
                Ok(GateVerdict::RewriteAndAsk { arguments, question }) => {
                    if let Err(reason) = self.rewrite(member, &mut call, arguments, revalidate) {
                        return Gated::Refused(reason);
                    }
                    if let Err(reason) = self.put_to_a_person(member, context, &call, &question, people).await
                    {
                        return Gated::Refused(reason);
                    }
                }
                Ok(GateVerdict::Block(reason)) => {
                    let reason = if reason.is_empty() { BLOCKED.to_owned() } else { reason };
                    self.record(member, STAGE, &call.id, || HookEffect::Blocked(reason.clone()));
                    return Gated::Refused(reason);
                }
                Ok(GateVerdict::Defer(reason)) | Err(HookError::Deferred { reason }) => {
                    if approval == Approval::Given {
                        self.record(member, STAGE, &call.id, || HookEffect::Asked { allowed: true });
                        continue;
                    }
                    self.record(member, STAGE, &call.id, || HookEffect::Deferred(reason.clone()));
                    return Gated::Deferred(reason);
                }
                Ok(GateVerdict::Ask(question)) => {
                    if let Err(reason) = self.put_to_a_person(member, context, &call, &question, people).await
                    {
                        return Gated::Refused(reason);
                    }
                }
                Err(HookError::Aborted { reason }) => {
                    self.record(member, STAGE, &call.id, || HookEffect::Aborted(reason.clone()));
                    return Gated::TurnAborted(TurnAbort { hook: hook.name().to_owned(), reason });
                }
                Err(failed @ HookError::Failed { .. }) => {
                    self.record(member, STAGE, &call.id, || HookEffect::Failed(failed.to_string()));
                    return Gated::Refused(failed.to_string());
                }
            }
        }
        Gated::Pass(call)
    }

    /// Puts valid arguments into the call, or says why it is refused.
    fn rewrite(
        &self,
        member: &Member,
        call: &mut ToolCall,
        arguments: Value,
        revalidate: Revalidate<'_>,
    ) -> Result<(), String> {
        match revalidate(arguments) {
            Ok(arguments) => {
                call.arguments = arguments;
                self.record(member, HookStage::BeforeToolCall, &call.id, || HookEffect::Changed);
                Ok(())
            }
            Err(report) => {
                let name = member.hook.name();
                let text = format!("The arguments as the hook {name} rewrote them do not fit. {report}");
                self.record(member, HookStage::BeforeToolCall, &call.id, || HookEffect::Failed(text.clone()));
                Err(text)
            }
        }
    }

    /// Has a person decide about the call as it stands; the error is why it is refused.
    async fn put_to_a_person(
        &self,
        member: &Member,
        context: &HookContext,
        call: &ToolCall,
        question: &str,
        people: &dyn PermissionPort,
    ) -> Result<(), String> {
        let answer = people.ask(&context.turn, call, member.hook.name(), question).await;
        let allowed = answer == Permission::Allow;
        self.record(member, HookStage::BeforeToolCall, &call.id, || HookEffect::Asked { allowed });
        match answer {
            Permission::Allow => Ok(()),
            Permission::Deny(reason) => Err(reason),
        }
    }

    /// Lets hooks change the result of a call that ran, in reverse order: the hook that was first before the call has the
    /// last word after it. Each sees what the ones called before made of it, and all are asked even after one failed: the
    /// one that takes secrets out may come last.
    pub(crate) async fn amend(
        &self,
        context: &HookContext,
        call: &ToolCall,
        mut outcome: ToolOutcome,
    ) -> (ToolOutcome, Option<TurnAbort>) {
        const STAGE: HookStage = HookStage::AfterToolCall;
        let mut abort = None;
        for member in self.members(STAGE).iter().rev() {
            if !member.takes_part(STAGE, &call.name) {
                continue;
            }
            let answer = self.ask(member, member.hook.after_tool_call(context, call, &outcome)).await;
            match answer.map_err(Silence::into_error) {
                Ok(None) => self.record(member, STAGE, &call.id, || HookEffect::Passed),
                Ok(Some(amendment)) => {
                    apply(&mut outcome, amendment);
                    self.record(member, STAGE, &call.id, || HookEffect::Changed);
                }
                Err(error) => {
                    self.record(member, STAGE, &call.id, || HookEffect::Failed(error.to_string()));
                    outcome = failure(error.to_string());
                    if let HookError::Aborted { reason } | HookError::Deferred { reason } = error {
                        let hook = member.hook.name().to_owned();
                        abort.get_or_insert(TurnAbort { hook, reason });
                    }
                }
            }
        }
        (outcome, abort)
    }

    /// Tells that a call failed.
    pub(crate) async fn tool_error(&self, context: &HookContext, call: &ToolCall, failure: &Failure) {
        const STAGE: HookStage = HookStage::ToolError;
        for member in self.members(STAGE).iter().rev() {
            if member.takes_part(STAGE, &call.name) {
                let told = self.ask(member, member.hook.tool_error(context, call, failure)).await;
                self.told(member, STAGE, &call.id, told);
            }
        }
    }
}

/// Per field, as a whole: nothing is merged (000-136).
fn apply(outcome: &mut ToolOutcome, amendment: Amendment) {
    let Amendment { content, details, is_error, terminate } = amendment;
    if let Some(content) = content {
        outcome.content = content;
    }
    if details.is_some() {
        outcome.details = details;
    }
    if let Some(is_error) = is_error {
        outcome.is_error = is_error;
    }
    outcome.terminate |= terminate;
}
