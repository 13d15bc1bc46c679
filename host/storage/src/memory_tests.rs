use super::*;
use proptest::prelude::*;
use serde_json::{Map, json};
use std::os::unix::fs::PermissionsExt;

fn memory() -> (tempfile::TempDir, SqliteMemory) {
    let root = tempfile::tempdir().unwrap();
    let memory = SqliteMemory::new(root.path().join("data/memory.sqlite"));
    (root, memory)
}

fn record(key: &str, value: &str) -> MemoryRecord {
    MemoryRecord::new("n", key, value)
}

async fn keys(memory: &SqliteMemory, words: &str) -> Vec<String> {
    let hits = MemoryStore::search(memory, "n", words, 10).await.unwrap();
    hits.into_iter().map(|hit| hit.record.key).collect()
}

fn file_error(error: &MemoryError) -> &MemoryFileError {
    let source = std::error::Error::source(error).unwrap();
    source.downcast_ref().unwrap()
}

// 004-140
#[tokio::test]
async fn records_are_saved_replaced_listed_in_order_and_deleted() {
    let (_root, memory) = memory();
    for (key, value) in [("b", "one"), ("a", "two"), ("b", "three"), ("c\0d", "")] {
        memory.save(record(key, value)).await.unwrap();
    }
    memory.save(MemoryRecord::new("m", "b", "other")).await.unwrap();
    let listed = memory.list("n").await.unwrap();
    let listed: Vec<_> = listed.iter().map(|record| (record.key.as_str(), record.value.as_str())).collect();
    assert_eq!(listed, [("a", "two"), ("b", "three"), ("c\0d", "")]);
    assert_eq!(keys(&memory, "one").await, Vec::<String>::new());
    assert_eq!(keys(&memory, "three").await, ["b"]);
    assert!(MemoryStore::delete(&memory, "n", "b").await.unwrap());
    assert!(!MemoryStore::delete(&memory, "n", "b").await.unwrap());
    assert_eq!(keys(&memory, "three").await, Vec::<String>::new());
    memory.clear("n").await.unwrap();
    assert_eq!((memory.count("n").await.unwrap(), memory.count("m").await.unwrap()), (0, 1));
    assert_eq!(memory.load("m", "b").await.unwrap().unwrap().value, "other");
}

#[tokio::test]
async fn the_best_text_comes_first_in_any_form_of_its_words_and_any_script() {
    let (_root, memory) = memory();
    for (key, value) in [
        ("both", "Deployments run from the release branch"),
        ("one", "The branch of a tree, and much more about trees, their leaves and what lives in them"),
        ("han", "我喜欢记忆系统的设计"),
        ("kana", "カメラの設定"),
        ("accent", "Le café est fermé"),
    ] {
        memory.save(record(key, value)).await.unwrap();
    }
    assert_eq!(keys(&memory, "deploying branches").await, ["both", "one"]);
    assert_eq!(keys(&memory, "记忆").await, ["han"]);
    assert_eq!(keys(&memory, "设").await, ["han"]);
    assert_eq!(keys(&memory, "憶").await, Vec::<String>::new());
    assert_eq!(keys(&memory, "カメラ").await, ["kana"]);
    assert_eq!(keys(&memory, "CAFE").await, ["accent"]);
    let hits = MemoryStore::search(&memory, "n", "release branch", 10).await.unwrap();
    assert!((hits[0].score - 1.0).abs() < 1e-9 && hits[1].score < hits[0].score, "{hits:?}");
    let half = MemoryStore::search(&memory, "n", "camel branch", 1).await.unwrap();
    assert!((half[0].score - 0.5).abs() < 1e-9, "{half:?}");
}

#[tokio::test]
async fn a_word_that_is_nowhere_finds_those_that_begin_like_it() {
    let (_folder, memory) = memory();
    memory.save(record("db", "We use PostgreSQL everywhere")).await.unwrap();
    memory.save(record("post", "The post office is closed")).await.unwrap();
    assert_eq!(keys(&memory, "postgres").await, ["db"]);
    assert_eq!(keys(&memory, "post").await, ["post"], "a word that is there means itself");
    assert_eq!(keys(&memory, "pos").await, Vec::<String>::new());
}

#[tokio::test]
async fn a_rare_word_is_found_beside_one_that_nearly_every_text_has() {
    let (_root, memory) = memory();
    let many = (0..10_000).map(|n| record(&format!("{n}"), &format!("the common text number {n}")));
    memory.change("n", many.collect(), Vec::new()).await.unwrap();
    assert_eq!(keys(&memory, "the number 77").await[0], "77");
    assert_eq!(keys(&memory, "the").await.len(), 10);
    assert_eq!(memory.count("n").await.unwrap(), 10_000);
}

#[tokio::test]
async fn as_a_port_it_gives_ids_filters_and_says_what_is_not_there() {
    let (_root, memory) = memory();
    let kind = |kind: &str| Map::from_iter([("kind".to_owned(), json!(kind))]);
    let pet = MemoryEntry { metadata: kind("pet"), ..MemoryEntry::new("The cat is black") };
    let cost = MemoryEntry { metadata: kind("cost"), ..MemoryEntry::new("The cat food is dear") };
    assert_eq!(memory.store(pet).await.unwrap(), "m1");
    let cost = memory.store(cost).await.unwrap();
    let query = MemoryQuery { filter: kind("cost"), ..MemoryQuery::new("black cat") };
    let found = MemoryPort::search(&memory, &query).await.unwrap();
    assert_eq!((found.len(), found[0].id.as_ref()), (1, Some(&cost)));
    let sure = MemoryQuery { threshold: Some(0.9), ..MemoryQuery::new("black cat") };
    assert_eq!(MemoryPort::search(&memory, &sure).await.unwrap().len(), 1);
    MemoryPort::delete(&memory, &cost).await.unwrap();
    let error = MemoryPort::delete(&memory, &cost).await.unwrap_err();
    assert!(matches!(&error, MemoryError::Delete { id, .. } if *id == cost), "{error}");
    let renewed = MemoryEntry { id: Some("m1".to_owned()), ..MemoryEntry::new("The cat is white") };
    assert_eq!(memory.store(renewed).await.unwrap(), "m1");
    let id = memory.store(MemoryEntry::new("another")).await.unwrap();
    assert!(id != "m1" && id != cost, "{id} was given before");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    // Whatever somebody types is a search, and no operator, error or injection.
    #[test]
    fn any_text_is_a_valid_search(words in any::<String>(), odd in "[\"'*():^+\\-{}\\x00 a-zNOTANDR]{0,40}") {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (_root, memory) = memory();
            for (key, text) in [("any", &words), ("odd", &odd)] {
                memory.save(record(key, text)).await.unwrap();
            }
            for query in [&words, &odd, &format!("{words}{odd}")] {
                MemoryStore::search(&memory, "n", query, 5).await.unwrap();
            }
            assert_eq!(memory.load("n", "any").await.unwrap().unwrap().value, words);
        });
    }
}

#[tokio::test]
async fn reading_makes_no_file_and_writing_one_for_the_user_alone() {
    let (root, memory) = memory();
    assert_eq!(memory.count("n").await.unwrap(), 0);
    assert!(keys(&memory, "x").await.is_empty());
    assert!(!MemoryStore::delete(&memory, "n", "k").await.unwrap());
    assert!(!root.path().join("data").exists());
    memory.save(record("k", "v")).await.unwrap();
    for file in std::fs::read_dir(root.path().join("data")).unwrap() {
        let path = file.unwrap().path();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", path.display());
    }
}

#[tokio::test]
async fn a_damaged_file_is_named_and_left_as_it_is() {
    let (_root, memory) = memory();
    std::fs::create_dir_all(memory.path().parent().unwrap()).unwrap();
    std::fs::write(memory.path(), [b'x'; 4096]).unwrap();
    let error = memory.save(record("k", "v")).await.unwrap_err();
    assert!(matches!(file_error(&error), MemoryFileError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("memory.sqlite") && error.to_string().contains("move it away"));
    let error = MemoryStore::search(&memory, "n", "x", 1).await.unwrap_err();
    assert!(matches!(file_error(&error), MemoryFileError::Damaged { .. }), "{error}");
    assert_eq!(std::fs::read(memory.path()).unwrap(), [b'x'; 4096]);
}

#[tokio::test]
async fn a_file_that_another_process_keeps_is_an_error_and_afterwards_all_is_there() {
    let (_root, memory) = memory();
    memory.save(record("k", "before")).await.unwrap();
    let other = Connection::open(memory.path()).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let hasty = SqliteMemory::new(memory.path()).with_patience(Duration::from_millis(20));
    // Who reads does not wait for who writes.
    assert_eq!(hasty.load("n", "k").await.unwrap().unwrap().value, "before");
    let error = hasty.save(record("k", "after")).await.unwrap_err();
    assert!(matches!(file_error(&error), MemoryFileError::Locked { .. }), "{error}");
    assert!(error.to_string().contains("in use by another process"), "{error}");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(hasty.load("n", "k").await.unwrap().unwrap().value, "before");
    hasty.save(record("k", "after")).await.unwrap();
    assert_eq!(memory.load("n", "k").await.unwrap().unwrap().value, "after");
}

#[tokio::test]
async fn what_is_opened_for_reading_changes_nothing() {
    let (_root, memory) = memory();
    let reading = SqliteMemory::read_only(memory.path());
    let error = reading.save(record("k", "v")).await.unwrap_err();
    assert!(error.to_string().contains("memory.sqlite"), "{error}");
    assert!(!memory.path().exists());
    memory.save(record("k", "v")).await.unwrap();
    assert_eq!(keys(&reading, "v").await, ["k"]);
    let error = reading.save(record("k", "w")).await.unwrap_err();
    assert!(matches!(file_error(&error), MemoryFileError::ReadOnly { .. }), "{error}");
    assert!(error.to_string().contains("is read-only"), "{error}");
    assert!(reading.clear("n").await.is_err());
    assert_eq!(memory.load("n", "k").await.unwrap().unwrap().value, "v");
}

#[tokio::test]
async fn a_file_without_the_right_to_write_can_be_searched_and_says_why_it_keeps_nothing() {
    let (_root, memory) = memory();
    memory.save(record("k", "v")).await.unwrap();
    let path = memory.path().to_owned();
    drop(memory);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o400)).unwrap();
    if std::fs::OpenOptions::new().write(true).open(&path).is_ok() {
        // The superuser may write anyway.
        return;
    }
    let memory = SqliteMemory::new(&path);
    assert_eq!(keys(&memory, "v").await, ["k"]);
    let error = memory.save(record("k", "w")).await.unwrap_err();
    assert!(matches!(file_error(&error), MemoryFileError::ReadOnly { .. }), "{error}");
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_not_touched() {
    let (_root, memory) = memory();
    memory.save(record("k", "v")).await.unwrap();
    Connection::open(memory.path()).unwrap().pragma_update(None, "user_version", 9).unwrap();
    for other in [SqliteMemory::new(memory.path()), SqliteMemory::read_only(memory.path())] {
        let error = other.load("n", "k").await.unwrap_err();
        assert!(matches!(file_error(&error), MemoryFileError::Newer { found: 9, .. }), "{error}");
    }
}

#[tokio::test]
async fn a_change_that_fails_in_the_middle_leaves_all_as_it_was() {
    let (_root, memory) = memory();
    memory.save(record("k", "before")).await.unwrap();
    let other = Connection::open(memory.path()).unwrap();
    let trigger =
        "CREATE TRIGGER no BEFORE INSERT ON record WHEN NEW.key = 'bad' BEGIN SELECT RAISE(ABORT, 'no'); END";
    other.execute_batch(trigger).unwrap();
    let keep = vec![record("k", "after"), record("bad", "x")];
    memory.change("n", keep, vec!["k".to_owned()]).await.unwrap_err();
    assert_eq!(memory.load("n", "k").await.unwrap().unwrap().value, "before");
    assert_eq!(keys(&memory, "before").await, ["k"]);
}
