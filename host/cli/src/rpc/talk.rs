//! What is said to the agent: prompts, what is queued during a run, and the end of one.

use super::answer::Answer;
use super::command::{self, Image, StreamingBehavior};
use super::desk::Desk;
use super::runs::Ticket;
use crate::commands::Input;
use anyhow::{Context, Result, anyhow};
use capstan_agent::AgentError;
use capstan_ports::{CommandPort, Message, StopReason};
use serde_json::json;
use std::collections::HashSet;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How often what is to end is told so.
const STOP_AGAIN: Duration = Duration::from_millis(20);

const EMPTY: &str = "the message is empty";

/// What a run begins with.
enum Opening {
    Prompt(Message),
    /// What waits in the queues.
    Queued,
    /// What a person decided about a call that was put off.
    Decided {
        call_id: String,
        allowed: bool,
    },
}

type Ran = Result<Vec<Arc<Message>>, AgentError>;

impl Desk {
    /// Runs a slash command, or sends a message to the model. The answer comes when the run begins: then it was accepted.
    pub(super) async fn prompt(
        self: &Arc<Self>,
        answer: Answer,
        text: String,
        images: Option<Vec<Image>>,
        behavior: Option<StreamingBehavior>,
    ) {
        let commands = self.commands.current();
        let text = match commands.read(&text) {
            Input::Refused(error) => return answer.failed(&error).await,
            Input::Command(named, arguments) => {
                answer.done(None).await;
                let (desk, arguments, stop) = (self.clone(), arguments.to_owned(), self.stop_token());
                self.tasks.spawn(async move { desk.command(&*named, &arguments, &stop).await });
                return;
            }
            Input::Message(text) => text,
            // A program's text is no slip of the finger: it goes to the model as it is.
            Input::BuiltIn(..) | Input::Unknown(_) => text.as_str().into(),
        };
        let Some(message) = command::message(&text, images) else {
            return answer.failed(&anyhow!(EMPTY)).await;
        };
        match (self.runs.begin(Some(answer)), behavior) {
            (Ok(ticket), _) => {
                self.tasks.spawn(self.clone().run(ticket, Opening::Prompt(message)));
            }
            (Err(answer), behavior) => {
                let queued = match behavior {
                    Some(behavior) => {
                        self.queue(message, behavior).await;
                        Ok(None)
                    }
                    None => Err(anyhow!(
                        "the agent is busy: send the prompt with streamingBehavior \"steer\" or \"followUp\", or wait for \
                         agent_end"
                    )),
                };
                if let Some(answer) = answer {
                    answer.with(queued).await;
                }
            }
        }
    }

    pub(super) async fn steer(self: &Arc<Self>, text: &str, images: Option<Vec<Image>>) -> Result<()> {
        self.queue(self.plain(text, images)?, StreamingBehavior::Steer).await;
        Ok(())
    }

    pub(super) async fn follow_up(self: &Arc<Self>, text: &str, images: Option<Vec<Image>>) -> Result<()> {
        self.queue(self.plain(text, images)?, StreamingBehavior::FollowUp).await;
        Ok(())
    }

    /// A message that is no slash command.
    fn plain(&self, text: &str, images: Option<Vec<Image>>) -> Result<Message> {
        let text = match self.commands.current().read(text) {
            Input::Command(named, _) => {
                let name = named.name().to_owned();
                return Err(anyhow!("/{name} is a command; send it with prompt"));
            }
            Input::Refused(error) => return Err(error),
            Input::Message(text) => text.into_owned(),
            Input::BuiltIn(..) | Input::Unknown(_) => text.to_owned(),
        };
        command::message(&text, images).context(EMPTY)
    }

    async fn queue(self: &Arc<Self>, message: Message, behavior: StreamingBehavior) {
        let was_on = self.runs.is_on();
        match behavior {
            StreamingBehavior::Steer => self.session.agent().steer(message),
            StreamingBehavior::FollowUp => self.session.agent().follow_up(message),
        }
        self.queues.told(&self.session, &self.output).await;
        // The run may have ended just before, and then nobody would take it up.
        if was_on && let Ok(ticket) = self.runs.begin(None) {
            self.tasks.spawn(self.clone().run(ticket, Opening::Queued));
        }
    }

    /// Ends what is on: the run, slash commands, a compaction. The answer comes when it has ended.
    pub(super) fn abort(self: &Arc<Self>, answer: Answer) {
        self.stop();
        let desk = self.clone();
        self.tasks.spawn(async move {
            drop(desk.runs.turn().await);
            answer.done(None).await;
        });
    }

    /// Ends what is on, without waiting.
    pub(super) fn stop(&self) {
        self.runs.stop();
        std::mem::take(&mut *self.stop_others.lock().unwrap_or_else(PoisonError::into_inner)).cancel();
    }

    /// Fires at the next [`Desk::stop`].
    pub(super) fn stop_token(&self) -> CancellationToken {
        self.stop_others.lock().unwrap_or_else(PoisonError::into_inner).child_token()
    }

    async fn command(&self, named: &dyn CommandPort, arguments: &str, stop: &CancellationToken) {
        let session = self.session.id();
        let ran = tokio::select! {
            ran = named.run(&session, arguments, stop) => ran.map_err(|error| error.to_string()),
            () = stop.cancelled() => Err(format!("/{} was aborted", named.name())),
        };
        match ran {
            Ok(text) if text.trim().is_empty() => {}
            Ok(text) => self.questions.notify(&text).await,
            Err(error) => self.extension_error(named.owner(), "command", &error).await,
        }
    }

    /// Runs when it is its turn, and on as long as something was queued that nobody took up.
    async fn run(self: Arc<Self>, mut ticket: Ticket, mut opening: Opening) {
        let _turn = self.runs.turn().await;
        loop {
            if matches!(opening, Opening::Queued) && !self.is_waited_for() {
                self.runs.leave(&ticket);
                break;
            }
            self.runs.drive(&ticket);
            let ran = self.drive(&ticket, opening).await;
            self.explanations.keep();
            self.runs.note_end(ended_well(&ran));
            let unanswered = self.runs.leave(&ticket);
            match (ran, unanswered) {
                (Ok(_), None) => {}
                (Ok(_), Some(answer)) => answer.done(None).await,
                (Err(error), Some(answer)) => answer.failed(&anyhow::Error::new(error)).await,
                // The client has read it in the last message of the run.
                (Err(error), None) => tracing::debug!(%error, "a run failed"),
            }
            // The other end lives as long as the desk.
            self.look_at_deferred.send(()).ok();
            if !self.is_waited_for() {
                break;
            }
            match self.runs.begin(None) {
                Ok(next) => (ticket, opening) = (next, Opening::Queued),
                // Whoever was quicker takes it up.
                Err(_) => break,
            }
        }
    }

    /// Whether something is queued that came too late for the last run. After one that failed or was aborted it waits for the
    /// next prompt.
    fn is_waited_for(&self) -> bool {
        self.runs.ended_well() && self.session.agent().has_queued_messages()
    }

    /// One run to its end, which the client can bring about.
    async fn drive(&self, ticket: &Ticket, opening: Opening) -> Ran {
        ended_by(&ticket.stop, || self.session.agent().abort(), self.begun(opening)).await
    }

    async fn begun(&self, opening: Opening) -> Ran {
        loop {
            let ran = match &opening {
                Opening::Prompt(message) => self.session.prompt(vec![message.clone()]).await,
                Opening::Queued => self.session.continue_run().await,
                Opening::Decided { call_id, allowed: true } => self.session.approve(call_id).await,
                Opening::Decided { call_id, allowed: false } => {
                    self.session.deny(call_id, "The user said no.").await
                }
            };
            match ran {
                // Not by a run, for it is this one's turn: something is just being added to the session.
                Err(AgentError::AlreadyRunning) => self.session.agent().wait_for_idle().await,
                ran => return ran,
            }
        }
    }

    /// Asks the client about calls that a gate put off, each once, and goes on with its answers. Without an answer a call stays
    /// put off.
    pub(super) async fn settle(self: Arc<Self>, mut look: mpsc::UnboundedReceiver<()>) {
        let mut asked = HashSet::new();
        while look.recv().await.is_some() {
            for deferred in self.session.deferred() {
                let call_id = deferred.call.id.clone();
                if !asked.insert((self.session.id(), call_id.clone())) {
                    continue;
                }
                let question = format!("was put off: {}\nRun it now?", deferred.reason);
                let Some(allowed) = self.questions.confirm(&question, &deferred.call).await else { continue };
                let ticket = loop {
                    match self.runs.begin(None) {
                        Ok(ticket) => break ticket,
                        Err(_other) => drop(self.runs.turn().await),
                    }
                };
                self.clone().run(ticket, Opening::Decided { call_id, allowed }).await;
            }
        }
    }

    /// The file of an extension, or its name where it is no component.
    pub(super) fn extension_path(&self, extension: &str) -> String {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let known = running.iter().find(|known| known.id().as_str() == extension);
        known.map_or_else(|| extension.to_owned(), |known| known.inspected().path.display().to_string())
    }

    /// Tells that an extension failed at something.
    pub(super) async fn extension_error(&self, extension: &str, event: &str, error: &str) {
        let path = self.extension_path(extension);
        self.output
            .line(&json!({"type": "extension_error", "extensionPath": path, "event": event, "error": error}))
            .await;
    }
}

/// Waits for `work`, and has it ended when `stop` fires. It is told so until it does: what is about to begin does not hear it
/// yet.
pub(super) async fn ended_by<T>(
    stop: &CancellationToken,
    tell: impl Fn(),
    work: impl Future<Output = T>,
) -> T {
    tokio::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            () = stop.cancelled() => {}
        }
        tell();
        if let Ok(done) = tokio::time::timeout(STOP_AGAIN, &mut work).await {
            return done;
        }
    }
}

fn ended_well(ran: &Ran) -> bool {
    let Ok(messages) = ran else { return false };
    let last = messages.iter().rev().find_map(|message| match message.as_ref() {
        Message::Assistant(answer) => Some(answer.stop_reason),
        Message::User(_) | Message::ToolResult(_) | Message::Custom(_) => None,
    });
    last.is_some_and(|reason| !matches!(reason, StopReason::Error | StopReason::Aborted))
}
