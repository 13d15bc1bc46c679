//! The entries of a session, in the order of their lines, and the tree that their parents make of them.
//!
//! A parent is looked up among the entries before it only. So a parent that is missing, comes later or is the entry
//! itself makes a root of its child, and no chain of parents can ever form a circle. Nothing here recurses: a chain may
//! have a million entries.

mod fork;
mod rows;

use crate::entry::StoredEntry;
use crate::error::LineError;
use crate::header::Header;
use capstan_ports::entry::{Compaction, Entry, EntryKind, SessionContext};
use capstan_ports::{EntryId, Message, SessionError};
use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::sync::Arc;
use uuid::Uuid;

pub use rows::Row;

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
}

#[derive(Debug)]
struct Node {
    stored: StoredEntry,
    /// Always smaller than the node's own position.
    parent: Option<usize>,
}

impl Tree {
    /// A session without entries.
    pub fn new(header: Header) -> Self {
        Self { header, nodes: Vec::new(), by_id: HashMap::new(), leaf: None }
    }

    /// The first line.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// All entries in the order of their lines.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Arc<Entry>> + DoubleEndedIterator {
        self.nodes.iter().map(|node| node.stored.entry())
    }

    /// The entry with this id.
    pub fn entry(&self, id: &EntryId) -> Option<&Arc<Entry>> {
        self.by_id.get(id).map(|at| self.entry_at(*at))
    }

    /// The entry that the next one follows: the last that was added.
    pub fn leaf(&self) -> Option<&EntryId> {
        self.leaf.map(|at| &self.entry_at(at).id)
    }

    /// A new entry after the leaf. It becomes part of the tree with [`Tree::push`]. A custom message keeps its own time. A
    /// compaction that keeps nothing names itself.
    ///
    /// # Errors
    /// [`SessionError::UnknownEntry`] when it speaks of an entry that is not there.
    pub(crate) fn next(&self, mut kind: EntryKind, at_ms: Option<u64>) -> Result<StoredEntry, SessionError> {
        let new_id = self.unused_id();
        if let EntryKind::Compaction(compaction) = &mut kind
            && compaction.first_kept_entry_id == Compaction::keeps_nothing()
        {
            compaction.first_kept_entry_id = new_id.clone();
        }
        let spoken_of = match &kind {
            EntryKind::Compaction(compaction) => Some(&compaction.first_kept_entry_id),
            EntryKind::Label(label) => Some(&label.target_id),
            _ => None,
        };
        if let Some(id) = spoken_of.filter(|id| **id != new_id && !self.by_id.contains_key(id)) {
            return Err(self.unknown(id));
        }
        Ok(StoredEntry::new(new_id, self.leaf().cloned(), kind, at_ms))
    }

    /// Adds an entry; it becomes the leaf.
    ///
    /// # Errors
    /// When the id is taken; the tree is then unchanged.
    pub fn push(&mut self, entry: StoredEntry) -> Result<(), LineError> {
        let parent = entry.entry().parent_id.as_ref().and_then(|id| self.find(id));
        self.push_under(entry, parent)
    }

    /// Adds an entry that continues `stand_in` when its own parent is not there, because the parent's line is damaged.
    pub(crate) fn push_after_gap(
        &mut self,
        entry: StoredEntry,
        stand_in: Option<usize>,
    ) -> Result<(), LineError> {
        let parent = entry.entry().parent_id.as_ref().and_then(|id| self.find(id).or(stand_in));
        self.push_under(entry, parent)
    }

    /// All entries as a file without damage would have them: an entry that continues a stand-in names it as its parent.
    pub(crate) fn copies(&self) -> Result<Vec<StoredEntry>, LineError> {
        self.nodes.iter().map(|node| self.copy_of(node)).collect()
    }

    fn copy_of(&self, node: &Node) -> Result<StoredEntry, LineError> {
        match node.parent.map(|at| &self.entry_at(at).id) {
            Some(parent) if node.stored.entry().parent_id.as_ref() != Some(parent) => {
                node.stored.reparented(Some(parent.clone()))
            }
            _ => Ok(node.stored.clone()),
        }
    }

    /// The position of the leaf.
    pub(crate) fn leaf_position(&self) -> Option<usize> {
        self.leaf
    }

    /// The position of an entry. Nearly every entry continues the last one, which need not be looked up.
    fn find(&self, id: &EntryId) -> Option<usize> {
        let last = self.nodes.len().checked_sub(1).filter(|at| self.entry_at(*at).id == *id);
        last.or_else(|| self.by_id.get(id).copied())
    }

    fn push_under(&mut self, stored: StoredEntry, parent: Option<usize>) -> Result<(), LineError> {
        let at = self.nodes.len();
        match self.by_id.entry(stored.entry().id.clone()) {
            Slot::Occupied(taken) => return Err(LineError::DuplicateId(taken.key().clone())),
            Slot::Vacant(free) => free.insert(at),
        };
        self.nodes.push(Node { stored, parent });
        self.leaf = Some(at);
        Ok(())
    }

    /// Moves the leaf; `None` is before every root.
    ///
    /// # Errors
    /// [`SessionError::UnknownEntry`]; the leaf then stays.
    pub fn branch_to(&mut self, to: Option<&EntryId>) -> Result<(), SessionError> {
        self.leaf = to.map(|id| self.position(id)).transpose()?;
        Ok(())
    }

    /// The entries from the leaf back to its root.
    pub fn branch(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.back_from(self.leaf)
    }

    /// The entries from the root to `to`, or to the leaf.
    ///
    /// # Errors
    /// [`SessionError::UnknownEntry`].
    pub fn path(&self, to: Option<&EntryId>) -> Result<Vec<&Arc<Entry>>, SessionError> {
        let end = match to {
            Some(id) => Some(self.position(id)?),
            None => self.leaf,
        };
        let mut path: Vec<_> = self.back_from(end).collect();
        path.reverse();
        Ok(path)
    }

    /// What the user, the model and the tools said from the root to the leaf (001-042).
    pub fn transcript(&self) -> Vec<Arc<Message>> {
        let said = |entry: &Arc<Entry>| {
            entry.message().filter(|message| !matches!(message.as_ref(), Message::Custom(_)))
        };
        let mut messages: Vec<_> = self.branch().filter_map(said).collect();
        messages.reverse();
        messages
    }

    /// What a model is told of the branch; see [`SessionContext`].
    pub fn context(&self) -> SessionContext {
        let mut branch: Vec<_> = self.branch().collect();
        branch.reverse();
        SessionContext::of_branch(&branch)
    }

    /// The bookmarks that are in force, by the entries that they are on. In one pass over all entries.
    pub fn labels(&self) -> HashMap<&EntryId, &str> {
        let mut labels = HashMap::new();
        for entry in self.entries() {
            if let EntryKind::Label(label) = &entry.kind {
                match &label.label {
                    Some(text) => labels.insert(&label.target_id, text.as_str()),
                    None => labels.remove(&label.target_id),
                };
            }
        }
        labels
    }

    /// The bookmark on an entry: the text of the last label that names it.
    pub fn label(&self, id: &EntryId) -> Option<&str> {
        let last = self.entries().rev().find_map(|entry| match &entry.kind {
            EntryKind::Label(label) if label.target_id == *id => Some(label),
            _ => None,
        });
        last?.label.as_deref()
    }

    /// What the user calls the session: the last name that was given.
    pub fn name(&self) -> Option<&str> {
        let last = self.entries().rev().find_map(|entry| match &entry.kind {
            EntryKind::SessionInfo(info) => Some(info),
            _ => None,
        });
        last?.name.as_deref()
    }

    fn back_from(&self, from: Option<usize>) -> impl Iterator<Item = &Arc<Entry>> {
        self.positions_back_from(from).map(|at| self.entry_at(at))
    }

    fn positions_back_from(&self, from: Option<usize>) -> impl Iterator<Item = usize> {
        std::iter::successors(from, |at| self.nodes[*at].parent)
    }

    fn entry_at(&self, at: usize) -> &Arc<Entry> {
        self.nodes[at].stored.entry()
    }

    pub(crate) fn position(&self, id: &EntryId) -> Result<usize, SessionError> {
        self.by_id.get(id).copied().ok_or_else(|| self.unknown(id))
    }

    fn unknown(&self, id: &EntryId) -> SessionError {
        SessionError::UnknownEntry { session: self.header.id.clone(), entry: id.clone() }
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
