use super::*;
use capstan_ports::NoopMemory;

fn entry(content: &str, kind: &str) -> MemoryEntry {
    let metadata = serde_json::Map::from_iter([("kind".to_owned(), json!(kind))]);
    MemoryEntry { metadata, ..MemoryEntry::new(content) }
}

// 003-076, 003-078
#[tokio::test]
async fn a_memory_finds_what_was_stored_until_it_is_deleted() {
    let memory = InMemory::default();
    let cat = memory.store(entry("The cat is black", "pet")).await.unwrap();
    memory.store(entry("The cat food is dear", "cost")).await.unwrap();
    let found = memory.search(&MemoryQuery::new("black cat")).await.unwrap();
    assert_eq!(found[0].id.as_ref(), Some(&cat));
    assert_eq!((found.len(), found[0].score), (2, Some(1.0)));
    let one = MemoryQuery { top_k: 1, ..MemoryQuery::new("cat") };
    assert_eq!(memory.search(&one).await.unwrap().len(), 1);
    let sure = MemoryQuery { threshold: Some(0.9), ..MemoryQuery::new("black cat") };
    assert_eq!(memory.search(&sure).await.unwrap().len(), 1);
    let filter = serde_json::Map::from_iter([("kind".to_owned(), json!("cost"))]);
    let costs = MemoryQuery { filter, ..MemoryQuery::new("cat") };
    assert_eq!(memory.search(&costs).await.unwrap()[0].content, "The cat food is dear");
    memory.delete(&cat).await.unwrap();
    assert!(memory.search(&MemoryQuery::new("black")).await.unwrap().is_empty());
    let error = memory.delete(&cat).await.unwrap_err();
    assert!(matches!(&error, MemoryError::Delete { id, .. } if *id == cat));
}

// 003-117 (X16)
#[tokio::test]
async fn the_memory_that_does_nothing_never_fails() {
    assert!(!NoopMemory.store(MemoryEntry::new("x")).await.unwrap().is_empty());
    assert!(NoopMemory.search(&MemoryQuery::new("x")).await.unwrap().is_empty());
    NoopMemory.delete("x").await.unwrap();
}
