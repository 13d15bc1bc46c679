use crate::compaction::talk_tests::*;
use crate::error::AgentError;
use crate::recording_tests::{Notes, StageHook};
use crate::scripted_tests::*;
use crate::session::AgentSession;
use crate::{AgentLoopConfig, HookChain};
use capstan_ports::{Hook, Message, ModelErrorKind, SessionLog};
use std::sync::Arc;

async fn log_of(messages: impl IntoIterator<Item = Arc<Message>>) -> Arc<MemoryLog> {
    let log = MemoryLog::new();
    for message in messages {
        log.append_message(message).await.unwrap();
    }
    log
}

async fn long_session(
    answers_to_give: impl IntoIterator<Item = Answer>,
) -> (AgentSession, Arc<ScriptedModel>, Arc<MemoryLog>, Arc<Recorder>) {
    let log = log_of([asks("one", 300), answers("a", 300), asks("two", 90), answers("b", 5)]).await;
    let model = ScriptedModel::new(answers_to_give);
    let session = AgentSession::open(small(&model), log.clone()).unwrap();
    let recorder = Arc::new(Recorder::default());
    session.agent().subscribe(recorder.clone());
    (session, model, log, recorder)
}

async fn until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        tokio::task::yield_now().await;
    }
}

// 001-150
#[tokio::test]
async fn a_person_can_have_a_session_compacted_once() {
    let (session, model, log, recorder) = long_session([says("summary"), says("done")]).await;
    let result = session.compact(Some("names".into())).await.unwrap();
    assert_eq!((result.summary.as_str(), result.tokens_before), ("summary", 695));
    assert_eq!(result.first_kept_entry_id.unwrap().as_str(), "e3");
    assert!(model.sent()[0][0].ends_with("keep in mind: names"));
    assert_eq!(recorder.trace(), ["compaction_start Manual", "compaction_end compacted"]);
    assert!(!session.is_compacting() && !session.agent().state().is_streaming);
    assert!(matches!(session.compact(None).await, Err(AgentError::AlreadyCompacted)));
    session.prompt_text("hi").await.unwrap();
    assert!(matches!(session.compact(None).await, Err(AgentError::NothingToCompact)));
    assert_eq!(recorder.count("compaction"), 2, "nothing was begun for those");
    assert_eq!(log.transcript().unwrap().len(), 6);
}

#[tokio::test]
async fn the_errors_of_a_compaction_by_hand_are_worded_like_pis() {
    for (error, text) in [
        (AgentError::AlreadyCompacted, "Already compacted"),
        (AgentError::NothingToCompact, "Nothing to compact (session too small)"),
        (AgentError::CompactionCancelled, "Compaction cancelled"),
    ] {
        assert_eq!(error.to_string(), text);
    }
    let session = AgentSession::open(small(&ScriptedModel::new([])), MemoryLog::new()).unwrap();
    assert!(matches!(session.compact(None).await, Err(AgentError::NothingToCompact)));
}

// 001-147
#[tokio::test]
async fn a_run_that_made_the_conversation_too_long_is_followed_by_one_compaction() {
    let (session, _, _, recorder) = long_session([says_counted("done", 1800)]).await;
    session.prompt_text("hi").await.unwrap();
    assert_eq!(recorder.count("compaction"), 0, "exactly at the limit");

    let beyond = [says_counted("done", 1801), says("summary"), says("last")];
    let (session, model, log, recorder) = long_session(beyond).await;
    session.prompt_text("hi").await.unwrap();
    let trace = recorder.trace();
    assert_eq!(
        trace[trace.len() - 3..],
        ["agent_end 2", "compaction_start Threshold", "compaction_end compacted"]
    );
    assert_eq!(log.operations().iter().filter(|done| *done == "append compaction").count(), 1);
    session.prompt_text("go on").await.unwrap();
    assert!(model.sent()[2][0].contains("<summary>\nsummary"), "{:?}", model.sent()[2]);
    assert_eq!(recorder.count("compaction_start"), 1);
}

#[tokio::test]
async fn nothing_follows_a_run_that_was_aborted_or_failed_or_where_it_is_switched_off() {
    let (session, model, _, recorder) = long_session([fails(ModelErrorKind::Auth, "no")]).await;
    session.agent().configure(|config| config.context_window = Some(700));
    assert!(session.auto_compaction());
    session.set_auto_compaction(false);
    session.prompt_text("hi").await.unwrap();
    session.set_auto_compaction(true);
    session.agent().configure(|config| config.context_window = Some(2000));
    model.push(says_counted("done", 1900));
    session.set_auto_compaction(false);
    session.prompt_text("hi").await.unwrap();
    assert!(!session.auto_compaction());
    assert_eq!((recorder.count("compaction"), model.sent().len()), (0, 2));
}

// 001-154
#[tokio::test]
async fn a_summary_that_fails_changes_nothing_and_a_prompt_is_answered_afterwards() {
    let (session, _, log, recorder) =
        long_session([fails(ModelErrorKind::Auth, "no key"), says("done")]).await;
    let before = log.context().unwrap();
    let error = session.compact(None).await.unwrap_err();
    assert!(
        matches!(&error, AgentError::Compaction(reason) if reason.kind == ModelErrorKind::Auth),
        "{error}"
    );
    assert_eq!((recorder.count("compaction_end unchanged"), log.context().unwrap()), (1, before));
    assert_eq!(shorts(&session.prompt_text("hi").await.unwrap()), ["user hi", "asst done"]);
}

// 001-154
#[tokio::test]
async fn a_pause_after_failures_ends_when_a_person_compacts() {
    let (long, failed) = (|| says_counted("done", 1900), || fails(ModelErrorKind::Auth, "no"));
    // After the first run, before the second one and after it.
    let script = [long(), failed(), failed(), long(), failed(), long(), says("summary")];
    let (session, _, _, recorder) = long_session(script).await;
    session.prompt_text("one").await.unwrap();
    session.prompt_text("two").await.unwrap();
    assert_eq!(recorder.count("compaction_start"), 3);
    assert_eq!(shorts(&session.prompt_text("still answered").await.unwrap())[1], "asst done");
    assert_eq!(recorder.count("compaction_start"), 3, "paused");
    session.compact(None).await.unwrap();
    let control = session.agent().config().compaction_control;
    assert!(!control.is_paused());
    assert_eq!([control.failed(), control.failed(), control.failed()], [false, false, true]);
    session.set_auto_compaction(true);
    assert!(!control.is_paused(), "switching it on is an order, too");
}

// 001-154
#[tokio::test]
async fn an_abort_ends_a_compaction_by_hand_and_leaves_the_session() {
    for by_agent in [true, false] {
        let (session, model, log, recorder) = long_session([Answer::Hangs(vec![]), says("done")]).await;
        let before = log.context().unwrap();
        let aborts = async {
            until(|| !model.sent().is_empty()).await;
            assert!(session.is_compacting());
            assert!(matches!(session.agent().prompt_text("now").await, Err(AgentError::AlreadyRunning)));
            if by_agent { session.agent().abort() } else { session.abort_compaction() }
        };
        let (compacted, ()) = tokio::join!(session.compact(None), aborts);
        assert!(matches!(compacted, Err(AgentError::CompactionCancelled)), "{compacted:?}");
        assert_eq!(log.context().unwrap(), before);
        assert_eq!(recorder.trace(), ["compaction_start Manual", "compaction_end unchanged"]);
        assert!(!session.is_compacting());
        session.prompt_text("hi").await.unwrap();
    }
}

// 001-155
#[tokio::test]
async fn prompts_that_come_during_a_compaction_wait_and_are_answered() {
    let (session, model, log, _) = long_session([says("summary"), says("done")]).await;
    let other = session.clone();
    let prompts = async {
        until(|| session.is_compacting()).await;
        other.prompt_text("meanwhile").await.unwrap()
    };
    let (compacted, added) = tokio::join!(session.compact(None), prompts);
    compacted.unwrap();
    assert_eq!(shorts(&added), ["user meanwhile", "asst done"]);
    let sent = &model.sent()[1];
    assert!(sent[0].contains("<summary>\nsummary") && sent.last().unwrap() == "user meanwhile", "{sent:?}");
    let kept = shorts(&log.context().unwrap().messages);
    assert_eq!(kept[kept.len() - 2..], ["user meanwhile", "asst done"]);
}

// 001-155: what is queued while a run is followed by a compaction belongs to nobody's run and is answered all the same.
#[tokio::test]
async fn messages_queued_during_the_compaction_after_a_run_are_answered() {
    let script = [says_counted("done", 1900), says("summary"), says("and that")];
    let (session, model, _, recorder) = long_session(script).await;
    let queues = async {
        until(|| recorder.count("compaction_start") == 1).await;
        session.follow_up_text("one more thing");
    };
    let (added, ()) = tokio::join!(session.prompt_text("hi"), queues);
    assert_eq!(shorts(&added.unwrap()), ["user hi", "asst done", "user one more thing", "asst and that"]);
    assert_eq!(model.sent().len(), 3);
}

// 001-156
#[tokio::test]
async fn hooks_are_told_of_a_compaction_and_may_object_to_one_that_a_person_wants() {
    let (session, _, _, _) = long_session([says("summary")]).await;
    let notes = Arc::new(Notes::default());
    let hook = Arc::new(StageHook::new("h", &notes)) as Arc<dyn Hook>;
    session.agent().configure(|config| config.hooks.replace(HookChain::new([hook])));
    session.compact(None).await.unwrap();
    assert_eq!(notes.take().await, ["H(SessionLifecycle s1 Resume)", "H(SessionLifecycle s1 Compacted)"]);

    let (session, model, log, recorder) = long_session([]).await;
    let keeper = crate::CodingExtension::new("keeper")
        .with_before_compaction(|_, _| async { Ok(Some("never".to_owned())) });
    let hooks = crate::Extension::hooks(&keeper, 0);
    session.agent().configure(|config| config.hooks.replace(HookChain::new(hooks)));
    let error = session.compact(None).await.unwrap_err();
    assert_eq!(error.to_string(), "Compaction cancelled by keeper: never");
    assert_eq!((model.sent().len(), recorder.count("compaction_end unchanged")), (0, 1));
    assert!(!log.operations().contains(&"append compaction".to_owned()));
}

#[tokio::test]
async fn during_a_run_nothing_is_compacted_by_hand() {
    let (session, model, _, _) = long_session([Answer::Hangs(vec![])]).await;
    let tries = async {
        until(|| !model.sent().is_empty()).await;
        assert!(matches!(session.compact(None).await, Err(AgentError::AlreadyRunning)));
        session.agent().abort();
    };
    let (ran, ()) = tokio::join!(session.prompt_text("hi"), tries);
    ran.unwrap();
}

#[tokio::test]
async fn without_a_session_a_conversation_is_compacted_for_the_run() {
    let model = ScriptedModel::new([says("summary"), says("done")]);
    let agent = crate::Agent::with_config(AgentLoopConfig { context_window: Some(800), ..small(&model) });
    agent.set_messages(vec![asks("one", 300), answers("a", 300), asks("two", 90), answers("b", 5)]).unwrap();
    agent.prompt_text("hi").await.unwrap();
    assert!(model.sent()[1][0].contains("<summary>\nsummary"));
    assert_eq!(agent.state().messages.len(), 6, "what was said is still there");
}

// 001-070: nobody waits for a summary that nobody needs any more.
#[tokio::test]
async fn closing_the_session_ends_a_compaction_after_a_run_or_by_hand() {
    let (session, model, log, _) = long_session([says_counted("done", 1900), Answer::Hangs(vec![])]).await;
    let closes = async {
        until(|| model.sent().len() == 2).await;
        session.dispose().await.unwrap();
    };
    let (ran, ()) = tokio::join!(session.prompt_text("hi"), closes);
    assert_eq!(shorts(&ran.unwrap()), ["user hi", "asst done"]);
    assert!(!log.operations().contains(&"append compaction".to_owned()));

    let (session, model, log, _) = long_session([Answer::Hangs(vec![])]).await;
    let closes = async {
        until(|| !model.sent().is_empty()).await;
        session.dispose().await.unwrap();
    };
    let (compacted, ()) = tokio::join!(session.compact(None), closes);
    assert!(matches!(compacted, Err(AgentError::CompactionCancelled)), "{compacted:?}");
    assert!(!log.operations().contains(&"append compaction".to_owned()));
    assert!(matches!(session.compact(None).await, Err(AgentError::Closed)));
}

// Between the end of a run and the compaction after it nobody finds the agent idle.
#[tokio::test]
async fn a_shell_command_during_a_compaction_is_recorded_after_it() {
    let (session, model, log, _) = long_session([says_counted("done", 1900), Answer::Hangs(vec![])]).await;
    let records = async {
        until(|| model.sent().len() == 2).await;
        session.record_bash(ran_bash("ls", "")).await.unwrap();
        assert!(!log.operations().contains(&"append message".to_owned()));
        session.abort_compaction();
    };
    let (ran, ()) = tokio::join!(session.prompt_text("hi"), records);
    ran.unwrap();
    assert_eq!(log.operations()[log.operations().len() - 2..], ["append message", "commit"]);
}
