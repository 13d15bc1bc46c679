use super::*;
use crate::HookChain;
use crate::recording_tests::{Notes, StageHook};
use crate::scripted_tests::*;
use async_trait::async_trait;
use capstan_ports::{CustomMessage, Hook, HookError, HookStage, SessionId, SessionLog, ThinkingLevel};
use std::sync::{Arc, Mutex};

fn open(model: &Arc<ScriptedModel>, log: &Arc<MemoryLog>) -> AgentSession {
    AgentSession::open(config(model), log.clone()).unwrap()
}

async fn until_streaming(session: &AgentSession) {
    while session.agent().state().streaming_message.is_none() {
        tokio::task::yield_now().await;
    }
}

// 001-070
#[tokio::test]
async fn a_closed_session_writes_nothing_whatever_the_agent_goes_on_to_do() {
    let (log, model) = (MemoryLog::new(), ScriptedModel::new([says("a"), says("b"), says("c")]));
    let session = open(&model, &log);
    session.prompt_text("hi").await.unwrap();
    let before = log.operations();
    assert_eq!(before.len(), 4, "it did write while it was open");
    session.dispose().await.unwrap();
    session.agent().prompt_text("on my own").await.unwrap();
    session.agent().append_custom(CustomMessage::new("note", "x")).await.unwrap();
    assert_eq!(session.agent().state().messages.len(), 5);
    assert_eq!(log.operations(), before);
    // What was said can still be looked at.
    assert_eq!((session.id(), session.log().transcript().unwrap().len()), (log.id().clone(), 2));
    session.dispose().await.unwrap();
}

// 001-070
#[tokio::test]
async fn a_closed_session_says_so() {
    let (log, model) = (MemoryLog::new(), ScriptedModel::new([says("a")]));
    let session = open(&model, &log);
    session.prompt_text("hi").await.unwrap();
    let first = log.entries()[0].id.clone();
    session.dispose().await.unwrap();
    let before = log.operations();
    let refused = [
        session.prompt_text("x").await.err(),
        session.submit_turn("x").await.err(),
        session.continue_run().await.err(),
        session.approve("x").await.err(),
        session.deny("x", "y").await.err(),
        session.append_custom(CustomMessage::new("note", "x")).await.err(),
        session.append_custom_entry("note", None).await.err(),
        session.set_name(Some("x".into())).await.err(),
        session.set_label(first.clone(), None).await.err(),
        session.set_model(model.clone()).await.err(),
        session.set_thinking_level(ThinkingLevel::High).await.err(),
        session.record_bash(ran_bash("ls", "")).await.err(),
        session.branch(None).await.err(),
        session.navigate(&first, crate::NavigateOptions::default()).await.err(),
        session.switch(MemoryLog::named("s2")).await.err(),
    ];
    for (at, error) in refused.iter().enumerate() {
        assert!(matches!(error, Some(AgentError::Closed)), "{at}: {error:?}");
    }
    assert_eq!((log.operations(), session.thinking_level()), (before, ThinkingLevel::Off));
    assert!(AgentError::Closed.to_string().contains("open it again"));
}

#[tokio::test]
async fn a_run_is_aborted_and_what_it_came_to_is_on_record_when_the_session_is_closed() {
    let (log, model) = (MemoryLog::new(), ScriptedModel::new([Answer::Hangs(text_events("hm"))]));
    let session = open(&model, &log);
    let closes = async {
        until_streaming(&session).await;
        session.record_bash(ran_bash("ls", "")).await.unwrap();
        session.dispose().await.unwrap();
        log.note("closed");
    };
    let (ran, ()) = tokio::join!(session.prompt_text("hi"), closes);
    ran.unwrap();
    let operations = log.operations();
    let appended: Vec<_> = operations.iter().filter(|line| *line != "commit").collect();
    assert!(appended[1].starts_with("append asst! ") && appended[1].ends_with("aborted"), "{appended:?}");
    assert_eq!(appended[2..], ["append message", "closed"]);
}

#[tokio::test]
async fn hooks_hear_of_the_end_once_and_only_if_they_heard_of_the_beginning() {
    for prompts in [0, 1] {
        let (notes, log) = (Arc::new(Notes::default()), MemoryLog::new());
        let session = open(&ScriptedModel::new([says("x")]), &log);
        let hook = HookChain::new([Arc::new(StageHook::new("h", &notes)) as Arc<dyn Hook>]);
        session.agent().configure(|config| config.hooks.replace(hook));
        for _ in 0..prompts {
            session.prompt_text("hi").await.unwrap();
        }
        let (one, two) = tokio::join!(session.dispose(), session.dispose());
        one.and(two).unwrap();
        session.announce().await;
        let lines = notes.take().await;
        let told: Vec<_> = lines.iter().filter(|line| line.contains("SessionLifecycle")).collect();
        let both = ["H(SessionLifecycle s1 Start)", "H(SessionLifecycle s1 End)"];
        assert_eq!(told, both[..2 * prompts].iter().collect::<Vec<_>>());
    }
}

/// Keeps something in the session when that ends.
struct KeepsState(Mutex<Option<AgentSession>>);

#[async_trait]
impl Hook for KeepsState {
    fn name(&self) -> &str {
        "keeps state"
    }

    fn handles(&self, stage: HookStage, _tool: Option<&str>) -> bool {
        stage == HookStage::SessionLifecycle
    }

    async fn session_lifecycle(&self, _: &SessionId, event: SessionLifecycle) -> Result<(), HookError> {
        let session = self.0.lock().unwrap().clone();
        if let (Some(session), SessionLifecycle::End) = (session, event) {
            session.append_custom_entry("state", Some(serde_json::json!(7))).await.unwrap();
        }
        Ok(())
    }
}

#[tokio::test]
async fn an_extension_can_keep_its_state_when_it_hears_of_the_end() {
    for switches in [false, true] {
        let log = MemoryLog::new();
        let session = open(&ScriptedModel::new([says("x")]), &log);
        let hook = Arc::new(KeepsState(Mutex::new(Some(session.clone()))));
        session
            .agent()
            .configure(|config| config.hooks.replace(HookChain::new([hook.clone() as Arc<dyn Hook>])));
        session.prompt_text("hi").await.unwrap();
        match switches {
            true => session.switch(MemoryLog::named("s2")).await.unwrap(),
            false => session.dispose().await.unwrap(),
        }
        let kept = open(&ScriptedModel::new([]), &log).custom_entries("state").unwrap();
        assert_eq!(kept, [serde_json::json!(7)]);
        hook.0.lock().unwrap().take();
    }
}

#[tokio::test]
async fn a_session_is_closed_even_if_what_waited_cannot_be_recorded() {
    let (log, model) = (MemoryLog::new(), ScriptedModel::new([Answer::Hangs(text_events("hm"))]));
    let session = open(&model, &log);
    let runs = tokio::time::timeout(std::time::Duration::from_millis(50), async {
        tokio::join!(session.prompt_text("hi"), async {
            until_streaming(&session).await;
            session.record_bash(ran_bash("ls", "")).await.unwrap();
        })
    });
    assert!(runs.await.is_err());
    *log.room.lock().unwrap() = 0;
    assert!(matches!(session.dispose().await, Err(AgentError::Session(_))));
    assert!(matches!(session.prompt_text("x").await, Err(AgentError::Closed)));
}
