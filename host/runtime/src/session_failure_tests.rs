//! Turns that fail or are ended leave nothing of themselves.

use super::*;
use crate::scripted_tests::*;
use capstan_ports::ModelErrorKind;
use capstan_provider::{Answer, ScriptedModel};
use capstan_session::MemorySession;
use serde_json::json;
use std::path::Path;

fn over_log(model: &ScriptedModel) -> (AgentSession, Arc<MemorySession>) {
    let log = Arc::new(MemorySession::new(Path::new(".")));
    let bundle = Arc::new(builder(model, &Arc::default()).build().unwrap());
    (AgentSession::over_log(Role::named("clerk", "be kind"), bundle, log.clone()).unwrap(), log)
}

// 004-049
#[tokio::test]
async fn a_failed_turn_leaves_the_session_as_it_was() {
    let script = || {
        ScriptedModel::new([
            text("one"),
            call("add"),
            Answer::error(ModelErrorKind::Auth, "no key"),
            text("two"),
        ])
    };
    let (in_memory, logged) = (script(), script());
    let sessions =
        [(session(builder(&in_memory, &Arc::default())), in_memory), (over_log(&logged).0, logged)];
    for (mut session, model) in sessions {
        session.submit_turn("first").await.unwrap();
        let error = session.submit_turn("broken").await.unwrap_err();
        assert!(matches!(&error, AgentError::Llm(inner) if inner.kind == ModelErrorKind::Auth), "{error}");
        assert_eq!(said(&session.messages().unwrap()), ["user first", "assistant one"]);
        assert_eq!((session.turn_index(), session.cost_so_far().calls), (1, 2));
        session.submit_turn("second").await.unwrap();
        assert_eq!(sent(&model)[3], ["user first", "assistant one", "user second"]);
        assert_eq!(session.turn_index(), 2);
    }
}

// 004-049
#[tokio::test]
async fn a_log_keeps_what_a_failed_turn_said_on_a_branch_that_was_left() {
    let model = ScriptedModel::new([text("one"), Answer::error(ModelErrorKind::Auth, "no key")]);
    let (mut session, log) = over_log(&model);
    session.submit_turn("first").await.unwrap();
    let leaf = log.leaf();
    session.submit_turn("broken").await.unwrap_err();
    assert_eq!(log.leaf(), leaf);
    let entries = log.entries();
    assert!(entries.len() > 2 && entries.last().unwrap().id != leaf.unwrap());
}

// 004-057, X-07
#[tokio::test]
async fn a_cancelled_turn_ends_its_tools_and_leaves_the_session_usable() {
    let (model, notes) = (
        ScriptedModel::new([Answer::call("add", json!({"hang": true})), text("fine")]),
        Arc::<Notes>::default(),
    );
    let mut session = session(builder(&model, &notes));
    let cancel = CancellationToken::new();
    let began = std::time::Instant::now();
    let (ended, ()) = tokio::join!(session.submit_turn_until("hi", &cancel), async {
        until(|| notes.has("run add")).await;
        cancel.cancel();
    });
    assert!(matches!(&ended, Err(AgentError::Other(text)) if text == "Operation aborted"), "{ended:?}");
    assert!(began.elapsed() < Duration::from_secs(1));
    assert_eq!(notes.take(), ["run add", "ended add"]);
    assert_eq!((session.turn_index(), session.messages().unwrap().len()), (0, 0));
    assert_eq!(session.submit_turn("again").await.unwrap().text(), "fine");
    assert_eq!(sent(&model)[1], ["user again"]);
}

// 004-057
#[tokio::test]
async fn a_dropped_turn_ends_the_model_call_and_the_tools() {
    let answers = [Answer::call("add", json!({"hang": true})), text("slow").delayed_ms(60_000), text("fine")];
    let (model, notes) = (ScriptedModel::new(answers), Arc::<Notes>::default());
    let mut session = session(builder(&model, &notes));
    for requests in [1, 2] {
        tokio::select! {
            biased;
            ended = session.submit_turn("hi") => panic!("{ended:?}"),
            () = until(|| model.requests().len() == requests && notes.has("run add")) => {}
        }
        assert_eq!((session.turn_index(), session.messages().unwrap().len()), (0, 0));
    }
    until(|| notes.has("ended add")).await;
    assert_eq!(session.submit_turn("again").await.unwrap().text(), "fine");
    assert_eq!(sent(&model)[2], ["user again"]);
}

// 004-057
#[tokio::test]
async fn a_turn_that_is_dropped_over_a_log_is_left_behind() {
    let model = ScriptedModel::new([text("slow").delayed_ms(60_000), text("fine")]);
    let (mut session, _log) = over_log(&model);
    tokio::select! {
        biased;
        ended = session.submit_turn("hi") => panic!("{ended:?}"),
        () = until(|| !model.requests().is_empty()) => {}
    }
    assert!(session.messages().unwrap().is_empty());
    session.submit_turn("again").await.unwrap();
    assert_eq!(sent(&model)[1], ["user again"]);
}
