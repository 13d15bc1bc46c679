use super::*;

async fn saved(records: &[(&str, &str, &str)]) -> InMemoryStore {
    let store = InMemoryStore::new();
    for (namespace, key, value) in records {
        store.save(MemoryRecord::new(*namespace, *key, *value)).await.unwrap();
    }
    store
}

// 004-140
#[tokio::test]
async fn records_are_saved_replaced_listed_in_order_and_deleted() {
    let store =
        saved(&[("n", "b", "one"), ("n", "a", "two"), ("m", "c", "other"), ("n", "b", "three")]).await;
    let listed = store.list("n").await.unwrap();
    let listed: Vec<_> = listed.iter().map(|record| (record.key.as_str(), record.value.as_str())).collect();
    assert_eq!(listed, [("a", "two"), ("b", "three")]);
    assert_eq!(store.load("n", "c").await.unwrap(), None);
    assert!(store.delete("n", "a").await.unwrap());
    assert!(!store.delete("n", "a").await.unwrap());
    store.clear("n").await.unwrap();
    assert!(store.list("n").await.unwrap().is_empty());
    assert_eq!(store.load("m", "c").await.unwrap().unwrap().value, "other");
}

// 004-140
#[tokio::test]
async fn a_search_finds_words_and_parts_of_words_best_first_and_only_in_its_namespace() {
    let store = saved(&[
        ("n", "part", "The blackboard of the cats"),
        ("n", "whole", "The black cat"),
        ("n", "none", "A dog"),
        ("m", "other", "The black cat"),
    ])
    .await;
    let found = store.search("n", "Black CAT!", 10).await.unwrap();
    let found: Vec<_> = found.iter().map(|hit| (hit.record.key.as_str(), hit.score)).collect();
    assert_eq!(found, [("whole", 1.0), ("part", 0.5)]);
    assert_eq!(store.search("n", "black cat", 1).await.unwrap().len(), 1);
    assert!(store.search("n", "?!", 10).await.unwrap().is_empty());
}
