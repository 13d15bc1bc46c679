use super::*;
use capstan_ports::entry::{Compaction, SessionInfo};
use proptest::prelude::*;
use std::path::Path;

fn tree() -> Tree {
    Tree::new(Header::new(Path::new("/w")))
}

fn said(text: &str) -> EntryKind {
    EntryKind::message(Arc::new(Message::user(text)))
}

fn entry(id: &str, parent: Option<&str>) -> StoredEntry {
    StoredEntry::new(EntryId::new(id), parent.map(EntryId::new), said(id), None)
}

fn texts(tree: &Tree) -> Vec<String> {
    tree.context().messages.iter().map(|message| message.text()).collect()
}

#[test]
fn a_new_session_has_no_leaf_and_no_entries() {
    // 001-030
    let tree = tree();
    assert_eq!(tree.leaf(), None);
    assert_eq!(tree.entries().len(), 0);
    assert!(!tree.header().id.as_str().is_empty());
    assert_eq!(tree.header().parent_session, None);
}

#[test]
fn an_appended_message_becomes_the_leaf_and_follows_the_old_one() {
    // 001-001, 001-032
    let mut tree = tree();
    let first = tree.next(said("one"), None).unwrap();
    let first_id = first.entry().id.clone();
    tree.push(first).unwrap();
    let second = tree.next(said("two"), None).unwrap();
    let second_id = second.entry().id.clone();
    assert_eq!(second.entry().parent_id.as_ref(), Some(&first_id));
    tree.push(second).unwrap();
    assert_eq!(tree.leaf(), Some(&second_id));
    assert_eq!(tree.entry(&first_id).unwrap().message().unwrap().text(), "one");
    assert_eq!(texts(&tree), ["one", "two"]);
}

#[test]
fn only_messages_on_the_way_to_the_leaf_are_shown() {
    let mut tree = tree();
    for entry in [entry("a", None), entry("b", Some("a")), entry("c", Some("b")), entry("d", Some("a"))] {
        tree.push(entry).unwrap();
    }
    assert_eq!(texts(&tree), ["a", "d"]);
    tree.push(entry("e", Some("d"))).unwrap();
    assert_eq!(texts(&tree), ["a", "d", "e"], "the transcript grows after a change of branch too");
    tree.push(entry("f", None)).unwrap();
    assert_eq!(texts(&tree), ["f"]);
}

#[test]
fn asking_again_and_again_shares_the_messages() {
    let mut tree = tree();
    for n in 0..1000 {
        let entry = tree.next(said(&n.to_string()), None).unwrap();
        tree.push(entry).unwrap();
        assert_eq!(tree.context().messages.len(), n + 1);
    }
    let (first, second) = (tree.context().messages, tree.context().messages);
    assert!(first.iter().zip(&second).all(|(a, b)| Arc::ptr_eq(a, b)));
}

// J11
#[test]
fn a_repeated_id_is_refused_and_changes_nothing() {
    let mut tree = tree();
    tree.push(entry("a", None)).unwrap();
    assert!(
        matches!(tree.push(entry("a", Some("a"))), Err(LineError::DuplicateId(id)) if id.as_str() == "a")
    );
    assert_eq!(tree.entries().len(), 1);
    assert_eq!(texts(&tree), ["a"]);
}

// J11
#[test]
fn missing_future_and_own_parents_make_roots_and_no_circles() {
    let mut tree = tree();
    for (id, parent, expected) in [
        ("a", Some("nowhere"), vec!["a"]),
        ("b", Some("b"), vec!["b"]),
        ("c", Some("d"), vec!["c"]),
        ("d", Some("c"), vec!["c", "d"]),
    ] {
        tree.push(entry(id, parent)).unwrap();
        assert_eq!(texts(&tree), expected);
    }
}

// J12: no recursion, whatever the length of the chain.
#[test]
fn a_long_chain_is_walked_without_recursion() {
    let mut tree = tree();
    for n in 0..20_000 {
        let entry =
            tree.next(EntryKind::SessionInfo(SessionInfo { name: Some(n.to_string()) }), None).unwrap();
        tree.push(entry).unwrap();
    }
    assert_eq!(tree.branch().count(), 20_000);
    assert!(tree.context().messages.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    // 001-008
    #[test]
    fn ids_are_unique_and_every_branch_ends(parents in proptest::collection::vec(any::<proptest::sample::Index>(), 1..200)) {
        let mut tree = tree();
        for parent in parents {
            let ids: Vec<_> = tree.entries().map(|entry| entry.id.clone()).collect();
            let parent = (!ids.is_empty()).then(|| ids[parent.index(ids.len())].clone());
            let new = StoredEntry::new(tree.unused_id(), parent, said("x"), None);
            prop_assert_eq!(new.entry().id.as_str().len(), 8);
            prop_assert!(new.entry().id.as_str().bytes().all(|byte| byte.is_ascii_hexdigit()));
            tree.push(new).unwrap();
            prop_assert!(tree.branch().count() <= tree.entries().len());
            prop_assert_eq!(tree.branch().count(), tree.context().messages.len());
        }
    }
}

fn compaction(first_kept: EntryId) -> EntryKind {
    EntryKind::Compaction(Compaction {
        summary: "short".into(),
        first_kept_entry_id: first_kept,
        tokens_before: 1,
        details: None,
        from_hook: None,
        messages: None,
    })
}

// 001-037
#[test]
fn a_compaction_names_an_entry_that_is_there_or_itself() {
    let mut tree = tree();
    for entry in [entry("a", None), entry("b", Some("a"))] {
        tree.push(entry).unwrap();
    }
    let error = tree.next(compaction(EntryId::new("x")), None).unwrap_err();
    assert!(error.to_string().contains("no entry x"), "{error}");
    let keeps_nothing = tree.next(compaction(Compaction::keeps_nothing()), None).unwrap();
    let EntryKind::Compaction(told) = &keeps_nothing.entry().kind else { panic!("no compaction") };
    assert_eq!(told.first_kept_entry_id, keeps_nothing.entry().id);
    tree.push(keeps_nothing).unwrap();
    assert_eq!(texts(&tree).len(), 1);
    let keeps_b = tree.next(compaction(EntryId::new("b")), None).unwrap();
    tree.push(keeps_b).unwrap();
    assert_eq!(texts(&tree)[1..], ["b"]);
}
