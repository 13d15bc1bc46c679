//! The hooks around turns and model calls.

use crate::change;
use crate::hooks::{About, HookChain, Member, Silence, TurnAbort};
use crate::trace::{FieldChange, HookEffect};
use crate::transcript::is_sound;
use capstan_ports::hook::HookContext;
use capstan_ports::{
    AssistantMessage, CompactionReason, Failure, HookError, HookStage, Message, PlanStepStatus, SessionId,
    SessionLifecycle, Verdict,
};
use std::sync::Arc;
use std::time::Duration;

impl HookChain {
    /// Lets hooks rewrite the user's message or refuse the turn. The result is the message to go on with, if it changed.
    pub(crate) async fn before_turn(
        &self,
        context: &HookContext,
        input: &Arc<Message>,
    ) -> Result<Option<Arc<Message>>, TurnAbort> {
        const STAGE: HookStage = HookStage::BeforeTurn;
        let mut changed = None;
        let mut members = self.members(STAGE).iter();
        while let Some(member) = members.next() {
            if !self.is_asked(member, About::stage(STAGE)) {
                continue;
            }
            let current = changed.as_ref().unwrap_or(input);
            let (answer, took) = self.ask(member, member.hook.before_turn(context, current)).await;
            let about = About::stage(STAGE).took(took);
            match self.verdict(member, about, answer) {
                Ok(Some(message @ (Message::User(_) | Message::Custom(_)))) => {
                    self.changed(member, about, || change::of_content(current.content(), message.content()));
                    changed = Some(Arc::new(message));
                }
                Ok(Some(other)) => {
                    self.refuse(member, about, format!("a {} message is no input", other.role()));
                }
                Ok(None) => {}
                Err(abort) => {
                    self.decided(member, members.as_slice(), about);
                    return Err(abort);
                }
            }
        }
        Ok(changed)
    }

    /// Lets hooks rewrite what the model is sent.
    pub(crate) async fn before_model(
        &self,
        context: &HookContext,
        messages: &[Arc<Message>],
    ) -> Result<Option<Vec<Arc<Message>>>, TurnAbort> {
        const STAGE: HookStage = HookStage::BeforeModel;
        let mut changed: Option<Vec<Arc<Message>>> = None;
        let mut members = self.members(STAGE).iter();
        while let Some(member) = members.next() {
            if !self.is_asked(member, About::stage(STAGE)) {
                continue;
            }
            let current = changed.as_deref().unwrap_or(messages);
            let (answer, took) = self.ask(member, member.hook.before_model(context, current)).await;
            let about = About::stage(STAGE).took(took);
            match self.verdict(member, about, answer) {
                Ok(Some(list)) if list.is_empty() => {
                    self.refuse(member, about, "an empty list cannot be sent".to_owned());
                }
                Ok(Some(list)) if is_sound(&list) => {
                    self.changed(member, about, || change::of_length("messages", current.len(), list.len()));
                    changed = Some(list);
                }
                Ok(Some(_)) => {
                    let text = "in its list a call lacks its result, or a result its call";
                    self.refuse(member, about, text.to_owned());
                }
                Ok(None) => {}
                Err(abort) => {
                    self.decided(member, members.as_slice(), about);
                    return Err(abort);
                }
            }
        }
        Ok(changed)
    }

    /// Lets hooks rewrite an answer, in reverse order. All are asked, also after one ended the turn; the first reason
    /// counts.
    pub(crate) async fn after_model(
        &self,
        context: &HookContext,
        answer: &mut AssistantMessage,
    ) -> Result<(), TurnAbort> {
        const STAGE: HookStage = HookStage::AfterModel;
        let mut ended = Ok(());
        for member in self.asked(STAGE) {
            let (said, took) = self.ask(member, member.hook.after_model(context, answer)).await;
            let about = About::stage(STAGE).took(took);
            match self.verdict(member, about, said) {
                Ok(Some(rewritten)) => {
                    self.changed(member, about, || change::of_content(&answer.content, &rewritten.content));
                    answer.content = rewritten.content;
                }
                Ok(None) => {}
                Err(abort) => ended = ended.and(Err(abort)),
            }
        }
        ended
    }

    /// Tells that a model call failed for good.
    pub(crate) async fn model_error(&self, context: &HookContext, failure: &Failure) {
        const STAGE: HookStage = HookStage::ModelError;
        for member in self.asked(STAGE) {
            let (told, took) = self.ask(member, member.hook.model_error(context, failure)).await;
            self.told(member, About::stage(STAGE).took(took), told);
        }
    }

    /// Tells that a model call is made again.
    pub(crate) async fn retrying(
        &self,
        context: &HookContext,
        attempt: u32,
        delay: Duration,
        failure: &Failure,
    ) {
        const STAGE: HookStage = HookStage::ModelError;
        for member in self.asked(STAGE) {
            let (told, took) = self.ask(member, member.hook.retrying(context, attempt, delay, failure)).await;
            self.told(member, About::stage(STAGE).took(took), told);
        }
    }

    /// Tells that a turn ended well.
    pub(crate) async fn after_turn(&self, context: &HookContext, answer: &Message, results: &[Arc<Message>]) {
        const STAGE: HookStage = HookStage::AfterTurn;
        for member in self.asked(STAGE) {
            let (told, took) = self.ask(member, member.hook.after_turn(context, answer, results)).await;
            self.told(member, About::stage(STAGE).took(took), told);
        }
    }

    /// Tells that a turn failed.
    pub(crate) async fn turn_error(&self, context: &HookContext, failure: &Failure) {
        const STAGE: HookStage = HookStage::TurnError;
        for member in self.asked(STAGE) {
            let (told, took) = self.ask(member, member.hook.turn_error(context, failure)).await;
            self.told(member, About::stage(STAGE).took(took), told);
        }
    }

    /// Tells that a step of a plan changed its status.
    pub async fn plan_step(&self, context: &HookContext, step: u32, status: &PlanStepStatus) {
        const STAGE: HookStage = HookStage::PlanStep;
        if !self.has(STAGE) {
            return;
        }
        let context = &context.clone().of_plan_step(step as usize);
        for member in self.asked(STAGE) {
            let (told, took) = self.ask(member, member.hook.plan_step(context, step, status)).await;
            self.told(member, About::stage(STAGE).took(took), told);
        }
    }

    /// Asks whether somebody objects to the conversation being shortened. The first objection counts.
    pub(crate) async fn before_compaction(
        &self,
        context: &HookContext,
        reason: CompactionReason,
    ) -> Option<TurnAbort> {
        const STAGE: HookStage = HookStage::SessionLifecycle;
        for member in self.members(STAGE).iter() {
            if !self.is_asked(member, About::stage(STAGE)) {
                continue;
            }
            let (answer, took) = self.ask(member, member.hook.before_compaction(context, reason)).await;
            let reason = match answer {
                Ok(None) => continue,
                Ok(Some(reason))
                | Err(Silence::Said(HookError::Aborted { reason } | HookError::Deferred { reason })) => {
                    reason
                }
                Err(silence) => {
                    self.report(member, About::stage(STAGE).took(took), silence);
                    continue;
                }
            };
            self.record(member, About::stage(STAGE).took(took), || HookEffect::Blocked(reason.clone()));
            return Some(TurnAbort { hook: member.hook.name().to_owned(), reason });
        }
        None
    }

    /// Tells what happened to a session.
    pub async fn session_lifecycle(&self, session: &SessionId, event: SessionLifecycle) {
        const STAGE: HookStage = HookStage::SessionLifecycle;
        for member in self.asked(STAGE) {
            let (told, took) = self.ask(member, member.hook.session_lifecycle(session, event)).await;
            self.told(member, About::stage(STAGE).took(took), told);
        }
    }

    /// The hooks to be asked at a stage that runs in reverse.
    fn asked(&self, stage: HookStage) -> impl Iterator<Item = &Member> {
        let members = self.members(stage).iter().rev();
        members.filter(move |member| self.is_asked(member, About::stage(stage)))
    }

    /// What a rewriter wants in place of its subject; the caller judges and records it. A failure leaves the subject as it
    /// is.
    fn verdict<T>(
        &self,
        member: &Member,
        about: About<'_>,
        answer: Result<Verdict<T>, Silence>,
    ) -> Result<Option<T>, TurnAbort> {
        match answer {
            Ok(Verdict::Proceed) => {
                self.record(member, about, || HookEffect::Passed);
                Ok(None)
            }
            Ok(Verdict::Rewrite(rewritten)) => Ok(Some(rewritten)),
            Ok(Verdict::Abort(reason))
            | Err(Silence::Said(HookError::Aborted { reason } | HookError::Deferred { reason })) => {
                self.record(member, about, || HookEffect::Aborted(reason.clone()));
                Err(TurnAbort { hook: member.hook.name().to_owned(), reason })
            }
            Err(silence) => {
                self.report(member, about, silence);
                Ok(None)
            }
        }
    }

    fn changed(&self, member: &Member, about: About<'_>, change: impl FnOnce() -> FieldChange) {
        self.record(member, about, || HookEffect::Changed(vec![change()]));
    }

    fn refuse(&self, member: &Member, about: About<'_>, message: String) {
        let (hook, source) = (member.hook.name().to_owned(), None);
        self.report(member, about, Silence::Said(HookError::Failed { hook, message, source }));
    }

    pub(crate) fn told(&self, member: &Member, about: About<'_>, told: Result<(), Silence>) {
        match told {
            Ok(()) => self.record(member, about, || HookEffect::Passed),
            Err(silence) => self.report(member, about, silence),
        }
    }
}

#[cfg(test)]
#[path = "stages_tests.rs"]
mod tests;
