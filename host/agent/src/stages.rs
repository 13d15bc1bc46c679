//! The hooks around turns and model calls.

use crate::hooks::{HookChain, Member, Silence, TurnAbort};
use crate::trace::HookEffect;
use crate::transcript::is_sound;
use capstan_ports::hook::HookContext;
use capstan_ports::{
    AssistantMessage, Failure, HookError, HookStage, Message, PlanStepStatus, SessionId, SessionLifecycle,
    Verdict,
};
use std::sync::Arc;

impl HookChain {
    /// Lets hooks rewrite the user's message or refuse the turn. The result is the message to go on with, if it changed.
    pub(crate) async fn before_turn(
        &self,
        context: &HookContext,
        input: &Arc<Message>,
    ) -> Result<Option<Arc<Message>>, TurnAbort> {
        const STAGE: HookStage = HookStage::BeforeTurn;
        let mut changed = None;
        for member in self.members(STAGE).iter().filter(|member| member.is_on()) {
            let current = changed.as_ref().unwrap_or(input);
            let answer = self.ask(member, member.hook.before_turn(context, current)).await;
            match self.verdict(member, STAGE, answer)? {
                Some(message @ (Message::User(_) | Message::Custom(_))) => changed = Some(Arc::new(message)),
                Some(other) => self.refuse(member, STAGE, format!("a {} message is no input", other.role())),
                None => {}
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
        for member in self.members(STAGE).iter().filter(|member| member.is_on()) {
            let current = changed.as_deref().unwrap_or(messages);
            let answer = self.ask(member, member.hook.before_model(context, current)).await;
            match self.verdict(member, STAGE, answer)? {
                Some(list) if list.is_empty() => {
                    self.refuse(member, STAGE, "an empty list cannot be sent".to_owned());
                }
                Some(list) if is_sound(&list) => changed = Some(list),
                Some(_) => {
                    let text = "in its list a call lacks its result, or a result its call";
                    self.refuse(member, STAGE, text.to_owned());
                }
                None => {}
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
        for member in self.members(STAGE).iter().rev().filter(|member| member.is_on()) {
            let said = self.ask(member, member.hook.after_model(context, answer)).await;
            match self.verdict(member, STAGE, said) {
                Ok(Some(rewritten)) => answer.content = rewritten.content,
                Ok(None) => {}
                Err(abort) => ended = ended.and(Err(abort)),
            }
        }
        ended
    }

    /// Tells that a model call failed for good.
    pub(crate) async fn model_error(&self, context: &HookContext, failure: &Failure) {
        const STAGE: HookStage = HookStage::ModelError;
        for member in self.members(STAGE).iter().rev().filter(|member| member.is_on()) {
            let told = self.ask(member, member.hook.model_error(context, failure)).await;
            self.told(member, STAGE, "", told);
        }
    }

    /// Tells that a turn ended well.
    pub(crate) async fn after_turn(&self, context: &HookContext, answer: &Message, results: &[Arc<Message>]) {
        const STAGE: HookStage = HookStage::AfterTurn;
        for member in self.members(STAGE).iter().rev().filter(|member| member.is_on()) {
            let told = self.ask(member, member.hook.after_turn(context, answer, results)).await;
            self.told(member, STAGE, "", told);
        }
    }

    /// Tells that a turn failed.
    pub(crate) async fn turn_error(&self, context: &HookContext, failure: &Failure) {
        const STAGE: HookStage = HookStage::TurnError;
        for member in self.members(STAGE).iter().rev().filter(|member| member.is_on()) {
            let told = self.ask(member, member.hook.turn_error(context, failure)).await;
            self.told(member, STAGE, "", told);
        }
    }

    /// Tells that a step of a plan changed its status.
    pub async fn plan_step(&self, context: &HookContext, step: u32, status: &PlanStepStatus) {
        const STAGE: HookStage = HookStage::PlanStep;
        for member in self.members(STAGE).iter().rev().filter(|member| member.is_on()) {
            let told = self.ask(member, member.hook.plan_step(context, step, status)).await;
            self.told(member, STAGE, "", told);
        }
    }

    /// Tells what happened to a session.
    pub async fn session_lifecycle(&self, session: &SessionId, event: SessionLifecycle) {
        const STAGE: HookStage = HookStage::SessionLifecycle;
        for member in self.members(STAGE).iter().rev().filter(|member| member.is_on()) {
            let told = self.ask(member, member.hook.session_lifecycle(session, event)).await;
            self.told(member, STAGE, "", told);
        }
    }

    /// What a rewriter wants in place of its subject. A failure leaves it as it is.
    fn verdict<T>(
        &self,
        member: &Member,
        stage: HookStage,
        answer: Result<Verdict<T>, Silence>,
    ) -> Result<Option<T>, TurnAbort> {
        match answer {
            Ok(Verdict::Proceed) => {
                self.record(member, stage, "", || HookEffect::Passed);
                Ok(None)
            }
            Ok(Verdict::Rewrite(rewritten)) => {
                self.record(member, stage, "", || HookEffect::Changed);
                Ok(Some(rewritten))
            }
            Ok(Verdict::Abort(reason))
            | Err(Silence::Said(HookError::Aborted { reason } | HookError::Deferred { reason })) => {
                self.record(member, stage, "", || HookEffect::Aborted(reason.clone()));
                Err(TurnAbort { hook: member.hook.name().to_owned(), reason })
            }
            Err(silence) => {
                self.report(member, stage, "", silence);
                Ok(None)
            }
        }
    }

    fn refuse(&self, member: &Member, stage: HookStage, message: String) {
        let (hook, source) = (member.hook.name().to_owned(), None);
        self.report(member, stage, "", Silence::Said(HookError::Failed { hook, message, source }));
    }

    pub(crate) fn told(&self, member: &Member, stage: HookStage, call: &str, told: Result<(), Silence>) {
        match told {
            Ok(()) => self.record(member, stage, call, || HookEffect::Passed),
            Err(silence) => self.report(member, stage, call, silence),
        }
    }
}

#[cfg(test)]
#[path = "stages_tests.rs"]
mod tests;
