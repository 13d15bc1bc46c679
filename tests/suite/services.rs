//! What the host lends to extensions: each service works when it is granted, answers `denied` when it is not, and ends at its
//! limit with an error that the extension can handle.

mod programs;

use anyhow::{Context, Result};
use capstan_agent::{AgentLoopConfig, AgentSession, Observers, SessionFacts, ToolRegistry};
use capstan_engine::Services;
use capstan_ports::extension::{Capability, ExtensionId};
use capstan_ports::message::Usage;
use capstan_ports::model::ModelErrorKind;
use capstan_ports::session::SessionId;
use capstan_ports::storage::{StorageError, StoragePort};
use capstan_ports::{ObserverPort, TurnEvent};
use capstan_provider::{Answer, ScriptedModel};
use capstan_session::MemorySession;
use capstan_storage::KeyValueFiles;
use capstan_tests::sandboxed::{Place, tool_context};
use capstan_tests::services::{Guest, kind};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn storage(place: &Place) -> Services {
    let files = KeyValueFiles::new(place.places().protected[0].join("storage"));
    Services { storage: Some(Arc::new(files)), ..Services::default() }
}

fn model(model: &ScriptedModel) -> Services {
    Services { model: Some(Arc::new(model.clone())), ..Services::default() }
}

fn facts(facts: &Arc<SessionFacts>) -> Services {
    Services { session_memory: Some(facts.clone()), ..Services::default() }
}

fn room(bytes: u32) -> Capability {
    Capability::KeyValue { bytes }
}

#[tokio::test]
async fn what_was_kept_is_there_in_the_next_call_and_after_a_restart() -> Result<()> {
    let place = Place::new()?;
    let guest = Guest::load(&place, storage(&place), &[room(1000)]).await?;
    let kept = guest.step(json!({"do": "set", "key": "count", "value": "1"})).await?;
    assert_eq!(kept, json!({"ok": null}));
    assert_eq!(guest.step(json!({"do": "get", "key": "count"})).await?, json!({"ok": "1"}));
    // As after a restart: nothing of the first host is left but the files.
    let again = Guest::load(&place, storage(&place), &[room(1000)]).await?;
    let found = again
        .steps(json!([
            {"do": "get", "key": "count"},
            {"do": "keys", "prefix": "co"},
            {"do": "remove", "key": "count"},
            {"do": "get", "key": "count"},
            {"do": "keys", "prefix": ""},
        ]))
        .await?;
    assert_eq!(json!(found), json!([{"ok": "1"}, {"ok": ["count"]}, {"ok": null}, {"ok": null}, {"ok": []}]));
    Ok(())
}

#[tokio::test]
async fn storage_without_its_grant_is_denied_and_ends_at_its_quota_with_it() -> Result<()> {
    let place = Place::new()?;
    let denied = Guest::load(&place, storage(&place), &[]).await?;
    for step in [
        json!({"do": "get", "key": "k"}),
        json!({"do": "set", "key": "k", "value": "v"}),
        json!({"do": "remove", "key": "k"}),
        json!({"do": "keys", "prefix": ""}),
    ] {
        assert_eq!(kind(&denied.step(step).await?), "denied");
    }
    let guest = Guest::load(&place, storage(&place), &[room(100)]).await?;
    let filled = guest
        .steps(json!([
            {"do": "fill", "key": "k", "bytes": 99},
            {"do": "fill", "key": "k", "bytes": 100},
            {"do": "set", "key": "", "value": ""},
            {"do": "fill", "key": "k", "bytes": 10},
        ]))
        .await?;
    assert_eq!(filled.iter().map(kind).collect::<Vec<_>>(), ["", "exhausted", "failed", ""]);
    let text = filled[1]["error"]["text"].as_str().unwrap_or_default();
    assert!(text.contains("101 bytes") && text.contains("100 are granted"), "{text}");
    Ok(())
}

#[tokio::test]
async fn a_host_without_a_service_says_so() -> Result<()> {
    let place = Place::new()?;
    let granted = [room(100), Capability::SessionMemory, Capability::Model { tokens: 100 }];
    let guest = Guest::load(&place, Services::default(), &granted).await?;
    for step in [
        json!({"do": "get", "key": "k"}),
        json!({"do": "facts"}),
        json!({"do": "ask", "prompt": "?", "tokens": 5}),
    ] {
        let answer = guest.step(step).await?;
        assert_eq!(kind(&answer), "failed");
        assert!(answer["error"]["text"].as_str().is_some_and(|text| text.contains("this host has no")));
    }
    Ok(())
}

#[tokio::test]
async fn the_model_reads_the_facts_that_an_extension_set_and_no_other_session_does() -> Result<()> {
    let place = Place::new()?;
    let shared = Arc::new(SessionFacts::default());
    let guest = Guest::load(&place, facts(&shared), &[Capability::SessionMemory]).await?;
    let model = ScriptedModel::new([
        Answer::call("services", json!({"steps": [{"do": "set-fact", "key": "branch", "value": "main"}]})),
        Answer::text("done"),
    ]);
    let mut config = AgentLoopConfig::new(Arc::new(model.clone()));
    config.session_memory = Some(shared.clone());
    let session = AgentSession::open(config, Arc::new(MemorySession::new(Path::new("/work"))))?;
    session.agent().set_system_prompt("You are careful.");
    session.agent().set_tool_registry(Arc::new(ToolRegistry::with_tools(guest.extension.tools())?));
    session.prompt_text("hello").await?;
    let requests = model.requests();
    assert_eq!(requests[0].system, "You are careful.");
    assert_eq!(requests[1].system, "You are careful.\n\n<session-context>\nbranch: main\n</session-context>");
    // The same extension in another session.
    let mut context = tool_context();
    context.turn.session_id = SessionId::new("another");
    let other = guest.steps_in(json!([{"do": "fact", "key": "branch"}, {"do": "facts"}]), &context).await?;
    assert_eq!(json!(other), json!([{"ok": null}, {"ok": ""}]));
    Ok(())
}

#[tokio::test]
async fn facts_without_the_grant_are_denied() -> Result<()> {
    let place = Place::new()?;
    let shared = Arc::new(SessionFacts::default());
    let steps = json!([
        {"do": "set-fact", "key": "k", "value": "v"},
        {"do": "fact", "key": "k"},
        {"do": "facts"},
        {"do": "remove-fact", "key": "k"},
    ]);
    let granted = Guest::load(&place, facts(&shared), &[Capability::SessionMemory]).await?;
    assert!(granted.steps(steps.clone()).await?.iter().all(|answer| kind(answer).is_empty()));
    let denied = Guest::load(&place, facts(&shared), &[]).await?;
    assert!(denied.steps(steps).await?.iter().all(|answer| kind(answer) == "denied"));
    Ok(())
}

#[tokio::test]
async fn the_model_answers_within_the_budget_of_the_turn() -> Result<()> {
    let place = Place::new()?;
    let used = Usage { input: 20, output: 10, ..Usage::default() };
    let answers = (0..5).map(|n| Answer::text(format!("answer {n}")).with_usage(used.clone()));
    let scripted = ScriptedModel::new(answers);
    let guest = Guest::load(&place, model(&scripted), &[Capability::Model { tokens: 100 }]).await?;
    let ask = |tokens: u32| json!({"do": "ask", "prompt": "What is the time?", "tokens": tokens});
    assert_eq!(guest.step(ask(50)).await?, json!({"ok": "answer 0"}));
    assert_eq!(scripted.requests()[0].max_output_tokens, Some(50));
    assert!(scripted.requests()[0].tools.is_empty());
    // More than the whole budget; nothing is asked.
    let refused = guest.step(ask(200)).await?;
    assert_eq!(kind(&refused), "exhausted", "{refused}");
    assert_eq!(scripted.requests().len(), 1);
    // Booked were some 55 and used 30, so a second call fits and a third does not.
    assert_eq!(guest.step(ask(50)).await?, json!({"ok": "answer 1"}));
    assert_eq!(kind(&guest.step(ask(50)).await?), "exhausted");
    assert_eq!(guest.step(ask(30)).await?, json!({"ok": "answer 2"}));
    let mut next_turn = tool_context();
    next_turn.turn.turn = 1;
    let fresh = guest.steps_in(json!([ask(50)]), &next_turn).await?;
    assert_eq!(kind(&fresh[0]), "", "{fresh:?}");
    Ok(())
}

#[tokio::test]
async fn the_model_without_its_grant_is_never_asked_and_its_failures_hold_no_address() -> Result<()> {
    let place = Place::new()?;
    let failure = Answer::error(ModelErrorKind::Auth, "https://internal.example refused the key sk-123");
    let scripted = ScriptedModel::new([failure]);
    let ask = json!({"do": "ask", "prompt": "?", "tokens": 10});
    let denied = Guest::load(&place, model(&scripted), &[]).await?;
    assert_eq!(kind(&denied.step(ask.clone()).await?), "denied");
    assert!(scripted.requests().is_empty());
    let granted = Guest::load(&place, model(&scripted), &[Capability::Model { tokens: 1000 }]).await?;
    let failed = granted.step(ask).await?;
    assert_eq!(kind(&failed), "failed");
    assert!(!failed.to_string().contains("internal") && !failed.to_string().contains("sk-123"), "{failed}");
    Ok(())
}

/// Keeps what it sees.
#[derive(Default)]
struct Seen(Mutex<Vec<TurnEvent>>);

#[async_trait::async_trait]
impl ObserverPort for Seen {
    async fn on_event(&self, event: &TurnEvent) {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(event.clone());
    }
}

#[tokio::test]
async fn events_reach_observers_under_the_extensions_name_and_are_counted() -> Result<()> {
    let place = Place::new()?;
    let (observers, seen) = (Arc::new(Observers::default()), Arc::new(Seen::default()));
    observers.add(seen.clone());
    let services = Services { events: Some(observers.clone()), ..Services::default() };
    let guest = Guest::load(&place, services, &[]).await?;
    guest.step(json!({"do": "event", "label": "found", "data": {"files": 3}})).await?;
    guest.step(json!({"do": "event", "label": "Not A Label", "data": null})).await?;
    observers.flush(Duration::from_secs(5)).await;
    let told = std::mem::take(&mut *seen.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    let expected = TurnEvent::Custom {
        source: "services".to_owned(),
        label: "found".to_owned(),
        data: json!({"files": 3}),
    };
    assert_eq!(told, [expected]);
    // O2, for events: a tool's call has a thousand lines, events among them.
    guest.step(json!({"do": "events", "label": "flood", "times": 1500})).await?;
    observers.flush(Duration::from_secs(5)).await;
    let told = seen.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).len();
    assert!(told <= 1000, "{told}");
    Ok(())
}

#[tokio::test]
async fn the_configuration_table_is_handed_over_and_held_to_its_schema() -> Result<()> {
    let place = Place::new()?;
    let table = json!({"greeting": "hello"});
    let guest = Guest::load_configured(&place, Services::default(), &[], table.clone()).await?;
    assert_eq!(guest.step(json!({"do": "configuration"})).await?, json!({"ok": table}));
    for wrong in [json!({"greeting": 3}), json!({"greting": "hello"})] {
        let refused = Guest::load_configured(&place, Services::default(), &[], wrong).await;
        let error = refused.err().context("must be refused")?.to_string();
        assert!(error.contains("[extension.services]"), "{error}");
    }
    Ok(())
}

/// Breaks where a working one would look something up.
struct Broken;

#[async_trait::async_trait]
#[allow(clippy::panic, reason = "that is what it is for")]
impl StoragePort for Broken {
    async fn get(&self, _owner: &ExtensionId, _key: &str) -> Result<Option<Vec<u8>>, StorageError> {
        panic!("the disk is on fire")
    }

    async fn set(
        &self,
        _owner: &ExtensionId,
        _key: &str,
        _value: &[u8],
        _quota: u64,
    ) -> Result<(), StorageError> {
        Ok(())
    }

    async fn remove(&self, _owner: &ExtensionId, _key: &str) -> Result<(), StorageError> {
        Ok(())
    }

    async fn list_keys(&self, _owner: &ExtensionId, _prefix: &str) -> Result<Vec<String>, StorageError> {
        Ok(Vec::new())
    }
}

// A20
#[tokio::test]
async fn a_host_function_that_panics_costs_its_call_and_nothing_else() -> Result<()> {
    let place = Place::new()?;
    let services = Services { storage: Some(Arc::new(Broken)), ..Services::default() };
    let guest = Guest::load(&place, services, &[room(100)]).await?;
    for _ in 0..3 {
        let failed = guest.step(json!({"do": "get", "key": "k"})).await;
        let text = failed.err().context("must fail")?.to_string();
        assert!(text.contains("the host broke") && text.contains("the disk is on fire"), "{text}");
        // The same extension, and with it the same locks and slots.
        assert_eq!(guest.step(json!({"do": "keys", "prefix": ""})).await?, json!({"ok": []}));
    }
    assert_eq!(guest.extension.usage().failures, 3);
    Ok(())
}

/// Only the texts of a list of answers.
fn ok(answers: &[Value]) -> Vec<&Value> {
    answers.iter().map(|answer| &answer["ok"]).collect()
}
