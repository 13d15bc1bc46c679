use super::*;
use crate::InMemoryStore;
use crate::fakes::{FailingStore, call};
use capstan_agent::RetrieveTool;
use capstan_ports::Tool;
use serde_json::{Map, Value, json};

async fn cats(number: usize) -> MemoryRetriever {
    let store = Arc::new(InMemoryStore::new());
    for n in 0..number {
        let metadata = Map::from_iter([("n".to_owned(), json!(n))]);
        let record = MemoryRecord { metadata, ..MemoryRecord::new("pets", format!("{n:03}"), "a black cat") };
        store.save(record).await.unwrap();
    }
    MemoryRetriever::new(store, "pets")
}

async fn called(retriever: MemoryRetriever, arguments: Value) -> Result<String, String> {
    let outcome = call(&RetrieveTool::new(Arc::new(retriever)), arguments).await;
    outcome.map(|outcome| format!("{:?}", outcome.content)).map_err(|error| error.to_string())
}

// 004-013
#[tokio::test]
async fn the_retrieve_tool_answers_what_the_retriever_finds_and_says_when_there_is_nothing() {
    let found = called(cats(3).await, json!({ "query": "black", "top_k": 2 })).await.unwrap();
    assert!(found.contains("a black cat (id 000)") && found.contains("(id 001)"), "{found}");
    assert!(!found.contains("(id 002)"), "{found}");
    let nothing = called(cats(3).await, json!({ "query": "dog" })).await.unwrap();
    assert!(nothing.contains("Nothing was found"), "{nothing}");
}

// 004-014
#[tokio::test]
async fn a_search_is_bounded_whatever_is_asked_and_a_failure_is_an_error_result() {
    let many = cats(100).await;
    assert_eq!(many.retrieve("cat", usize::MAX).await.unwrap().len(), DEFAULT_MAX);
    assert_eq!(many.clone().with_max(3).retrieve("cat", 50).await.unwrap().len(), 3);
    assert_eq!(MemoryRetriever::over(Arc::new(many)).with_max(2).retrieve("cat", 50).await.unwrap().len(), 2);
    let failed = called(MemoryRetriever::new(Arc::new(FailingStore), "x"), json!({ "query": "cat" })).await;
    assert!(failed.unwrap_err().contains("out of order"));
    let definition = RetrieveTool::new(Arc::new(cats(0).await)).definition().clone();
    assert_eq!(definition.parameters["required"], json!(["query"]));
    assert_eq!(definition.parameters["properties"]["top_k"]["maximum"], json!(20));
}

#[tokio::test]
async fn a_filter_finds_the_one_that_is_meant_behind_many_that_are_not() {
    let filter = Map::from_iter([("n".to_owned(), json!(97))]);
    let query = MemoryQuery { top_k: 1, filter, ..MemoryQuery::new("cat") };
    let found = cats(100).await.search(&query).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].id.as_deref(), Some("097"));
    let sure = MemoryQuery { threshold: Some(0.9), ..MemoryQuery::new("white cat") };
    assert!(cats(5).await.search(&sure).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_retriever_keeps_and_forgets_nothing() {
    let cats = cats(1).await;
    assert!(cats.store(MemoryEntry::new("x")).await.is_err());
    assert!(cats.delete("000").await.is_err());
    assert_eq!(cats.retrieve("cat", 5).await.unwrap().len(), 1);
}
