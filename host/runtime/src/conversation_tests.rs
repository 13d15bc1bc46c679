use super::*;
use crate::InMemoryStore;
use crate::fakes::FailingStore;

// 004-141
#[tokio::test]
async fn the_last_messages_come_back_oldest_first() {
    let store: Arc<dyn MemoryStore> = Arc::new(InMemoryStore::new());
    let memory = ConversationMemory::new(store.clone(), "c");
    for n in 0..30 {
        memory.add_message(&Message::user(format!("message {n}"))).await.unwrap();
    }
    let last = memory.history(2).await.unwrap();
    let texts: Vec<_> = last.iter().map(|message| serde_json::to_string(message).unwrap()).collect();
    assert!(texts[0].contains("message 28") && texts[1].contains("message 29"), "{texts:?}");
    assert_eq!(memory.history(usize::MAX).await.unwrap().len(), 30);
    assert!(ConversationMemory::new(store, "d").history(9).await.unwrap().is_empty());
    memory.clear().await.unwrap();
    assert!(memory.history(9).await.unwrap().is_empty());
}

// 004-141
#[tokio::test]
async fn tasks_may_add_at_the_same_time_and_nothing_is_lost() {
    let memory = ConversationMemory::new(Arc::new(InMemoryStore::new()), "c");
    let adding = (0..20).map(|n| {
        let memory = memory.clone();
        tokio::spawn(async move { memory.add_message(&Message::user(format!("{n}"))).await })
    });
    for added in adding.collect::<Vec<_>>() {
        added.await.unwrap().unwrap();
    }
    assert_eq!(memory.history(100).await.unwrap().len(), 20);
}

#[tokio::test]
async fn a_record_that_is_no_message_is_named() {
    let store: Arc<dyn MemoryStore> = Arc::new(InMemoryStore::new());
    store.save(MemoryRecord::new("_conversation_c", "odd", "{")).await.unwrap();
    let error = ConversationMemory::new(store, "c").history(1).await.unwrap_err();
    assert!(error.to_string().contains("odd in _conversation_c is no message"), "{error}");
    let failing = ConversationMemory::new(Arc::new(FailingStore), "c");
    assert!(matches!(failing.history(1).await, Err(AgentError::Memory(_))));
}
