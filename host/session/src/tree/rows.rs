//! The tree as a list for screens.

use super::Tree;
use capstan_ports::EntryId;
use capstan_ports::entry::Entry;
use std::collections::HashMap;
use std::sync::Arc;

/// One entry where it stands in the tree.
#[derive(Debug, Clone, Copy)]
pub struct Row<'t> {
    /// The entry.
    pub entry: &'t Arc<Entry>,
    /// Entries between it and its root, the root included; zero for a root.
    pub depth: usize,
    /// How many of the entries before it on its way are followed by more than one: how far a screen should indent it.
    /// `depth` would indent every message of a plain conversation further than the one before.
    pub n_forks: usize,
    /// How many entries follow it directly.
    pub n_children: usize,
    /// Whether it is on the way from the root to the leaf.
    pub is_on_branch: bool,
    /// Whether it is the leaf, which the next entry will follow.
    pub is_leaf: bool,
    /// The bookmark on it.
    pub label: Option<&'t str>,
}

impl Tree {
    /// All entries, each before what follows it, and what follows an entry in the order in which it was added: never by
    /// the clock, which jumps (J15). An entry whose parent is not there is a root (001-049).
    ///
    /// A list and not nested nodes, so that a conversation of any length can be walked, shown and dropped without
    /// recursion.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let family = Family::of(self);
        let mut at = Place { position: family.first_root, depth: 0, n_forks: 0 };
        std::iter::from_fn(move || {
            let row = self.row(at.position?, &at, &family);
            at = self.after(&at, &family);
            Some(row)
        })
    }

    fn row<'t>(&'t self, position: usize, at: &Place, family: &Family<'t>) -> Row<'t> {
        let entry = self.entry_at(position);
        Row {
            entry,
            depth: at.depth,
            n_forks: at.n_forks,
            n_children: family.n_children[position],
            is_on_branch: family.is_on_branch[position],
            is_leaf: self.leaf == Some(position),
            label: family.labels.get(&entry.id).copied(),
        }
    }

    /// The first child, or else the next sibling of the nearest ancestor that has one.
    fn after(&self, at: &Place, family: &Family<'_>) -> Place {
        let Some(mut position) = at.position else { return *at };
        let (mut depth, mut n_forks) = (at.depth, at.n_forks);
        if let Some(child) = family.first_child[position] {
            let is_fork = family.n_children[position] > 1;
            return Place {
                position: Some(child),
                depth: depth + 1,
                n_forks: n_forks + usize::from(is_fork),
            };
        }
        loop {
            if let Some(sibling) = family.next_sibling[position] {
                return Place { position: Some(sibling), depth, n_forks };
            }
            let Some(parent) = self.nodes[position].parent else {
                return Place { position: None, depth, n_forks };
            };
            position = parent;
            depth -= 1;
            n_forks -= usize::from(family.n_children[parent] > 1);
        }
    }
}

#[derive(Clone, Copy)]
struct Place {
    position: Option<usize>,
    depth: usize,
    n_forks: usize,
}

/// Who follows whom, by position.
struct Family<'t> {
    first_root: Option<usize>,
    first_child: Vec<Option<usize>>,
    /// Roots are siblings of each other.
    next_sibling: Vec<Option<usize>>,
    n_children: Vec<usize>,
    is_on_branch: Vec<bool>,
    labels: HashMap<&'t EntryId, &'t str>,
}

impl<'t> Family<'t> {
    fn of(tree: &'t Tree) -> Self {
        let n = tree.nodes.len();
        let mut family = Self {
            first_root: None,
            first_child: vec![None; n],
            next_sibling: vec![None; n],
            n_children: vec![0; n],
            is_on_branch: vec![false; n],
            labels: tree.labels(),
        };
        // From the last to the first, so that each sibling finds the one after it at the head of the list.
        for position in (0..n).rev() {
            let parent = tree.nodes[position].parent;
            let head = match parent {
                Some(parent) => {
                    family.n_children[parent] += 1;
                    &mut family.first_child[parent]
                }
                None => &mut family.first_root,
            };
            family.next_sibling[position] = head.replace(position);
        }
        for position in tree.positions_back_from(tree.leaf) {
            family.is_on_branch[position] = true;
        }
        family
    }
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
