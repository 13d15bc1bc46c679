//! The hooks around a tool call: gates before it, amenders after it.

use crate::change;
use crate::hooks::{About, HookChain, Member, Silence, TurnAbort};
use crate::result::failure;
use crate::trace::HookEffect;
use capstan_ports::hook::HookContext;
use capstan_ports::{
    Amendment, Failure, GateVerdict, HookError, HookStage, Permission, PermissionPort, ToolCall, ToolOutcome,
};
use serde_json::Value;
use std::time::Duration;

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

/// What ends the gating, and how the record shows it.
type End = (HookEffect, Gated);

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
        let mut members = self.members(STAGE).iter();
        while let Some(member) = members.next() {
            if !self.is_asked(member, About::call(STAGE, &call)) {
                continue;
            }
            let hook = member.hook.as_ref();
            let (verdict, took) = self.ask(member, hook.before_tool_call(context, &call)).await;
            let (effect, end) = match verdict.map_err(Silence::into_error) {
                Ok(GateVerdict::Pass) => {
                    self.record(member, About::call(STAGE, &call).took(took), || HookEffect::Passed);
                    continue;
                }
                Ok(GateVerdict::Rewrite(arguments)) => {
                    match self.rewrite(member, &mut call, arguments, revalidate, took) {
                        Ok(()) => continue,
                        Err(end) => *end,
                    }
                }
                Ok(GateVerdict::RewriteAndAsk { arguments, question }) => {
                    match self.rewrite(member, &mut call, arguments, revalidate, took) {
                        Ok(()) => {
                            match self.put_to_a_person(member, context, &call, &question, people, took).await
                            {
                                Ok(()) => continue,
                                Err(end) => *end,
                            }
                        }
                        Err(end) => *end,
                    }
                }
                Ok(GateVerdict::Block(reason)) => {
                    let reason = if reason.is_empty() { BLOCKED.to_owned() } else { reason };
                    (HookEffect::Blocked(reason.clone()), Gated::Refused(reason))
                }
                Ok(GateVerdict::Defer(reason)) | Err(HookError::Deferred { reason }) => {
                    if approval == Approval::Given {
                        let about = About::call(STAGE, &call).took(took);
                        self.record(member, about, || HookEffect::Asked { allowed: true });
                        continue;
                    }
                    (HookEffect::Deferred(reason.clone()), Gated::Deferred(reason))
                }
                Ok(GateVerdict::Ask(question)) => {
                    match self.put_to_a_person(member, context, &call, &question, people, took).await {
                        Ok(()) => continue,
                        Err(end) => *end,
                    }
                }
                Err(HookError::Aborted { reason }) => {
                    let abort = TurnAbort { hook: hook.name().to_owned(), reason: reason.clone() };
                    (HookEffect::Aborted(reason), Gated::TurnAborted(abort))
                }
                Err(failed @ HookError::Failed { .. }) => {
                    (HookEffect::Failed(failed.to_string()), Gated::Refused(failed.to_string()))
                }
            };
            let about = About::call(STAGE, &call).took(took);
            self.record(member, about, || effect);
            self.decided(member, members.as_slice(), about);
            return end;
        }
        Gated::Pass(call)
    }

    /// Puts valid arguments into the call, or says how the gating ends.
    fn rewrite(
        &self,
        member: &Member,
        call: &mut ToolCall,
        arguments: Value,
        revalidate: Revalidate<'_>,
        took: Duration,
    ) -> Result<(), Box<End>> {
        match revalidate(arguments) {
            Ok(arguments) => {
                let about = About::call(HookStage::BeforeToolCall, call).took(took);
                self.record(member, about, || {
                    HookEffect::Changed(change::of_arguments(&call.arguments, &arguments))
                });
                call.arguments = arguments;
                Ok(())
            }
            Err(report) => {
                let name = member.hook.name();
                let text = format!("The arguments as the hook {name} rewrote them do not fit. {report}");
                Err(Box::new((HookEffect::Failed(text.clone()), Gated::Refused(text))))
            }
        }
    }

    /// Has a person decide about the call as it stands, or says how the gating ends.
    async fn put_to_a_person(
        &self,
        member: &Member,
        context: &HookContext,
        call: &ToolCall,
        question: &str,
        people: &dyn PermissionPort,
        took: Duration,
    ) -> Result<(), Box<End>> {
        match people.ask(&context.turn, call, member.hook.name(), question).await {
            Permission::Allow => {
                let about = About::call(HookStage::BeforeToolCall, call).took(took);
                self.record(member, about, || HookEffect::Asked { allowed: true });
                Ok(())
            }
            Permission::Deny(reason) => {
                Err(Box::new((HookEffect::Asked { allowed: false }, Gated::Refused(reason))))
            }
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
            let about = About::call(STAGE, call);
            if !self.is_asked(member, about) {
                continue;
            }
            let (answer, took) = self.ask(member, member.hook.after_tool_call(context, call, &outcome)).await;
            let about = about.took(took);
            match answer.map_err(Silence::into_error) {
                Ok(None) => self.record(member, about, || HookEffect::Passed),
                Ok(Some(amendment)) => {
                    self.record(member, about, || {
                        HookEffect::Changed(change::of_outcome(&outcome, &amendment))
                    });
                    apply(&mut outcome, amendment);
                }
                Err(error) => {
                    self.record(member, about, || HookEffect::Failed(error.to_string()));
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
            if self.is_asked(member, About::call(STAGE, call)) {
                let (told, took) = self.ask(member, member.hook.tool_error(context, call, failure)).await;
                self.told(member, About::call(STAGE, call).took(took), told);
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
