//! The entries of a session, in the order of their lines, and the tree that their parents make of them.
//!
//! A parent is looked up among the entries before it only. So a parent that is missing, comes later or is the entry
//! itself makes a root of its child, and no chain of parents can ever form a circle. Nothing here recurses: a chain may
//! have a million entries.

use crate::entry::{Entry, EntryKind};
use crate::error::LineError;
use crate::header::Header;
use capstan_ports::{EntryId, Message};
use std::collections::HashMap;
use std::sync::Arc;
use uuid::Uuid;

/// How often a short id is tried before a long one is taken. In a session of a million entries one try in four thousand
/// collides.
const MAX_ID_TRIES: usize = 100;

/// The header and the entries of one session.
#[derive(Debug)]
pub struct Tree {
    header: Header,
    nodes: Vec<Node>,
    by_id: HashMap<EntryId, usize>,
    leaf: Option<usize>,
    transcript: Transcript,
}

#[derive(Debug)]
struct Node {
    entry: Arc<Entry>,
    /// Always smaller than the node's own position.
    parent: Option<usize>,
}

/// The messages on the way to one entry, kept because the loop asks for them in every round.
#[derive(Debug, Default)]
struct Transcript {
    leaf: Option<usize>,
    messages: Vec<Arc<Message>>,
}

impl Tree {
    /// A session without entries.
    pub fn new(header: Header) -> Self {
        Self {
            header,
            nodes: Vec::new(),
            by_id: HashMap::new(),
            leaf: None,
            transcript: Transcript::default(),
        }
    }

    /// The first line.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// All entries in the order of their lines.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Arc<Entry>> {
        self.nodes.iter().map(|node| &node.entry)
    }

    /// The entry with this id.
    pub fn entry(&self, id: &EntryId) -> Option<&Arc<Entry>> {
        self.by_id.get(id).map(|at| &self.nodes[*at].entry)
    }

    /// The entry that the next one follows: the last that was added.
    pub fn leaf(&self) -> Option<&EntryId> {
        self.leaf.map(|at| self.nodes[at].entry.id())
    }

    /// A new entry after the leaf. It becomes part of the tree with [`Tree::push`].
    pub fn next(&self, kind: EntryKind) -> Entry {
        Entry::new(self.unused_id(), self.leaf().cloned(), kind)
    }

    /// A new entry after the leaf that holds this message; see [`Tree::next`].
    pub(crate) fn next_message(&self, message: Arc<Message>) -> Entry {
        Entry::of_message(self.unused_id(), self.leaf().cloned(), message)
    }

    /// Adds an entry; it becomes the leaf.
    ///
    /// # Errors
    /// When the id is taken; the tree is then unchanged.
    pub fn push(&mut self, entry: Entry) -> Result<(), LineError> {
        let parent = entry.parent_id().and_then(|id| self.by_id.get(id)).copied();
        self.push_under(entry, parent)
    }

    /// Adds an entry that continues `stand_in` when its own parent is not there, because the parent's line is damaged.
    pub(crate) fn push_after_gap(&mut self, entry: Entry, stand_in: Option<usize>) -> Result<(), LineError> {
        let parent = entry.parent_id().and_then(|id| self.by_id.get(id).copied().or(stand_in));
        self.push_under(entry, parent)
    }

    /// All entries as a file without damage would have them: an entry that continues a stand-in names it as its parent.
    pub(crate) fn copies(&self) -> Result<Vec<Entry>, LineError> {
        self.nodes
            .iter()
            .map(|node| match node.parent.map(|at| self.nodes[at].entry.id()) {
                Some(parent) if node.entry.parent_id() != Some(parent) => {
                    node.entry.reparented(Some(parent.clone()))
                }
                _ => Ok(Entry::clone(&node.entry)),
            })
            .collect()
    }

    /// The position of the leaf.
    pub(crate) fn leaf_position(&self) -> Option<usize> {
        self.leaf
    }

    fn push_under(&mut self, entry: Entry, parent: Option<usize>) -> Result<(), LineError> {
        if self.by_id.contains_key(entry.id()) {
            return Err(LineError::DuplicateId(entry.id().clone()));
        }
        let at = self.nodes.len();
        // Continuing the branch that the transcript shows extends it; anything else makes it stale, and the next
        // reader collects it anew.
        if self.transcript.leaf == parent && self.leaf == parent {
            self.transcript.messages.extend(entry.message());
            self.transcript.leaf = Some(at);
        }
        self.by_id.insert(entry.id().clone(), at);
        self.nodes.push(Node { entry: Arc::new(entry), parent });
        self.leaf = Some(at);
        Ok(())
    }

    /// The entries from the leaf back to its root.
    pub fn branch(&self) -> impl Iterator<Item = &Arc<Entry>> {
        std::iter::successors(self.leaf, |at| self.nodes[*at].parent).map(|at| &self.nodes[at].entry)
    }

    /// The messages from the root to the leaf.
    ///
    /// A call costs one reference count per message; the way is only walked after the leaf went elsewhere.
    pub fn messages(&mut self) -> Vec<Arc<Message>> {
        if self.transcript.leaf != self.leaf {
            let mut messages: Vec<_> = self.branch().filter_map(|entry| entry.message()).collect();
            messages.reverse();
            self.transcript = Transcript { leaf: self.leaf, messages };
        }
        self.transcript.messages.clone()
    }

    fn unused_id(&self) -> EntryId {
        (0..MAX_ID_TRIES)
            .map(|_| EntryId::new(&Uuid::new_v4().simple().to_string()[..8]))
            .find(|id| !self.by_id.contains_key(id))
            .unwrap_or_else(|| EntryId::new(Uuid::new_v4().simple().to_string()))
    }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
