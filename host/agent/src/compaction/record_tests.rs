use super::*;
use crate::compaction::talk_tests::*;
use crate::config::AgentLoopConfig;
use crate::recording_tests::ScriptedCompressor;
use crate::scripted_tests::*;
use crate::session::AgentSession;
use capstan_ports::{CompressAction, Entry, ModelErrorKind, SessionError};
use proptest::prelude::*;
use serde_json::json;

async fn log_of(messages: impl IntoIterator<Item = Arc<Message>>) -> Arc<MemoryLog> {
    let log = MemoryLog::new();
    for message in messages {
        log.append_message(message).await.unwrap();
    }
    log
}

fn compactions(log: &MemoryLog) -> Vec<Compaction> {
    let kinds = SessionLog::entries(log).into_iter().filter_map(|entry| match &entry.kind {
        EntryKind::Compaction(compaction) => Some(compaction.clone()),
        _ => None,
    });
    kinds.collect()
}

fn open(config: AgentLoopConfig, log: &Arc<MemoryLog>) -> AgentSession {
    AgentSession::open(config, log.clone()).unwrap()
}

fn replacing(model: &Arc<ScriptedModel>, actions: Vec<Vec<Arc<Message>>>) -> AgentLoopConfig {
    let actions = actions.into_iter().map(CompressAction::Replace);
    AgentLoopConfig { compressor: Some(ScriptedCompressor::new(&Arc::default(), actions)), ..small(model) }
}

// 001-150
#[tokio::test]
async fn the_entry_tells_the_summary_what_was_kept_how_much_there_was_and_which_files() {
    let mut history = vec![asks("one", 1700)];
    history.extend(calling("a", "read", json!({"path": "a.rs"})));
    history.extend([answers("said", 100), asks("two", 90)]);
    let log = log_of(history).await;
    let model = ScriptedModel::new([says("about one"), says("done")]);
    open(small(&model), &log).prompt_text("hi").await.unwrap();
    let compaction = &compactions(&log)[0];
    assert_eq!(compaction.summary, "about one\n\n<read-files>\na.rs\n</read-files>");
    assert_eq!(compaction.first_kept_entry_id.as_str(), "e5");
    assert!((1890..1910).contains(&compaction.tokens_before), "{}", compaction.tokens_before);
    assert_eq!(compaction.details, Some(json!({"readFiles": ["a.rs"], "modifiedFiles": []})));
    assert_eq!((&compaction.from_hook, &compaction.messages), (&None, &None));
    let operations = log.operations();
    let at = operations.iter().position(|done| done == "append compaction").unwrap();
    assert_eq!(operations[at + 1], "commit", "durable before the request: {operations:?}");
    // The next run, and the next program, go on from there.
    let model = ScriptedModel::new([says("more")]);
    open(small(&model), &log).prompt_text("go on").await.unwrap();
    let sent = &model.sent()[0];
    assert!(sent[0].contains("<summary>\nabout one") && sent[1].starts_with("user two"), "{sent:?}");
    assert_eq!(sent[2..], ["user hi", "asst done", "user go on"]);
}

// 001-156: what an extension wrote stays in force, and the rest is kept by its entries.
#[tokio::test]
async fn the_messages_of_an_extension_are_recorded_and_the_common_end_is_kept() {
    let history = vec![user("one"), answers("a", 3), user("two"), answers("b", 3)];
    let log = log_of(history.clone()).await;
    let model = ScriptedModel::new([says("done"), says("more")]);
    let hi = user("hi");
    let list = vec![user("in short"), history[2].clone(), history[3].clone(), hi.clone()];
    let session = open(replacing(&model, vec![list]), &log);
    session.prompt(vec![hi.as_ref().clone()]).await.unwrap();
    let compaction = &compactions(&log)[0];
    let Message::User(short) = &compaction.messages.as_ref().unwrap()[0] else { panic!() };
    assert_eq!(short.content, [capstan_ports::Content::text("in short")]);
    assert_eq!(compaction.messages.as_ref().unwrap().len(), 1);
    assert_eq!((compaction.first_kept_entry_id.as_str(), compaction.from_hook), ("e3", Some(true)));
    assert_eq!(compaction.summary, "[User]: in short", "for programs that know only that");
    assert_eq!(model.sent()[0][0], "user in short");
    let reopened = open(small(&ScriptedModel::new([says("x")])), &log);
    let kept = shorts(&reopened.log().context().unwrap().messages);
    assert_eq!((kept[0].as_str(), kept.len()), ("user in short", 5));
    // The whole conversation is still in the session.
    assert_eq!(reopened.log().transcript().unwrap().len(), 6);
}

#[tokio::test]
async fn where_nothing_is_kept_the_entry_names_itself() {
    let log = log_of([user("one"), answers("a", 3)]).await;
    let model = ScriptedModel::new([says("done")]);
    let session = open(replacing(&model, vec![vec![user("only this")]]), &log);
    session.prompt_text("hi").await.unwrap();
    let entries = SessionLog::entries(log.as_ref());
    let is_compaction = |entry: &&Arc<Entry>| matches!(entry.kind, EntryKind::Compaction(_));
    let entry = entries.iter().find(is_compaction).unwrap();
    assert_eq!(first_kept(&entry.kind), Some(entry.id.clone()));
    assert_eq!(shorts(&log.context().unwrap().messages), ["user only this", "asst done"]);
}

// 001-151
#[tokio::test]
async fn a_large_result_at_the_end_is_cut_in_the_context_and_whole_in_the_session() {
    let long = text("long", 3000);
    let body = long.clone();
    let tool = TestTool::new("work", move |_, _| {
        let text = body.clone();
        async move { Ok(capstan_ports::ToolOutcome::text(text)) }
    });
    let model = ScriptedModel::new([calls([call("a", "work", json!({}))]), says("done"), says("more")]);
    let log = MemoryLog::new();
    let session = open(small(&model), &log);
    session.agent().set_tool_registry(registry([tool]));
    session.prompt_text("hi").await.unwrap();
    let sent = model.sent();
    assert_eq!(
        (sent.len(), &sent[1][..2]),
        (2, &["user hi".to_owned(), "asst +a".to_owned()][..]),
        "nobody was asked to summarize"
    );
    assert!(sent[1][2].len() < 4 * 600 && sent[1][2].contains("left out to make room"), "{}", sent[1][2]);
    let whole = session.log().transcript().unwrap();
    assert_eq!(whole[2].text(), long);
    session.prompt_text("go on").await.unwrap();
    assert_eq!(model.sent()[2].len(), 5);
    assert!(model.sent()[2][2].contains("left out to make room"), "it stays cut");
    assert_eq!(compactions(&log).len(), 1);
}

// 001-154: a summary that cannot be recorded changes nothing.
#[tokio::test]
async fn a_compaction_that_cannot_be_recorded_ends_the_run_and_says_so() {
    let log = log_of([asks("one", 1700), answers("a", 100), asks("two", 90)]).await;
    let model = ScriptedModel::new([says("summary"), says("unreached")]);
    let session = open(small(&model), &log);
    let recorder = Arc::new(Recorder::default());
    session.agent().subscribe(recorder.clone());
    *log.room.lock().unwrap() = 1;
    let error = session.prompt_text("hi").await.unwrap_err();
    assert!(matches!(error, AgentError::Session(SessionError::ReadOnly { .. })), "{error}");
    assert_eq!((recorder.count("compaction_start"), recorder.count("compaction_end unchanged")), (1, 1));
    assert_eq!((recorder.count("agent_end"), compactions(&log).len()), (1, 0));
}

// 001-037
#[tokio::test]
async fn a_compaction_that_names_no_entry_is_refused() {
    let log = log_of([user("one")]).await;
    let unknown = Compaction {
        summary: "s".into(),
        first_kept_entry_id: EntryId::new("e99"),
        tokens_before: 1,
        details: None,
        from_hook: None,
        messages: None,
    };
    let error = log.append(EntryKind::Compaction(unknown)).await.unwrap_err();
    assert!(matches!(error, SessionError::UnknownEntry { .. }), "{error}");
    assert_eq!(SessionLog::entries(log.as_ref()).len(), 1);
}

// 001-046
#[tokio::test]
async fn a_compaction_counts_on_its_own_branch_alone() {
    let log = log_of([asks("one", 1700), answers("a", 100), asks("two", 90)]).await;
    let before = log.leaf();
    let model = ScriptedModel::new([says("summary"), says("done"), says("elsewhere")]);
    let session = open(AgentLoopConfig { retry: Default::default(), ..small(&model) }, &log);
    session.prompt_text("hi").await.unwrap();
    let compacted = log.leaf();
    session.branch(before.as_ref()).await.unwrap();
    assert_eq!(log.context().unwrap().messages.len(), 3, "all of it again");
    session.branch(compacted.as_ref()).await.unwrap();
    assert!(log.context().unwrap().messages[0].text().contains("<summary>"));
}

/// What happens to a random session.
#[derive(Debug, Clone)]
enum Step {
    Turn { question: usize, results: Vec<Vec<usize>> },
    Refused,
    ByHand,
    Replaced(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let turn = (1_usize..200, prop::collection::vec(prop::collection::vec(1_usize..400, 1..4), 0..4))
        .prop_map(|(question, results)| Step::Turn { question, results });
    let step = prop_oneof![
        6 => turn,
        1 => Just(Step::Refused),
        2 => Just(Step::ByHand),
        1 => (0_usize..12).prop_map(Step::Replaced),
    ];
    prop::collection::vec(step, 1..14)
}

/// A session of these steps, all of whose summaries tell which entries they were made of.
async fn play(steps: Vec<Step>) {
    let log = MemoryLog::new();
    let model = Arc::new(Telling(ScriptedModel::new([])));
    let mut config = small(&model.0);
    config.model = model.clone();
    let session = open(config, &log);
    let tool = TestTool::new("work", |call, _| async move {
        // Later calls are done first, so that the log has results in another order than the conversation.
        for _ in 0..call.arguments["wait"].as_u64().unwrap() {
            tokio::task::yield_now().await;
        }
        let size = usize::try_from(call.arguments["size"].as_u64().unwrap()).unwrap();
        Ok(capstan_ports::ToolOutcome::text(text(&format!("<{}>", call.id), size)))
    });
    session.agent().set_tool_registry(registry([tool]));
    for (number, step) in steps.into_iter().enumerate() {
        model.0.forget();
        match step {
            Step::Turn { question, results } => {
                for (round, sizes) in results.iter().enumerate() {
                    let all = sizes.len();
                    model.0.push(calls(sizes.iter().enumerate().map(|(at, size)| {
                        let arguments = json!({"size": size, "wait": 3 * (all - at)});
                        call(&format!("c{number}-{round}-{at}"), "work", arguments)
                    })));
                }
                model.0.push(says(&format!("<a{number}>")));
                session.prompt_text(text(&format!("<q{number}>"), question)).await.unwrap();
            }
            Step::Refused => {
                model.0.push(fails(ModelErrorKind::ContextOverflow, "too long"));
                model.0.push(says(&format!("<a{number}>")));
                session.prompt_text(format!("<q{number}>")).await.unwrap();
            }
            Step::ByHand => {
                let kept = session.compact(None).await;
                assert!(matches!(
                    kept,
                    Ok(_) | Err(AgentError::NothingToCompact | AgentError::AlreadyCompacted)
                ));
            }
            Step::Replaced(kept) => {
                let context = log.context().unwrap().messages;
                let mut from = context.len().saturating_sub(kept);
                while context.get(from).is_some_and(|m| matches!(m.as_ref(), Message::ToolResult(_))) {
                    from += 1;
                }
                let marks = marks_in(&context[..from].iter().map(|m| whole(m)).collect::<String>());
                let mut list = vec![user(&format!("left out {marks}"))];
                list.extend(crate::transcript::repair(&context[from..]));
                let action = CompressAction::Replace(list);
                let once = ScriptedCompressor::new(&Arc::default(), [action]);
                session.agent().configure(|config| config.compressor = Some(once));
                session.compact(None).await.ok();
                session.agent().configure(|config| config.compressor = None);
            }
        }
        let context = log.context().unwrap();
        // 001-047: what would be sent pairs calls and results as it is; the order of results is mended before each request.
        let repaired = crate::transcript::repair(&context.messages);
        assert_paired(&repaired);
        let failed = |message: &&Arc<Message>| matches!(message.as_ref(), Message::Assistant(answer) if answer.error_message.is_some());
        let failures = context.messages.iter().filter(failed).count();
        assert_eq!(repaired.len() + failures, context.messages.len(), "nothing was made up or left out");
        // 001-045: whatever was said is told by a summary or there.
        let told: String = context.messages.iter().map(|message| whole(message)).collect();
        for message in log.transcript().unwrap() {
            let marks = marks_in(&whole(&message));
            assert!(marks.split(' ').all(|mark| told.contains(mark)), "{marks} is lost");
        }
    }
    for request in model.0.requests.lock().unwrap().iter() {
        assert_paired(&request.messages);
    }
}

fn whole(message: &Message) -> String {
    let mut text = message.text();
    if let Message::Assistant(answer) = message {
        text.extend(answer.tool_calls().map(|call| format!("<{}>", call.id)));
    }
    text
}

/// The `<…>` marks in a text; that of a result is the mark of its call, too.
fn marks_in(text: &str) -> String {
    let marks = text.split('<').skip(1).filter_map(|rest| rest.split_once('>')).map(|(mark, _)| mark);
    let is_ours = |mark: &&str| {
        let mut rest = mark.chars();
        matches!(rest.next(), Some('q' | 'a' | 'c')) && rest.all(|c| c.is_ascii_digit() || c == '-')
    };
    marks.filter(is_ours).map(|mark| format!("<{mark}>")).collect::<Vec<_>>().join(" ")
}

/// Summarizes by listing the marks in what it is to summarize; otherwise follows the script.
struct Telling(Arc<ScriptedModel>);

impl capstan_ports::Model for Telling {
    fn info(&self) -> &capstan_ports::ModelInfo {
        self.0.info()
    }

    fn stream(&self, request: capstan_ports::ModelRequest) -> capstan_ports::ModelStream {
        if !request.system.contains("summaries") {
            return self.0.stream(request);
        }
        let marks = marks_in(&request.messages[0].text());
        let answer =
            assistant(vec![capstan_ports::Content::text(format!("told {marks}"))], Default::default());
        let done = capstan_ports::ModelEvent::Done(Box::new(answer));
        Box::pin(futures::stream::iter([done]))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    // 001-045, 001-047, 001-151
    #[test]
    fn however_often_a_session_is_compacted_nothing_is_lost_and_nothing_is_orphaned(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(play(steps));
    }
}
