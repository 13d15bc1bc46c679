use super::*;
use crate::scripted_tests::*;
use capstan_ports::entry::BashExecution;
use capstan_ports::{SessionLog, ThinkingLevel, ToolOutcome};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

fn kinds(log: &MemoryLog) -> Vec<String> {
    let of = |operation: &String| operation.strip_prefix("append ").map(str::to_owned);
    log.operations().iter().filter_map(of).collect()
}

/// A session whose one tool does something with the session while it runs.
fn meddling<F, R>(model: &Arc<ScriptedModel>, log: &Arc<MemoryLog>, meddle: F) -> AgentSession
where
    F: Fn(AgentSession) -> R + Send + Sync + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    let session = AgentSession::open(config(model), log.clone()).unwrap();
    let (handle, meddle) = (session.clone(), Arc::new(meddle));
    let tool = TestTool::new("meddle", move |_, _| {
        let done = meddle(handle.clone());
        async move {
            done.await;
            Ok(ToolOutcome::text("ok"))
        }
    });
    session.agent().set_tool_registry(registry([tool]));
    session
}

fn one_call() -> Arc<ScriptedModel> {
    ScriptedModel::new([calls([call("a", "meddle", json!({}))]), says("done"), says("more")])
}

#[tokio::test]
async fn a_shell_command_is_recorded_at_once_and_read_with_the_next_prompt() {
    let (log, model) = (MemoryLog::new(), ScriptedModel::new([says("ok")]));
    let session = AgentSession::open(config(&model), log.clone()).unwrap();
    session.record_bash(ran_bash("ls", "out")).await.unwrap();
    let secret = BashExecution { exclude_from_context: true, ..ran_bash("env", "out") };
    session.record_bash(secret).await.unwrap();
    assert_eq!(log.operations(), ["append message", "commit", "append message", "commit"]);
    session.prompt_text("hi").await.unwrap();
    assert_eq!(model.sent()[0], ["user Ran `ls`\n```\nout\n```", "user hi"]);
    // The conversation as a person sees it has both in the session, and neither in what was said.
    assert_eq!((log.entries().len(), log.transcript().unwrap().len()), (4, 2));
}

// Between a call and its result nothing else may stand.
#[tokio::test]
async fn a_shell_command_during_a_run_is_kept_back_until_the_run_is_over() {
    let (log, model) = (MemoryLog::new(), one_call());
    let session = meddling(&model, &log, |session| async move {
        session.record_bash(ran_bash("ls", "out")).await.unwrap();
        // A prompt that is refused does not let it out either.
        assert!(matches!(session.prompt_text("me").await, Err(AgentError::AlreadyRunning)));
    });
    session.prompt_text("hi").await.unwrap();
    assert_eq!(kinds(&log), ["user hi", "asst +a", "result a ok", "asst done", "message"]);
    assert_eq!(log.operations().last().unwrap(), "commit");
    session.prompt_text("and").await.unwrap();
    assert_eq!(model.sent()[2][4], "user Ran `ls`\n```\nout\n```");
}

// The answer in progress is still the old model's, and it is recorded after the change was asked for.
#[tokio::test]
async fn model_and_level_that_change_during_a_run_are_recorded_after_it() {
    let (log, model) = (MemoryLog::new(), one_call());
    let session = meddling(&model, &log, |session| async move {
        session.set_model(ScriptedModel::named("two", [])).await.unwrap();
        session.set_thinking_level(ThinkingLevel::High).await.unwrap();
    });
    session.prompt_text("hi").await.unwrap();
    assert_eq!(kinds(&log)[3..], ["asst done", "model_change", "thinking_level_change"]);
    assert_eq!((session.model().info().id.as_str(), session.thinking_level()), ("two", ThinkingLevel::High));
    assert_eq!(model.requests.lock().unwrap()[1].thinking, ThinkingLevel::Off);
}

#[tokio::test]
async fn what_waited_for_a_run_whose_future_was_dropped_comes_before_the_next() {
    let log = MemoryLog::new();
    let model = ScriptedModel::new([Answer::Hangs(text_events("hm")), says("done")]);
    let session = AgentSession::open(config(&model), log.clone()).unwrap();
    let hangs = tokio::time::timeout(Duration::from_millis(50), async {
        let records = async {
            while !session.agent().state().is_streaming {
                tokio::task::yield_now().await;
            }
            session.record_bash(ran_bash("ls", "out")).await.unwrap();
        };
        tokio::join!(session.prompt_text("hi"), records)
    });
    assert!(hangs.await.is_err());
    assert_eq!(kinds(&log), ["user hi"]);
    session.prompt_text("and").await.unwrap();
    assert_eq!(kinds(&log), ["user hi", "message", "user and", "asst done"]);
}

#[tokio::test]
async fn what_could_not_be_recorded_still_waits() {
    let (log, model) = (MemoryLog::new(), one_call());
    let full = log.clone();
    let session = meddling(&model, &log, move |session| {
        let full = full.clone();
        async move {
            session.record_bash(ran_bash("ls", "out")).await.unwrap();
            // Room for the result and the answer.
            *full.room.lock().unwrap() = 2;
        }
    });
    assert!(matches!(session.prompt_text("hi").await, Err(AgentError::Session(_))));
    *log.room.lock().unwrap() = usize::MAX;
    session.prompt_text("and").await.unwrap();
    assert_eq!(kinds(&log)[4..], ["message", "user and", "asst more"]);
}
