//! Memories: what is kept comes back, only with the power, and a failure is one of the memory.

use super::{bad_guests, install_roles, lies_beneath, roles};
use anyhow::{Context, Result, bail};
use capstan_engine::Extension;
use capstan_ports::memory::{MemoryEntry, MemoryError, MemoryPort, MemoryQuery};
use capstan_ports::session::SessionId;
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::guest::Guest;
use capstan_tests::product;
use capstan_tests::sandboxed::{Granted, Place};
use serde_json::json;
use std::sync::Arc;

fn memory(extension: &Extension) -> Result<Arc<dyn MemoryPort>> {
    extension.memory(&SessionId::new("test")).context("it has a memory")
}

fn entry(content: &str, kind: &str) -> MemoryEntry {
    let metadata = serde_json::Map::from_iter([("kind".to_owned(), json!(kind))]);
    MemoryEntry { metadata, ..MemoryEntry::new(content) }
}

// 003-076, 003-078
#[tokio::test]
async fn a_memory_finds_what_was_kept_until_it_is_deleted() -> Result<()> {
    let place = Place::with_cache()?;
    let memory = memory(&roles(&place, Granted::Everything).await?)?;
    let cat = memory.store(entry("the cat is black", "pet")).await?;
    memory.store(entry("the cat food is dear", "cost")).await?;
    let found = memory.search(&MemoryQuery::new("black cat")).await?;
    assert_eq!((found.len(), found[0].id.as_ref(), found[0].score), (2, Some(&cat), Some(1.0)));
    assert_eq!(found[0].metadata["kind"], "pet");
    let one = MemoryQuery { top_k: 1, ..MemoryQuery::new("cat") };
    assert_eq!(memory.search(&one).await?.len(), 1);
    let sure = MemoryQuery { threshold: Some(0.9), ..MemoryQuery::new("black cat") };
    assert_eq!(memory.search(&sure).await?.len(), 1);
    let filter = serde_json::Map::from_iter([("kind".to_owned(), json!("cost"))]);
    let costs = MemoryQuery { filter, ..MemoryQuery::new("cat") };
    assert_eq!(memory.search(&costs).await?[0].content, "the cat food is dear");
    let changed = MemoryEntry { id: Some(cat.clone()), ..MemoryEntry::new("the dog is brown") };
    assert_eq!(memory.store(changed).await?, cat);
    assert!(memory.search(&MemoryQuery::new("black")).await?.is_empty());
    memory.delete(&cat).await?;
    assert!(memory.search(&MemoryQuery::new("dog")).await?.is_empty());
    memory.delete(&cat).await?;
    Ok(())
}

#[tokio::test]
async fn without_the_power_a_memory_is_not_even_asked() -> Result<()> {
    let memory = memory(&roles(&Place::with_cache()?, Granted::Nothing).await?)?;
    let errors = [
        memory.store(MemoryEntry::new("x")).await.err(),
        memory.search(&MemoryQuery::new("x")).await.err(),
        memory.delete("x").await.err(),
    ];
    for error in errors {
        let said = error.context("must be denied")?.to_string();
        assert!(said.contains("without the power `remember`"), "{said}");
    }
    Ok(())
}

#[tokio::test]
async fn a_memory_that_goes_wrong_is_an_error_of_what_was_asked() -> Result<()> {
    let place = Place::new()?;
    for (said, guest) in bad_guests(Guest::memory) {
        let memory = memory(&place.load_granted(&guest, Granted::Everything).await?)?;
        let store = memory.store(MemoryEntry::new("x")).await.err().context("it fails")?;
        assert!(matches!(store, MemoryError::Store { .. }) && lies_beneath(&store), "{store:?}");
        assert!(store.to_string().contains(said) && store.to_string().contains(&guest.id), "{store}");
        if guest.id == "spinner" {
            continue;
        }
        let search = memory.search(&MemoryQuery::new("x")).await.err().context("it fails")?;
        assert!(matches!(search, MemoryError::Search { .. }), "{search:?}");
        let delete = memory.delete("x").await.err().context("it fails")?;
        assert!(matches!(&delete, MemoryError::Delete { id, .. } if id == "x"), "{delete:?}");
    }
    Ok(())
}

#[tokio::test]
async fn an_id_that_nobody_could_read_is_none() -> Result<()> {
    let place = Place::new()?;
    for (id, fits) in [("note-1", true), ("", false), ("a\u{202e}b", false)] {
        let (guest, body) = Guest::new("keeper").answer(0, id);
        let memory = memory(&place.load_granted(&guest.memory(&body), Granted::Everything).await?)?;
        match memory.store(MemoryEntry::new("x")).await {
            Ok(kept) => assert!(fits && kept == id, "{kept:?}"),
            Err(error) if fits => bail!("{id:?}: {error}"),
            Err(error) => assert!(error.to_string().contains("the id"), "{error}"),
        }
    }
    Ok(())
}

// 003-079
#[tokio::test]
async fn what_the_model_kept_comes_back_in_a_later_session_until_it_forgets() -> Result<()> {
    let answers = [
        Answer::call("remember", json!({"content": "the cat is called Mio"})),
        Answer::text("kept"),
        Answer::call("retrieve", json!({"query": "cat"})),
        Answer::call("forget", json!({"id": "note-1"})),
        Answer::call("retrieve", json!({"query": "cat"})),
        Answer::text("gone"),
    ];
    let server = ScriptedServer::play(answers).await?;
    let product = product!()?.with_openai(&server.base_url());
    install_roles(&product).await?;
    product.run(&["-p", "remember the cat"]).await?.with_code(0);
    product.run(&["-p", "what is the cat called?"]).await?.with_code(0);
    let requests = server.requests();
    assert_eq!(Conversation::of(&requests[1]).last_result()?, "Kept as note-1.");
    assert_eq!(Conversation::of(&requests[3]).last_result()?, "- the cat is called Mio (id note-1)");
    assert_eq!(Conversation::of(&requests[4]).last_result()?, "Forgotten: note-1.");
    assert_eq!(Conversation::of(&requests[5]).last_result()?, "Nothing was found.");
    Ok(())
}

#[tokio::test]
async fn without_a_memory_and_with_two_the_model_has_no_such_tools() -> Result<()> {
    let server = ScriptedServer::play(["one", "two", "three"].map(Answer::text)).await?;
    let product = product!()?.with_openai(&server.base_url());
    let tools = |n: usize| -> Vec<String> {
        let requests = server.requests();
        let tools = Conversation::of(&requests[n]).tools();
        tools.iter().map(|(name, _, _)| (*name).to_owned()).collect()
    };
    product.run(&["-p", "hello"]).await?.with_code(0);
    assert!(!tools(0).contains(&"remember".to_owned()));

    install_roles(&product).await?;
    let (guest, body) = Guest::new("keeper").answer(1, "not today");
    product.install(&guest.memory(&body))?;
    product.run(&["ext", "allow", "keeper", "--yes"]).await?.with_code(0);
    let said = product.run(&["-p", "hello"]).await?.with_code(0).stderr;
    assert!(said.contains("several extensions could be the memory") && said.contains("\"keeper\""), "{said}");
    assert!(!tools(1).contains(&"remember".to_owned()), "none is in force");

    product.configure("memory = \"roles\"")?;
    product.run(&["-p", "hello"]).await?.with_code(0);
    for tool in ["retrieve", "remember", "forget"] {
        assert!(tools(2).contains(&tool.to_owned()), "{:?}", tools(2));
    }
    Ok(())
}
