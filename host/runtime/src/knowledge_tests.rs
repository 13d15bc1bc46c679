use super::*;
use crate::InMemoryStore;
use crate::fakes::FailingStore;

// 004-142
#[tokio::test]
async fn a_document_is_found_by_search_and_by_the_retriever_until_it_is_removed() {
    let knowledge = KnowledgeStore::new(Arc::new(InMemoryStore::new()), "docs");
    knowledge.add(Document::new("cats.md", "Cats sleep all day")).await.unwrap();
    knowledge.add(Document::new("dogs.md", "Dogs bark")).await.unwrap();
    knowledge.add(Document::new("dogs.md", "Dogs bark at night")).await.unwrap();
    assert_eq!(knowledge.list().await.unwrap().len(), 2);
    assert_eq!(knowledge.get("dogs.md").await.unwrap().unwrap().text, "Dogs bark at night");
    assert_eq!(knowledge.search("night", 5).await.unwrap()[0].id.as_deref(), Some("dogs.md"));
    let retriever = knowledge.retriever();
    assert_eq!(retriever.retrieve("sleep", 5).await.unwrap()[0].content, "Cats sleep all day");
    assert!(knowledge.remove("cats.md").await.unwrap());
    assert!(!knowledge.remove("cats.md").await.unwrap());
    assert!(retriever.retrieve("sleep", 5).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_document_without_a_key_and_a_store_that_fails_are_memory_errors() {
    let knowledge = KnowledgeStore::new(Arc::new(InMemoryStore::new()), "docs");
    assert!(matches!(knowledge.add(Document::new("", "x")).await, Err(AgentError::Memory(_))));
    let failing = KnowledgeStore::new(Arc::new(FailingStore), "docs");
    assert!(matches!(failing.get("x").await, Err(AgentError::Memory(_))));
    assert!(matches!(failing.search("x", 1).await, Err(AgentError::Memory(_))));
}
