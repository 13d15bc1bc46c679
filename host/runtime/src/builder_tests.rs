use super::*;
use crate::scripted_tests::*;
use crate::{AgentSession, InMemoryStore, KnowledgeStore};
use async_trait::async_trait;
use capstan_ports::{MemoryEntry, MemoryError, MemoryHit, MemoryPort, MemoryQuery, MemoryRecord, Message};
use capstan_provider::{Answer, ScriptedModel};
use serde_json::json;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

fn script(answers: impl IntoIterator<Item = Answer>) -> (ScriptedModel, Arc<Notes>) {
    (ScriptedModel::new(answers), Arc::default())
}

fn retriever() -> Arc<MemoryRetriever> {
    Arc::new(KnowledgeStore::new(Arc::new(InMemoryStore::new()), "k").retriever())
}

fn names(registry: &ToolRegistry) -> Vec<String> {
    registry.list().iter().map(|tool| tool.name.clone()).collect()
}

fn refusal(builder: AgentBuilder) -> String {
    match builder.build() {
        Err(AgentError::Config(text)) => text,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was built"),
    }
}

// 004-010, 004-030, 004-034, 004-035, 004-156
#[test]
fn every_setter_ends_in_the_bundle_and_the_last_one_counts() {
    let (model, notes) = script([]);
    let (tools, hooks) = (tools(&["add"], &notes), Arc::<HookRegistry>::default());
    let (store, backend) = (Arc::new(InMemoryStore::new()), Arc::new(InMemoryStore::new()));
    let (provider, retriever): (Arc<dyn Model>, _) = (Arc::new(model.clone()), retriever());
    let wanted = AgentConfig { max_turns: 7, ..AgentConfig::default() };
    let bundle = builder(&ScriptedModel::new([]), &notes)
        .provider(provider.clone())
        .tool_registry(tools.clone())
        .hook_executor(hooks.clone())
        .memory_store(store.clone())
        .retriever(retriever.clone())
        .session_memory_backend(backend.clone())
        .config(AgentConfig::default())
        .config(wanted.clone())
        .build()
        .unwrap();
    assert!(Arc::ptr_eq(&bundle.provider, &provider) && Arc::ptr_eq(&bundle.hook_executor, &hooks));
    let is = |held: &Option<Arc<dyn MemoryStore>>, wanted: &Arc<InMemoryStore>| {
        held.as_ref().is_some_and(|held| Arc::as_ptr(held).cast::<()>() == Arc::as_ptr(wanted).cast())
    };
    assert!(is(&bundle.memory_store, &store) && is(&bundle.session_memory_backend, &backend));
    assert!(bundle.retriever.is_some_and(|held| Arc::ptr_eq(&held, &retriever)));
    assert_eq!(
        (names(&bundle.tool_registry), bundle.config),
        (vec!["add".into(), "retrieve".into()], wanted)
    );
    let plain = builder(&model, &notes).tool_registry(tools.clone()).build().unwrap();
    assert!(Arc::ptr_eq(&plain.tool_registry, &tools));
    assert!(plain.memory_store.is_none() && plain.retriever.is_none());
    assert!(plain.session_memory_backend.is_none());
}

// 004-031, 004-032, 004-033
#[test]
fn a_missing_part_is_named() {
    let parts = |model: bool, tools: bool, hooks: bool| {
        let builder = AgentBuilder::new();
        let builder = if model { builder.provider(Arc::new(ScriptedModel::new([]))) } else { builder };
        let builder = if tools { builder.tool_registry(Arc::default()) } else { builder };
        if hooks { builder.hook_executor(Arc::default()) } else { builder }
    };
    assert!(parts(true, true, true).build().is_ok());
    for (builder, name) in [
        (parts(false, true, true), "provider"),
        (parts(true, false, true), "tool_registry"),
        (parts(true, true, false), "hook_executor"),
    ] {
        assert!(refusal(builder).starts_with(&format!("{name} is missing")));
    }
}

// 004-036
#[test]
fn bounds_with_which_no_turn_could_run_are_refused() {
    let (model, notes) = script([]);
    let with = |config| refusal(builder(&model, &notes).config(config));
    let default = AgentConfig::default;
    assert!(with(AgentConfig { max_turns: 0, ..default() }).contains("max_turns"));
    assert!(with(AgentConfig { max_tool_turns: 0, ..default() }).contains("max_tool_turns"));
    assert!(with(AgentConfig { session_ttl: Some(Duration::ZERO), ..default() }).contains("session_ttl"));
}

// 004-012, 004-015, 004-016, 004-017 (X21)
#[test]
fn a_retriever_brings_its_tool_to_its_own_bundle_only() {
    let (model, notes) = script([]);
    let shared = tools(&["add"], &notes);
    let with = || builder(&model, &notes).tool_registry(shared.clone());
    let one = with().retriever(retriever()).build().unwrap();
    let again = with().retriever(retriever()).build().unwrap();
    let other = with().build().unwrap();
    assert_eq!(names(&one.tool_registry), ["add", "retrieve"]);
    assert_eq!(names(&again.tool_registry), ["add", "retrieve"]);
    assert_eq!(names(&other.tool_registry), ["add"]);
    assert_eq!(names(&shared), ["add"]);
    shared.register(tool("retrieve", &notes)).unwrap();
    assert!(with().build().is_ok());
    assert!(refusal(with().retriever(retriever())).contains("`retrieve`"));
}

/// Knows one thing, and fails when it is asked for `broken`.
struct OneThing(Arc<Notes>);

#[async_trait]
impl MemoryPort for OneThing {
    async fn store(&self, _: MemoryEntry) -> Result<String, MemoryError> {
        Ok(String::new())
    }

    async fn search(&self, query: &MemoryQuery) -> Result<Vec<MemoryEntry>, MemoryError> {
        self.0.add(format!("search {} {}", query.query, query.top_k));
        match query.query.as_str() {
            "broken" => Err(MemoryError::Search { message: "the disk is gone".into(), source: None }),
            "cat" => Ok(vec![MemoryEntry::new("the cat is called Mio")]),
            _ => Ok(Vec::new()),
        }
    }

    async fn delete(&self, _: &str) -> Result<(), MemoryError> {
        Ok(())
    }
}

// 004-013, 004-014
#[tokio::test]
async fn the_model_searches_through_the_tool_and_reads_what_became_of_it() {
    let ask = |arguments| Answer::call("retrieve", arguments);
    let (model, notes) = script([
        ask(json!({"query": "cat"})),
        ask(json!({"query": "dog"})),
        ask(json!({"query": "broken"})),
        ask(json!({})),
        ask(json!({"query": "cat", "top_k": 1000})),
        Answer::text("done"),
    ]);
    let memory = MemoryRetriever::over(Arc::new(OneThing(notes.clone())));
    let mut session = session(builder(&model, &notes).retriever(Arc::new(memory)));
    session.submit_turn("what is it called?").await.unwrap();
    assert_eq!(notes.take(), ["search cat 5", "search dog 5", "search broken 5"]);
    let messages = session.messages().unwrap();
    let results: Vec<(bool, String)> = messages
        .iter()
        .filter_map(|message| match message.as_ref() {
            Message::ToolResult(result) => Some((result.is_error, message.text())),
            _ => None,
        })
        .collect();
    assert!(results[0].1.contains("Mio") && !results[0].0);
    assert_eq!(results[1], (false, "Nothing was found.".to_owned()));
    assert!(results[2].0 && results[2].1.contains("the disk is gone"));
    assert!(results[3].0 && results[3].1.contains("query"), "{}", results[3].1);
    assert!(results[4].0 && results[4].1.contains("top_k"), "{}", results[4].1);
}

// 004-018 (NF8)
#[tokio::test]
async fn bundles_of_one_process_do_not_notice_each_other() {
    let notes = Arc::default();
    let (one, two) = (ScriptedModel::new([text("one")]), ScriptedModel::new([text("two")]));
    let (mut first, mut second) = (session(builder(&one, &notes)), session(builder(&two, &notes)));
    let (a, b) = tokio::join!(first.submit_turn("hi"), second.submit_turn("ho"));
    assert_eq!((a.unwrap().text(), b.unwrap().text()), ("one".into(), "two".into()));
    assert_eq!(
        (sent(&one), sent(&two)),
        (vec![vec!["user hi".to_owned()]], vec![vec!["user ho".to_owned()]])
    );
}

/// Counts what is asked of it.
#[derive(Default)]
struct Counting(AtomicU32);

#[async_trait]
impl MemoryStore for Counting {
    async fn save(&self, _: MemoryRecord) -> Result<(), MemoryError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    async fn load(&self, _: &str, _: &str) -> Result<Option<MemoryRecord>, MemoryError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(None)
    }

    async fn list(&self, _: &str) -> Result<Vec<MemoryRecord>, MemoryError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(Vec::new())
    }

    async fn search(&self, _: &str, _: &str, _: usize) -> Result<Vec<MemoryHit>, MemoryError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(Vec::new())
    }

    async fn delete(&self, _: &str, _: &str) -> Result<bool, MemoryError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(false)
    }

    async fn clear(&self, _: &str) -> Result<(), MemoryError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

// 004-011, 004-019, 004-052
#[tokio::test]
async fn a_turn_needs_no_memory_and_leaves_the_one_there_is_alone() {
    let (model, notes) = script([call("add"), text("done"), text("done")]);
    let store = Arc::new(Counting::default());
    let mut session = session(builder(&model, &notes).memory_store(store.clone()));
    assert_eq!(session.submit_turn("hi").await.unwrap().text(), "done");
    assert_eq!(store.0.load(Ordering::Relaxed), 0);
    let role = Role::named("clerk", "be kind");
    let without = Arc::new(builder(&model, &notes).build().unwrap());
    assert!(AgentSession::new("s2", role, without).submit_turn("hi").await.is_ok());
    let held = session.bundle().memory_store.as_ref().unwrap();
    held.save(MemoryRecord::new("n", "k", "v")).await.unwrap();
    assert_eq!(store.0.load(Ordering::Relaxed), 1, "it counts");
}
