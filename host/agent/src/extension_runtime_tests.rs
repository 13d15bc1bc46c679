use super::*;
use crate::CodingExtension;
use crate::scripted_tests::*;
use crate::trace::{Absence, HookEffect};
use async_trait::async_trait;
use capstan_ports::hook::HookContext;
use capstan_ports::{
    Amendment, Content, GateVerdict, Hook, HookError, HookStage, Message, ToolCall, ToolOutcome,
};
use serde_json::json;
use std::sync::Mutex;

/// What happened, in order.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    fn note(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// An extension of a type of its own: one tool and one gate.
struct Typed {
    name: &'static str,
    tool: TestTool,
    diary: Diary,
}

#[async_trait]
impl Extension for Typed {
    fn name(&self) -> &str {
        self.name
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        vec![Arc::new(self.tool.clone())]
    }

    fn hooks(&self, place: i32) -> Vec<Arc<dyn Hook>> {
        let (diary, name) = (self.diary.clone(), self.name);
        let gate = TestHook::gate(name, move |call| {
            diary.note(format!("{name} sees {}", call.id));
            Ok(GateVerdict::Pass)
        });
        vec![Arc::new(gate.at(place))]
    }

    async fn on_start(&self, context: &ExtensionContext) -> Result<(), StartError> {
        self.diary.note(format!("{} starts in {}", self.name, context.session.id()));
        Ok(())
    }
}

fn runtime(extensions: impl IntoIterator<Item = Arc<dyn Extension>>) -> ExtensionRuntime {
    let mut runtime = ExtensionRuntime::new();
    for extension in extensions {
        runtime.register(extension).unwrap();
    }
    runtime
}

fn arc(extension: impl Extension + 'static) -> Arc<dyn Extension> {
    Arc::new(extension)
}

fn tool(name: &str, answer: &'static str) -> Arc<dyn Tool> {
    Arc::new(TestTool::new(name, move |_, _| async move { Ok(ToolOutcome::text(answer)) }))
}

fn gate(name: &str, diary: &Diary, verdict: GateVerdict) -> CodingExtension {
    let (diary, note) = (diary.clone(), format!("{name} is asked"));
    CodingExtension::new(name).with_before_tool_call(move |_: HookContext, _: ToolCall| {
        diary.note(note.clone());
        let verdict = verdict.clone();
        async move { Ok(verdict) }
    })
}

fn amender(
    name: &str,
    amend: impl Fn(&ToolOutcome) -> Result<Option<Amendment>, HookError> + Send + Sync + 'static,
) -> CodingExtension {
    CodingExtension::new(name).with_after_tool_call(move |_, _, outcome| {
        let amended = amend(&outcome);
        async move { amended }
    })
}

/// One prompt with one call of the tool `work`; gives the transcript in short.
async fn work(runtime: ExtensionRuntime) -> (Vec<String>, Opened) {
    let model = ScriptedModel::new([calls([call("a", "work", json!({}))]), says("done")]);
    let opened = runtime.open(config(&model), MemoryLog::new(), vec![tool("work", "worked")]).await.unwrap();
    let added = opened.session.prompt_text("go").await.unwrap();
    (shorts(&added), opened)
}

fn content(text: &str) -> Amendment {
    Amendment { content: Some(vec![Content::text(text)]), ..Amendment::default() }
}

// 001-110
#[tokio::test]
async fn a_callback_struct_needs_nothing_but_its_name() {
    let bare = CodingExtension { name: "bare".to_owned(), ..CodingExtension::default() };
    assert!(bare.tools.is_empty() && bare.on_start.is_none());
    assert!(bare.before_tool_call.is_none() && bare.after_tool_call.is_none());
    let (seen, opened) = work(runtime([arc(bare)])).await;
    assert_eq!(seen, ["user go", "asst +a", "result a worked", "asst done"]);
    assert!(opened.notices.is_empty());
}

// 001-111, 001-120, 001-121
#[tokio::test]
async fn both_kinds_start_once_in_the_order_of_registration_and_serve_one_session() {
    let diary = Diary::default();
    let notes = diary.clone();
    let callbacks = gate("second", &diary, GateVerdict::Pass)
        .with_tool(tool("late", "from callbacks"))
        .with_on_start(move |context| {
            let notes = notes.clone();
            async move {
                // Session and agent are those of the conversation, with everybody's tools in place.
                context.agent.steer(Message::user("from the start"));
                notes.note(format!("second starts in {}", context.session.id()));
                Ok(())
            }
        });
    let typed = |name, tool| {
        arc(Typed {
            name,
            tool: TestTool::new(tool, |_, _| async { Ok(ToolOutcome::text("typed")) }),
            diary: diary.clone(),
        })
    };
    let list = runtime([typed("first", "early"), arc(callbacks), typed("third", "last")]);
    assert_eq!(list.names().collect::<Vec<_>>(), ["first", "second", "third"]);

    let both = [call("a", "early", json!({})), call("b", "late", json!({}))];
    let model = ScriptedModel::new([calls(both), says("done"), says("again")]);
    let opened = list.open(config(&model), MemoryLog::new(), Vec::new()).await.unwrap();
    assert_eq!(diary.lines(), ["first starts in s1", "second starts in s1", "third starts in s1"]);
    let added = opened.session.prompt_text("go").await.unwrap();
    assert_eq!(
        shorts(&added),
        [
            "user go",
            "user from the start",
            "asst +a+b",
            "result a typed",
            "result b from callbacks",
            "asst done"
        ]
    );
    opened.session.prompt_text("more").await.unwrap();
    let lines = diary.lines();
    assert_eq!(lines.iter().filter(|line| line.contains("starts")).count(), 3, "{lines:?}");
    assert_eq!(&lines[3..6], ["first sees a", "second is asked", "third sees a"]);
}

// 001-112
#[tokio::test]
async fn an_extension_that_does_not_start_keeps_the_session_from_opening() {
    let diary = Diary::default();
    let notes = diary.clone();
    let failing = |fails: bool| {
        let broken = CodingExtension::new("broken")
            .with_on_start(move |_| async move { if fails { Err("no licence".into()) } else { Ok(()) } });
        let notes = notes.clone();
        let later = CodingExtension::new("later").with_on_start(move |_| {
            notes.note("later starts");
            async { Ok(()) }
        });
        runtime([arc(broken), arc(later)])
    };
    let model = ScriptedModel::new([]);
    assert!(failing(false).open(config(&model), MemoryLog::new(), Vec::new()).await.is_ok());
    let error = failing(true).open(config(&model), MemoryLog::new(), Vec::new()).await.err().unwrap();
    assert_eq!(error.to_string(), "extension broken: no licence");
    assert_eq!(diary.lines(), ["later starts"]);
}

// 001-112
#[tokio::test]
async fn if_configured_so_an_extension_that_does_not_start_is_reported_and_left_out() {
    let diary = Diary::default();
    let panics = gate("panics", &diary, GateVerdict::Block("never".into()))
        .with_tool(tool("lost", "lost"))
        .with_on_start(|_| async { panic!("at start") });
    let list = runtime([arc(panics), arc(gate("stays", &diary, GateVerdict::Pass))])
        .with_start_failure(StartFailure::DisableExtension);
    let (seen, opened) = work(list).await;
    assert_eq!(seen[2], "result a worked");
    assert_eq!(diary.lines(), ["stays is asked"]);
    let names: Vec<_> = opened.tools.list().iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(names, ["work"]);
    let notices: Vec<_> = opened.notices.iter().map(ToString::to_string).collect();
    assert_eq!(notices, ["extension panics: it panicked (at start); it takes no part in this session"]);
}

#[tokio::test]
async fn the_gates_stand_before_the_first_extension_starts() {
    let diary = Diary::default();
    let eager = CodingExtension::new("eager").with_on_start(|context| async move {
        context.session.prompt_text("from the start").await?;
        Ok(())
    });
    let closed = gate("closed", &diary, GateVerdict::Block("closed".into()));
    let model = ScriptedModel::new([calls([call("a", "work", json!({}))]), says("done")]);
    let log = MemoryLog::new();
    runtime([arc(eager), arc(closed)])
        .open(config(&model), log.clone(), vec![tool("work", "worked")])
        .await
        .unwrap();
    assert_eq!(shorts(&log.context().unwrap().messages)[2], "result! a closed");
}

// 001-113, 001-114
#[tokio::test]
async fn a_tool_name_belongs_to_the_host_then_to_the_first_and_each_clash_is_reported() {
    let one =
        CodingExtension::new("one").with_tool(tool("work", "not mine")).with_tool(tool("extra", "first"));
    let two = CodingExtension::new("two").with_tool(tool("extra", "second")).with_tool(tool("w0rk", "alike"));
    let model = ScriptedModel::new([
        calls([call("a", "work", json!({})), call("b", "extra", json!({}))]),
        says("done"),
    ]);
    let opened = runtime([arc(one), arc(two)])
        .open(config(&model), MemoryLog::new(), vec![tool("work", "worked")])
        .await
        .unwrap();
    let added = opened.session.prompt_text("go").await.unwrap();
    assert_eq!(&shorts(&added)[2..4], ["result a worked", "result b first"]);
    let sent: Vec<_> = model.requests.lock().unwrap()[0].tools.iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(sent, ["work", "extra"]);
    let left_out = |extension: &str, tool: &str, holder: &str| Notice::ToolLeftOut {
        extension: extension.into(),
        tool: tool.into(),
        holder: holder.into(),
    };
    assert_eq!(
        opened.notices,
        [
            left_out("one", "work", "the host"),
            left_out("two", "extra", "one"),
            left_out("two", "w0rk", "the host")
        ]
    );
    assert_eq!(
        opened.notices[1].to_string(),
        "extension two: its tool extra is left out, because one has a tool of that name; rename one"
    );
}

#[test]
fn an_extension_needs_a_name_of_its_own() {
    let mut list = runtime([arc(CodingExtension::new("one"))]);
    for name in ["one", "", " "] {
        let error = list.register(arc(CodingExtension::new(name))).unwrap_err();
        assert!(error.to_string().contains("empty or taken"), "{error}");
    }
    assert_eq!(list.names().count(), 1);
}

// 001-115, 001-116
#[tokio::test]
async fn the_first_block_wins_and_those_behind_it_are_not_asked() {
    let diary = Diary::default();
    let pass = |name| arc(gate(name, &diary, GateVerdict::Pass));
    let (seen, _) = work(runtime([pass("z"), pass("m"), pass("a")])).await;
    assert_eq!(seen[2], "result a worked");
    assert_eq!(diary.lines(), ["z is asked", "m is asked", "a is asked"]);

    diary.0.lock().unwrap().clear();
    let block = arc(gate("m", &diary, GateVerdict::Block("no".into())));
    let (seen, _) = work(runtime([pass("z"), block, pass("a")])).await;
    assert_eq!(seen[2], "result! a no");
    assert_eq!(diary.lines(), ["z is asked", "m is asked"]);
}

// 001-117
#[tokio::test]
async fn after_a_call_the_later_registered_has_the_last_word_on_each_field() {
    let marks = Amendment { is_error: Some(true), ..Amendment::default() };
    let first = || arc(amender("a", |_| Ok(Some(content("first")))));
    let (seen, _) = work(runtime([first(), arc(amender("b", move |_| Ok(Some(marks.clone()))))])).await;
    assert_eq!(seen[2], "result! a first");
    let (seen, _) = work(runtime([first(), arc(amender("b", |_| Ok(Some(content("second")))))])).await;
    assert_eq!(seen[2], "result a second");
}

// 001-118
#[tokio::test]
async fn after_a_call_each_sees_the_result_as_those_before_left_it() {
    let wraps = |name: &'static str| {
        arc(amender(name, move |outcome| {
            let text = capstan_ports::message::text_of(&outcome.content);
            Ok(Some(content(&format!("{name}({text})"))))
        }))
    };
    let (seen, _) = work(runtime([wraps("one"), wraps("two")])).await;
    assert_eq!(seen[2], "result a two(one(worked))");
}

// 001-119
#[tokio::test]
async fn a_callback_that_panics_after_a_call_stops_neither_the_others_nor_the_run() {
    let diary = Diary::default();
    let notes = diary.clone();
    let watches = arc(amender("watches", move |outcome| {
        notes.note(format!("error {}", outcome.is_error));
        Ok(None)
    }));
    let (seen, opened) = work(runtime([arc(amender("panics", |_| panic!("pop"))), watches])).await;
    assert_eq!(seen[2..], ["result! a hook panics failed: it panicked (pop)", "asst done"]);
    assert_eq!(diary.lines(), ["error true"]);
    // The session goes on.
    assert!(opened.session.prompt_text("more").await.is_ok());
}

/// A hook that stands before callbacks by its own priority, as a component may.
struct Early;

impl Extension for Early {
    fn name(&self) -> &str {
        "early"
    }

    fn hooks(&self, _place: i32) -> Vec<Arc<dyn Hook>> {
        vec![Arc::new(TestHook::gate("early", |_| Ok(GateVerdict::Block("early".into()))).at(-1))]
    }
}

#[tokio::test]
async fn a_hook_with_a_priority_of_its_own_keeps_it_among_callbacks() {
    let diary = Diary::default();
    let trace = Arc::new(HookTrace::default());
    let list = runtime([arc(gate("callback", &diary, GateVerdict::Pass)), arc(Early)])
        .with_trace(trace.clone())
        .with_hook_timeout(Duration::from_secs(60));
    let (seen, _) = work(list).await;
    assert_eq!(seen[2], "result! a early");
    assert!(diary.lines().is_empty());
    let told: Vec<_> = trace.records().into_iter().map(|r| (r.hook, r.stage, r.effect)).collect();
    let stage = HookStage::BeforeToolCall;
    let late = HookEffect::NotAsked(Absence::DecidedBy("early".into()));
    assert_eq!(told[0], ("early".to_owned(), stage, HookEffect::Blocked("early".into())));
    assert_eq!((told.len(), &told[1].2), (2, &late));
}
