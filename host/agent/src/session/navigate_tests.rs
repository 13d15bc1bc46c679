use super::*;
use crate::recording_tests::{Notes, StageHook};
use crate::scripted_tests::*;
use crate::{AgentLoopConfig, HookChain};
use capstan_ports::entry::ModelChange;
use capstan_ports::{CustomMessage, GateVerdict, Hook, ModelErrorKind, ToolOutcome};
use serde_json::json;

fn open(model: &Arc<ScriptedModel>, log: &Arc<MemoryLog>) -> AgentSession {
    open_with(config(model), log)
}

fn open_with(config: AgentLoopConfig, log: &Arc<MemoryLog>) -> AgentSession {
    let session = AgentSession::open(config, log.clone()).unwrap();
    let read = TestTool::new("read", |_, _| async { Ok(ToolOutcome::text("the file's text")) });
    session.agent().set_tool_registry(registry([read]));
    session
}

fn summarizing() -> NavigateOptions {
    NavigateOptions { summarize: true, ..NavigateOptions::default() }
}

/// `hi`, a read, `done`, `try it`, `tried`, and then what `more` answers.
async fn talked(
    more: impl IntoIterator<Item = Answer>,
) -> (Arc<MemoryLog>, Arc<ScriptedModel>, AgentSession) {
    let read = calls([call("a", "read", json!({"path": "a.rs"}))]);
    let model = ScriptedModel::new([read, says("done"), says("tried")]);
    let log = MemoryLog::new();
    let session = open(&model, &log);
    session.prompt_text("hi").await.unwrap();
    session.prompt_text("try it").await.unwrap();
    more.into_iter().for_each(|answer| model.push(answer));
    (log, model, session)
}

fn id(log: &MemoryLog, at: usize) -> EntryId {
    log.entries()[at].id.clone()
}

fn summary(log: &MemoryLog, id: &EntryId) -> BranchSummary {
    match &log.entry(id).unwrap().kind {
        EntryKind::BranchSummary(summary) => summary.clone(),
        other => panic!("{other:?}"),
    }
}

// 001-157
#[tokio::test]
async fn going_to_a_message_of_the_user_gives_its_text_back_and_stands_before_it() {
    let (log, model, session) = talked([says("else")]).await;
    let navigated = session.navigate(&id(&log, 4), NavigateOptions::default()).await.unwrap();
    assert_eq!(navigated, Navigated { editor_text: Some("try it".into()), summary_entry: None });
    assert_eq!(log.leaf(), Some(id(&log, 3)));
    assert_eq!(
        shorts(&session.agent().state().messages),
        ["user hi", "asst +a", "result a the file's text", "asst done"]
    );
    session.prompt_text("try that").await.unwrap();
    assert_eq!(model.sent()[3].last().unwrap(), "user try that");
    assert_eq!(model.sent()[3].len(), 5);
    // The first message has nothing before it.
    session.navigate(&id(&log, 0), NavigateOptions::default()).await.unwrap();
    assert_eq!((log.leaf(), session.agent().state().messages.len()), (None, 0));
    // What was said elsewhere stays.
    assert_eq!(log.entries().len(), 8);
}

// 001-157
#[tokio::test]
async fn what_is_left_behind_is_summarized_for_the_branch_that_is_gone_on_with() {
    let (log, model, session) = talked([says("it failed"), says("else")]).await;
    let left = log.leaf().unwrap();
    let options = NavigateOptions { instructions: Some("the error".into()), ..summarizing() };
    let navigated = session.navigate(&id(&log, 0), options).await.unwrap();
    assert_eq!(navigated.editor_text.as_deref(), Some("hi"));
    let entry = navigated.summary_entry.unwrap();
    assert_eq!((log.leaf().as_ref(), log.entry(&entry).unwrap().parent_id.clone()), (Some(&entry), None));
    let written = summary(&log, &entry);
    assert_eq!(written.from_id, left.as_str());
    assert_eq!(written.summary, "it failed\n\n<read-files>\na.rs\n</read-files>");
    assert_eq!(written.details, Some(json!({"readFiles": ["a.rs"], "modifiedFiles": []})));
    assert_eq!(log.operations().last().unwrap(), "commit");

    let asked = model.sent()[3][0].clone();
    for told in [
        "[Assistant tool calls]: read",
        "[Assistant]: done",
        "[User]: try it",
        "[Assistant]: tried",
        "the error",
    ] {
        assert!(asked.contains(told), "{told}: {asked}");
    }
    // What the user changes now is not part of what happened, and results are told by the answers after them.
    assert!(!asked.contains("[User]: hi") && !asked.contains("the file's text"), "{asked}");

    session.prompt_text("hello").await.unwrap();
    let sent = &model.sent()[4];
    assert!(
        sent[0].contains("a branch that this conversation came back from") && sent[0].contains("it failed")
    );
    assert_eq!(sent[1..], ["user hello"]);
}

#[tokio::test]
async fn anything_else_is_gone_on_with_from_behind_it() {
    let (log, _, session) = talked([]).await;
    session.append_custom(CustomMessage::new("note", "mind this")).await.unwrap();
    // An answer is followed.
    let navigated = session.navigate(&id(&log, 3), NavigateOptions::default()).await.unwrap();
    assert_eq!((navigated, log.leaf()), (Navigated::default(), Some(id(&log, 3))));
    // What an extension said is said anew, as what the user said is.
    let navigated = session.navigate(&id(&log, 6), NavigateOptions::default()).await.unwrap();
    assert_eq!((navigated.editor_text.as_deref(), log.leaf()), (Some("mind this"), Some(id(&log, 5))));
}

#[tokio::test]
async fn going_to_where_the_session_stands_does_nothing() {
    let (log, model, session) = talked([]).await;
    let before = log.operations();
    let options = NavigateOptions { label: Some("here".into()), ..summarizing() };
    let navigated = session.navigate(&log.leaf().unwrap(), options).await.unwrap();
    assert_eq!((navigated, log.operations(), model.sent().len()), (Navigated::default(), before, 3));
}

#[tokio::test]
async fn going_deeper_leaves_nothing_behind_that_could_be_summarized() {
    let (log, model, session) = talked([]).await;
    session.branch(Some(&id(&log, 3))).await.unwrap();
    let navigated = session.navigate(&id(&log, 5), summarizing()).await.unwrap();
    assert_eq!((navigated.summary_entry, model.sent().len()), (None, 3));
    // From before the first entry, too.
    session.branch(None).await.unwrap();
    let navigated = session.navigate(&id(&log, 5), summarizing()).await.unwrap();
    assert_eq!((navigated.summary_entry, model.sent().len()), (None, 3));
}

#[tokio::test]
async fn a_bookmark_goes_to_the_summary_and_else_to_the_target() {
    let (log, _, session) = talked([says("summed up")]).await;
    let marked = |log: &MemoryLog| match &log.entries().last().unwrap().kind {
        EntryKind::Label(label) => (label.target_id.clone(), label.label.clone().unwrap()),
        other => panic!("{other:?}"),
    };
    let options = NavigateOptions { label: Some("fork".into()), ..summarizing() };
    let navigated = session.navigate(&id(&log, 3), options).await.unwrap();
    assert_eq!(marked(&log), (navigated.summary_entry.unwrap(), "fork".into()));
    let options = NavigateOptions { label: Some("tried".into()), ..NavigateOptions::default() };
    session.navigate(&id(&log, 5), options).await.unwrap();
    assert_eq!(marked(&log), (id(&log, 5), "tried".into()));
    assert_eq!(log.operations().last().unwrap(), "commit");
}

// 001-069, X8
#[tokio::test]
async fn moving_is_refused_during_a_run_and_followed_when_idle() {
    let model = ScriptedModel::new([calls([call("a", "move", json!({}))]), says("done")]);
    let log = MemoryLog::new();
    let session = open(&model, &log);
    let mover = session.clone();
    let tool = TestTool::new("move", move |_, _| {
        let session = mover.clone();
        async move {
            let first = session.log().entries()[0].id.clone();
            let refused = [
                session.branch(Some(&first)).await.err(),
                session.navigate(&first, NavigateOptions::default()).await.err(),
                session.switch(MemoryLog::named("s2")).await.err(),
            ];
            for error in refused {
                assert!(matches!(error, Some(AgentError::AlreadyRunning)), "{error:?}");
            }
            Ok(ToolOutcome::text("ok"))
        }
    });
    session.agent().set_tool_registry(registry([tool]));
    session.prompt_text("hi").await.unwrap();
    assert_eq!(shorts(&log.transcript().unwrap()), ["user hi", "asst +a", "result a ok", "asst done"]);
    session.branch(Some(&id(&log, 0))).await.unwrap();
    assert_eq!(shorts(&session.agent().state().messages), ["user hi"]);
}

#[tokio::test]
async fn an_entry_that_is_not_there_is_named() {
    let (log, _, session) = talked([]).await;
    let leaf = log.leaf();
    let nowhere = EntryId::new("nowhere");
    for error in [
        session.navigate(&nowhere, summarizing()).await.map(drop).unwrap_err(),
        session.branch(Some(&nowhere)).await.unwrap_err(),
    ] {
        assert!(error.to_string().contains("has no entry nowhere"), "{error}");
    }
    assert_eq!(log.leaf(), leaf);
}

#[tokio::test]
async fn a_summary_that_fails_or_is_aborted_leaves_everything_as_it_was() {
    let (log, model, session) = talked([fails(ModelErrorKind::Server, "overloaded")]).await;
    let (leaf, before) = (log.leaf(), log.operations());
    let error = session.navigate(&id(&log, 0), summarizing()).await.unwrap_err();
    assert!(matches!(error, AgentError::BranchSummary(_)), "{error:?}");
    assert!(
        error.to_string().contains("overloaded") && error.to_string().contains("without a summary"),
        "{error}"
    );

    model.push(Answer::Hangs(text_events("hm")));
    let aborts = async {
        while model.sent().len() < 5 {
            tokio::task::yield_now().await;
        }
        session.agent().abort();
    };
    let target = id(&log, 0);
    let (aborted, ()) = tokio::join!(session.navigate(&target, summarizing()), aborts);
    assert!(matches!(aborted, Err(AgentError::Aborted)), "{aborted:?}");

    assert_eq!((log.leaf(), log.operations()), (leaf, before));
    assert_eq!(session.agent().state().messages.len(), 6);
    model.push(says("still here"));
    assert_eq!(shorts(&session.prompt_text("so").await.unwrap())[1], "asst still here");
}

#[tokio::test]
async fn a_move_that_cannot_be_recorded_is_taken_back() {
    let (log, _, session) = talked([says("summed up")]).await;
    let leaf = log.leaf();
    *log.room.lock().unwrap() = 0;
    let error = session.navigate(&id(&log, 0), summarizing()).await.unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
    assert_eq!((log.leaf(), session.agent().state().messages.len()), (leaf, 6));
}

// 001-155: what comes while the session is changed waits for it.
#[tokio::test]
async fn a_prompt_during_a_summary_is_answered_on_the_new_branch() {
    let (log, model, session) = talked([says("summed up"), says("here")]).await;
    let target = id(&log, 0);
    let (moved, ran) = tokio::join!(session.navigate(&target, summarizing()), session.prompt_text("so"));
    assert!(moved.unwrap().summary_entry.is_some());
    assert_eq!(shorts(&ran.unwrap()), ["user so", "asst here"]);
    assert!(model.sent()[4][0].contains("summed up"));
}

#[tokio::test]
async fn hooks_hear_of_moves_that_happened() {
    let (log, model, session) = talked([fails(ModelErrorKind::Server, "overloaded")]).await;
    let notes = Arc::new(Notes::default());
    let hook = HookChain::new([Arc::new(StageHook::new("h", &notes)) as Arc<dyn Hook>]);
    session.agent().configure(|config| config.hooks.replace(hook));
    session.navigate(&log.leaf().unwrap(), summarizing()).await.unwrap();
    session.navigate(&id(&log, 0), summarizing()).await.unwrap_err();
    assert_eq!(notes.take().await, Vec::<String>::new());
    session.navigate(&id(&log, 0), NavigateOptions::default()).await.unwrap();
    assert_eq!(notes.take().await, ["H(SessionLifecycle s1 Switched)"]);
    session.branch(Some(&id(&log, 5))).await.unwrap();
    assert_eq!(notes.take().await, ["H(SessionLifecycle s1 Switched)"]);
    drop(model);

    // Whoever begins with a move begins with a session that hooks know of.
    let session = open(&ScriptedModel::new([]), &log);
    let hook = HookChain::new([Arc::new(StageHook::new("h", &notes)) as Arc<dyn Hook>]);
    session.agent().configure(|config| config.hooks.replace(hook));
    session.branch(Some(&id(&log, 0))).await.unwrap();
    assert_eq!(notes.take().await, ["H(SessionLifecycle s1 Resume)", "H(SessionLifecycle s1 Switched)"]);
}

/// The numbers of the turns that a hook was told.
async fn next_turn(session: &AgentSession) -> u32 {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    struct Tells(tokio::sync::mpsc::UnboundedSender<u32>);
    #[async_trait::async_trait]
    impl Hook for Tells {
        fn name(&self) -> &str {
            "tells"
        }

        fn handles(&self, stage: capstan_ports::HookStage, _tool: Option<&str>) -> bool {
            stage == capstan_ports::HookStage::BeforeTurn
        }

        async fn before_turn(
            &self,
            context: &capstan_ports::hook::HookContext,
            _: &Message,
        ) -> Result<capstan_ports::Verdict<Message>, capstan_ports::HookError> {
            self.0.send(context.turn.turn).unwrap();
            Ok(capstan_ports::Verdict::Proceed)
        }
    }
    let hook = HookChain::new([Arc::new(Tells(sender)) as Arc<dyn Hook>]);
    session.agent().configure(|config| config.hooks.replace(hook));
    session.prompt_text("count").await.unwrap();
    receiver.recv().await.unwrap()
}

#[tokio::test]
async fn the_number_of_a_turn_is_that_of_the_branch_and_of_the_session() {
    let (log, _, session) = talked([]).await;
    assert_eq!(next_turn(&session).await, 2);
    session.navigate(&id(&log, 4), NavigateOptions::default()).await.unwrap();
    assert_eq!(next_turn(&session).await, 1);
    session.switch(MemoryLog::named("s2")).await.unwrap();
    assert_eq!(next_turn(&session).await, 0);
    session.switch(log).await.unwrap();
    assert_eq!(next_turn(&session).await, 2);
}

#[tokio::test]
async fn calls_that_wait_for_a_person_are_those_of_the_branch() {
    let log = MemoryLog::new();
    let model = ScriptedModel::new([calls([call("a", "read", json!({}))]), says("other")]);
    let session = open(&model, &log);
    let puts_off = hooks([TestHook::gate("careful", |_| Ok(GateVerdict::Defer("ask Ann".into())))]);
    session.agent().configure(|config| config.hooks.replace(puts_off));
    session.prompt_text("hi").await.unwrap();
    let waiting = log.leaf().unwrap();
    assert_eq!(session.deferred().len(), 1);
    session.branch(None).await.unwrap();
    assert!(session.deferred().is_empty());
    assert!(matches!(session.approve("a").await, Err(AgentError::NotDeferred { .. })));
    session.prompt_text("else").await.unwrap();
    session.branch(Some(&waiting)).await.unwrap();
    assert_eq!(session.deferred().len(), 1);
    session.switch(MemoryLog::named("s2")).await.unwrap();
    assert!(session.deferred().is_empty());
}

#[tokio::test]
async fn why_another_branch_failed_is_not_told_of_this_one() {
    let (log, _, session) = talked([fails(ModelErrorKind::Auth, "no key")]).await;
    session.prompt_text("and").await.unwrap();
    assert_eq!(session.agent().state().error_message.as_deref(), Some("no key"));
    session.branch(Some(&id(&log, 5))).await.unwrap();
    assert_eq!(session.agent().state().error_message, None);
}

// A parent that does not exist is the root, as everywhere in the tree.
#[tokio::test]
async fn a_message_without_its_parent_is_said_anew_from_the_root() {
    let (log, _, session) = talked([]).await;
    let stray = Entry {
        id: EntryId::new("stray"),
        parent_id: Some(EntryId::new("gone")),
        timestamp: String::new(),
        kind: EntryKind::message(user("lost")),
    };
    log.push(stray.clone());
    let lone = Entry {
        id: EntryId::new("lone"),
        parent_id: None,
        kind: EntryKind::ModelChange(ModelChange { provider: "p".into(), model_id: "m".into() }),
        ..stray
    };
    log.push(lone);
    let navigated = session.navigate(&EntryId::new("stray"), NavigateOptions::default()).await.unwrap();
    assert_eq!((navigated.editor_text.as_deref(), log.leaf()), (Some("lost"), None));
    // The two ways have nothing in common, so all of the present one is left behind.
    session.branch(Some(&id(&log, 5))).await.unwrap();
    let left = left_behind(log.as_ref(), log.leaf().as_ref(), &EntryId::new("lone")).unwrap();
    assert_eq!(left.len(), 6);
}
