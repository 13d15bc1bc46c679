use super::*;
use crate::compaction::talk_tests::*;
use crate::config::AgentLoopConfig;
use crate::recording_tests::ScriptedCompressor;
use crate::scripted_tests::*;
use crate::session::AgentSession;
use crate::{HookChain, run_agent_loop};
use async_trait::async_trait;
use capstan_ports::event::NoEvents;
use capstan_ports::hook::HookContext;
use capstan_ports::{
    CompressError, CompressorPort, Content, Hook, HookError, ModelErrorKind, SessionLog, StopReason,
};
use serde_json::json;

fn history() -> Vec<Arc<Message>> {
    let mut history = vec![asks("one", 700)];
    history.extend(round("a", 600));
    history.extend([answers("said", 10), asks("two", 80)]);
    history
}

async fn run_on(history: Vec<Arc<Message>>, config: &AgentLoopConfig) -> Ran {
    let context = crate::AgentContext { messages: history, ..context([]) };
    run(&context, config).await
}

fn no_log(answers: impl IntoIterator<Item = Answer>) -> (Arc<ScriptedModel>, AgentLoopConfig) {
    let model = ScriptedModel::new(answers);
    let config = AgentLoopConfig { context_window: Some(1500), ..small(&model) };
    (model, config)
}

// 001-147, 001-148
#[tokio::test]
async fn a_conversation_that_has_grown_too_far_is_summarized_before_the_request() {
    let (model, config) = no_log([says("it was about one"), says("done")]);
    let ran = run_on(history(), &config).await;
    let sent = model.sent();
    assert!(sent[0][0].contains("[Tool result]: a"), "{}", sent[0][0]);
    assert!(sent[1][0].contains("<summary>\nit was about one\n</summary>"), "{}", sent[1][0]);
    assert_eq!((sent[1].len(), sent[1][2].as_str()), (3, "user hi"));
    let trace = ran.trace.join("\n");
    assert!(trace.contains("compaction_start Threshold\ncompaction_end compacted\nmessage_start"), "{trace}");
}

#[tokio::test]
async fn the_hosts_model_summarizes_what_the_compressor_names() {
    let (model, mut config) = no_log([says("it was about one"), says("done")]);
    let order = CompressAction::Summarize { first_kept: 4, instructions: "names".into() };
    config.compressor = Some(ScriptedCompressor::new(&Arc::default(), [order]));
    run_on(history(), &config).await.result.unwrap();
    let sent = model.sent();
    assert!(sent[0][0].ends_with("keep in mind: names"), "{}", sent[0][0]);
    assert!(sent[1][0].contains("it was about one") && sent[1].len() == 3);
}

// 001-154
#[tokio::test]
async fn a_summary_that_fails_leaves_the_conversation_as_it_is() {
    let (model, config) = no_log([fails(ModelErrorKind::Auth, "no key"), says("done")]);
    let ran = run_on(history(), &config).await;
    assert_eq!(shorts(&ran.result.unwrap()), ["user hi", "asst done"]);
    assert_eq!(model.sent()[1].len(), 6);
    let (error, result, retry) = ends(&ran.sink).remove(0);
    assert!(error.unwrap().contains("could not be summarized: no key") && result.is_none() && !retry);
}

type End = (Option<String>, Option<CompactionResult>, bool);

fn ends(sink: &Recorder) -> Vec<End> {
    let events = sink.events.lock().unwrap();
    let ends = events.iter().filter_map(|event| match event {
        AgentEvent::CompactionEnd { result, will_retry, error_message, .. } => {
            Some((error_message.clone(), result.clone(), *will_retry))
        }
        _ => None,
    });
    ends.collect()
}

// 001-156: what a chosen compressor does; where it breaks the native one takes its place.
#[tokio::test]
async fn a_compressor_that_fails_or_answers_nonsense_is_replaced_by_the_native_one() {
    let orphan = || CompressAction::Replace(vec![result("x", "r".into())]);
    let failed = CompressError { name: "c".into(), message: "trap".into(), source: None };
    for answer in [Err(failed), Ok(orphan()), Ok(CompressAction::Replace(vec![]))] {
        let (model, mut config) = no_log([says("the native summary"), says("done")]);
        let compressor = ScriptedCompressor::new(&Arc::default(), []);
        compressor.actions.lock().unwrap().push_back(answer);
        config.compressor = Some(compressor);
        run_on(history(), &config).await.result.unwrap();
        assert!(model.sent()[1][0].contains("the native summary"));
    }
    let (model, mut config) = no_log([says("done")]);
    config.compressor = Some(ScriptedCompressor::new(&Arc::default(), [CompressAction::None]));
    run_on(history(), &config).await.result.unwrap();
    assert_eq!(model.sent()[0].len(), 6, "leaving everything is an answer");
}

// A compressor is not told how an answer ended, so it cannot leave out one that was interrupted.
#[tokio::test]
async fn a_replacement_may_hold_an_answer_that_was_interrupted() {
    let interrupted = assistant(vec![Content::text("half a")], StopReason::Aborted);
    let messages = vec![asks("goal", 10), Arc::new(Message::Assistant(interrupted)), asks("again", 10)];
    let (model, mut config) = no_log([says("done")]);
    let replace = CompressAction::Replace(messages);
    config.compressor = Some(ScriptedCompressor::new(&Arc::default(), [replace]));
    run_on(history(), &config).await.result.unwrap();
    let sent = &model.sent()[0];
    assert!(sent.len() == 2 && sent[0].contains("goal") && sent[1].contains("again"), "{sent:?}");
}

/// Broke before and says so.
struct Broken;

#[async_trait]
impl CompressorPort for Broken {
    fn is_left_out(&self) -> bool {
        true
    }

    async fn compress(
        &self,
        _: &[Arc<Message>],
        _: &CompressContext,
    ) -> Result<CompressAction, CompressError> {
        panic!("asked nevertheless")
    }
}

#[tokio::test]
async fn a_compressor_that_is_left_out_is_not_asked_and_the_native_one_stays_in_its_place() {
    let (model, mut config) = no_log([says("the native summary"), says("done")]);
    config.compressor = Some(Arc::new(Broken));
    run_on(history(), &config).await.result.unwrap();
    assert!(model.sent()[1][0].contains("the native summary"));
}

// 001-153
#[tokio::test]
async fn a_refused_conversation_is_compacted_and_sent_again_once_for_each_input() {
    let too_long = || fails(ModelErrorKind::ContextOverflow, "prompt is too long");
    let (model, mut config) = no_log([too_long(), says("summary"), says("done")]);
    config.context_window = Some(100_000);
    let ran = run_on(history(), &config).await;
    assert_eq!(shorts(&ran.result.unwrap()), ["user hi", "asst done"]);
    assert!(model.sent()[2][0].contains("<summary>\nsummary\n</summary>"), "{:?}", model.sent()[2]);
    assert!(ran.trace.contains(&"compaction_start Overflow".to_owned()));
    assert!(ran.trace.contains(&"compaction_end compacted, retry".to_owned()));

    let (model, mut config) = no_log([too_long(), says("summary"), too_long(), too_long()]);
    config.context_window = Some(100_000);
    let ran = run_on(history(), &config).await;
    let last = shorts(&ran.result.unwrap()).pop().unwrap();
    assert!(last.starts_with("asst! prompt is too long. The conversation was shortened once"), "{last}");
    assert_eq!(model.sent().len(), 3, "no loop");
    assert_eq!(ran.sink.count("compaction_start"), 1);
}

#[tokio::test]
async fn a_refused_conversation_that_cannot_be_summarized_is_trimmed_for_this_run_alone() {
    let too_long = fails(ModelErrorKind::ContextOverflow, "prompt is too long");
    let model =
        ScriptedModel::new([too_long, fails(ModelErrorKind::Auth, "no"), says("done"), says("again")]);
    let log = MemoryLog::new();
    for message in history() {
        log.append_message(message).await.unwrap();
    }
    let config = AgentLoopConfig { context_window: Some(2200), ..small(&model) };
    let session = AgentSession::open(config, log.clone()).unwrap();
    let recorder = Arc::new(Recorder::default());
    session.agent().subscribe(recorder.clone());
    let added = session.prompt_text("hi").await.unwrap();
    assert_eq!(shorts(&added), ["user hi", "asst done"]);
    assert!(model.sent()[2].len() < 6, "{:?}", model.sent()[2]);
    let (error, result, retry) = ends(&recorder).remove(0);
    assert!(error.unwrap().contains("for this run old results and the oldest turns are left out"));
    assert!(result.is_none() && retry);
    let kinds: Vec<_> = log.entries().iter().map(|entry| entry.kind.type_name().to_owned()).collect();
    assert!(!kinds.contains(&"compaction".to_owned()), "{kinds:?}");
    session.prompt_text("more").await.unwrap();
    assert_eq!(model.sent()[3].len(), 8, "the session has all of it");
}

#[tokio::test]
async fn with_compaction_off_a_refusal_ends_the_turn_and_nothing_is_asked() {
    let (model, mut config) = no_log([fails(ModelErrorKind::ContextOverflow, "prompt is too long")]);
    config.compaction.enabled = false;
    let compressor = ScriptedCompressor::new(&Arc::default(), [CompressAction::Replace(vec![user("x")])]);
    config.compressor = Some(compressor.clone());
    let ran = run_on(history(), &config).await;
    let last = shorts(&ran.result.unwrap()).pop().unwrap();
    assert!(last.contains("Automatic compaction is off"), "{last}");
    assert_eq!((model.sent().len(), ran.sink.count("compaction")), (1, 0));
    assert!(compressor.contexts.lock().unwrap().is_empty());
}

// 001-154
#[tokio::test]
async fn after_three_failures_nothing_is_tried_any_more_and_that_is_said_once() {
    let failing = || (0..9).flat_map(|_| [fails(ModelErrorKind::Auth, "no"), says("done")]);
    let (model, config) = no_log(failing());
    let mut said = Vec::new();
    for _ in 0..3 {
        said.extend(ends(&run_on(history(), &config).await.sink));
    }
    assert_eq!(said.iter().filter(|(error, ..)| error.as_ref().unwrap().contains("is paused")).count(), 1);
    assert!(said[2].0.as_ref().unwrap().contains("compact by hand"), "{said:?}");
    assert_eq!(model.sent().len(), 6);
    model.push(says("done"));
    let ran = run_on(history(), &config).await;
    assert_eq!((ran.sink.count("compaction"), model.sent().len()), (0, 7), "the prompt is answered at once");
}

#[tokio::test]
async fn a_success_forgets_the_failures_before_it() {
    let (_, config) = no_log((0..9).flat_map(|at| {
        let summary = if at == 2 { says("summary") } else { fails(ModelErrorKind::Auth, "no") };
        [summary, says("done")]
    }));
    for _ in 0..5 {
        run_on(history(), &config).await;
    }
    assert!(!config.compaction_control.is_paused());
    run_on(history(), &config).await;
    assert!(config.compaction_control.is_paused());
}

/// Objects to compactions, or fails.
struct Objects(Result<Option<String>, &'static str>);

#[async_trait]
impl Hook for Objects {
    fn name(&self) -> &str {
        "keeper"
    }

    fn handles(&self, stage: HookStage, _tool: Option<&str>) -> bool {
        stage == HookStage::SessionLifecycle
    }

    async fn before_compaction(
        &self,
        _context: &HookContext,
        reason: CompactionReason,
    ) -> Result<Option<String>, HookError> {
        assert_eq!(reason, CompactionReason::Threshold);
        self.0.clone().map_err(|text| HookError::Failed {
            hook: "keeper".into(),
            message: text.into(),
            source: None,
        })
    }
}

// 001-156
#[tokio::test]
async fn a_hook_can_cancel_a_compaction_and_one_that_fails_does_not() {
    let calling = calls([call("a", "nope", json!({}))]);
    let (model, config) = no_log([calling, says("done")]);
    let objects = Objects(Ok(Some("not before lunch".into())));
    config.hooks.replace(HookChain::new([Arc::new(objects) as Arc<dyn Hook>]));
    let ran = run_on(history(), &config).await;
    assert_eq!(model.sent()[1].len(), 8, "the turn goes on with all of it");
    let ends = ends(&ran.sink);
    assert_eq!(ends.len(), 1, "asked once for each run");
    assert_eq!(ends[0].0.as_deref(), Some("keeper objected: not before lunch"));
    assert!(!config.compaction_control.is_paused());

    let (model, config) = no_log([says("summary"), says("done")]);
    config.hooks.replace(HookChain::new([Arc::new(Objects(Err("broken"))) as Arc<dyn Hook>]));
    run_on(history(), &config).await.result.unwrap();
    assert_eq!(model.sent()[1].len(), 3);
}

// The usage of an answer from before a compaction says nothing about the conversation after it.
#[tokio::test]
async fn after_a_compaction_old_counts_do_not_lead_to_another() {
    let counted = |tokens| {
        let usage = capstan_ports::Usage { total_tokens: tokens, ..Default::default() };
        let answer =
            assistant(vec![capstan_ports::Content::text("counted")], capstan_ports::StopReason::Stop);
        Arc::new(Message::Assistant(capstan_ports::AssistantMessage { usage, ..answer }))
    };
    let history = vec![asks("old", 700), answers("a", 100), asks("q", 60), counted(1450)];
    let answers = [says("summary"), calls([call("a", "nope", json!({}))]), says("done")];
    let (model, config) = no_log(answers);
    let ran = run_on(history, &config).await;
    assert_eq!((ran.sink.count("compaction_start"), model.sent().len()), (1, 3));
}

// 001-154: an abort during a compaction ends it and the run, and every start has its end.
#[tokio::test]
async fn an_abort_ends_a_compaction_with_the_run() {
    let (model, config) = no_log([Answer::Hangs(vec![])]);
    let (sink, cancel) = (Recorder::default(), CancellationToken::new());
    let context = crate::AgentContext { messages: history(), ..context([]) };
    let running = run_agent_loop(vec![user("hi")], &context, &config, &sink, &cancel);
    let aborts = async {
        while model.sent().is_empty() {
            tokio::task::yield_now().await;
        }
        assert!(config.compaction_control.is_busy());
        cancel.cancel();
    };
    let (added, ()) = tokio::join!(running, aborts);
    assert_eq!(shorts(&added.unwrap()), ["user hi", "asst! Operation aborted"]);
    assert_eq!((sink.count("compaction_start"), sink.count("compaction_end unchanged")), (1, 1));
    assert!(!config.compaction_control.is_busy());
    run_agent_loop(vec![user("hi")], &context, &config, &NoEvents, &CancellationToken::new()).await.unwrap();
}

#[test]
fn a_stored_conversation_shows_what_a_compaction_left() {
    let at = |message: &Arc<Message>, timestamp| match message.as_ref() {
        Message::Assistant(answer) => {
            Arc::new(Message::Assistant(capstan_ports::AssistantMessage { timestamp, ..answer.clone() }))
        }
        _ => message.clone(),
    };
    let (old, new) = (at(&answers("old", 1), 5), at(&answers("new", 1), u64::MAX));
    let summary = message_of("s");
    assert_eq!(compacted_before(&[summary.clone(), old.clone(), user("q"), new.clone()]), 2);
    assert_eq!(compacted_before(&[summary, new.clone()]), 1);
    assert_eq!(compacted_before(&[user("q"), old, new]), 0);
}
