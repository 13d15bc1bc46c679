use super::*;
use crate::entry::StoredEntry;
use crate::header::Header;
use capstan_ports::Message;
use capstan_ports::entry::{EntryKind, Label};
use proptest::prelude::*;
use std::path::Path;

fn stored(id: &str, parent: Option<&str>, at_ms: u64) -> StoredEntry {
    let kind = EntryKind::message(Arc::new(Message::user(id)));
    StoredEntry::new(EntryId::new(id), parent.map(EntryId::new), kind, Some(at_ms))
}

fn tree(entries: &[(&str, Option<&str>)]) -> Tree {
    let mut tree = Tree::new(Header::new(Path::new("/w")));
    for (n, (id, parent)) in entries.iter().enumerate() {
        // Each is older than the one before it.
        tree.push(stored(id, *parent, 1_000_000 - n as u64)).unwrap();
    }
    tree
}

fn shown(tree: &Tree) -> Vec<String> {
    let show = |row: Row<'_>| {
        let marks = (if row.is_on_branch { "*" } else { "" }, if row.is_leaf { "<" } else { "" });
        format!("{} {}/{}/{}{}{}", row.entry.id, row.depth, row.n_forks, row.n_children, marks.0, marks.1)
    };
    tree.rows().map(show).collect()
}

// 001-049, J15
#[test]
fn children_stand_in_the_order_in_which_they_were_added_whatever_their_clocks_say() {
    let tree = tree(&[
        ("a", None),
        ("b", Some("a")),
        ("c", Some("b")),
        ("d", Some("a")),
        ("e", Some("c")),
        ("f", Some("d")),
    ]);
    assert_eq!(shown(&tree), ["a 0/0/2*", "b 1/1/1", "c 2/1/1", "e 3/1/0", "d 1/1/1*", "f 2/1/0*<"]);
}

// 001-049
#[test]
fn orphans_and_second_roots_are_roots() {
    let mut tree = tree(&[("a", None), ("b", Some("nowhere")), ("c", Some("b")), ("d", None)]);
    assert_eq!(shown(&tree), ["a 0/0/0", "b 0/0/1", "c 1/0/0", "d 0/0/0*<"]);
    tree.branch_to(None).unwrap();
    assert!(tree.rows().all(|row| !row.is_on_branch && !row.is_leaf));
    assert_eq!(Tree::new(Header::new(Path::new("/w"))).rows().count(), 0);
}

// 001-049
#[test]
fn a_chain_of_a_hundred_thousand_entries_is_listed_without_recursion() {
    let mut tree = Tree::new(Header::new(Path::new("/w")));
    for _ in 0..100_000 {
        let next = tree.next(EntryKind::message(Arc::new(Message::user("x"))), None).unwrap();
        tree.push(next).unwrap();
    }
    let last = tree.rows().last().unwrap();
    assert_eq!((last.depth, last.n_forks, last.is_leaf), (99_999, 0, true));
}

// 001-009
#[test]
fn the_bookmark_that_was_set_last_is_shown_and_a_removed_one_is_not() {
    let mut tree = tree(&[("a", None), ("b", Some("a"))]);
    let mut mark = |target: &str, text: Option<&str>| {
        let label = Label { target_id: EntryId::new(target), label: text.map(str::to_owned) };
        let next = tree.next(EntryKind::Label(label), None).unwrap();
        tree.push(next).unwrap();
    };
    mark("a", Some("first"));
    mark("b", Some("gone"));
    mark("a", Some("second"));
    mark("b", None);
    let labels: Vec<_> = tree.rows().take(2).map(|row| row.label).collect();
    assert_eq!(labels, [Some("second"), None]);
    assert_eq!(tree.label(&EntryId::new("a")), Some("second"));
    assert_eq!(tree.label(&EntryId::new("b")), None);
}

proptest! {
    // 001-049: whatever the parents are, every entry is listed once, after its parent and one deeper.
    #[test]
    fn every_entry_is_listed_once_after_its_parent(parents in proptest::collection::vec(proptest::option::of(0usize..60), 1..60)) {
        let mut tree = Tree::new(Header::new(Path::new("/w")));
        for (n, parent) in parents.iter().enumerate() {
            tree.push(stored(&n.to_string(), parent.map(|at| at.to_string()).as_deref(), 0)).unwrap();
        }
        let mut depths = HashMap::new();
        for row in tree.rows() {
            let n: usize = row.entry.id.as_str().parse().unwrap();
            let expected = match parents[n].filter(|parent| *parent < n) {
                Some(parent) => depths[&parent] + 1,
                None => 0,
            };
            prop_assert_eq!(row.depth, expected);
            prop_assert!(depths.insert(n, row.depth).is_none());
        }
        prop_assert_eq!(depths.len(), parents.len());
    }
}
