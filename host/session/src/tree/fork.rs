//! One branch of a tree as a tree of its own.

use super::Tree;
use crate::entry::StoredEntry;
use crate::error::LineError;
use crate::header::Header;
use capstan_ports::entry::{EntryKind, Label};

impl Tree {
    /// The entries from the root to the one at `leaf`, under another header. They keep their ids and their lines.
    ///
    /// A bookmark may have been set anywhere in the tree. Those on copied entries are set again at the end wherever the
    /// copied entries alone would say something else.
    pub(crate) fn fork(&self, header: Header, leaf: Option<usize>) -> Result<Self, LineError> {
        let mut path: Vec<_> = self.positions_back_from(leaf).collect();
        path.reverse();
        let mut fork = Self::new(header);
        for at in &path {
            fork.push(self.copy_of(&self.nodes[*at])?)?;
        }
        let (wanted, copied) = (self.labels(), fork.labels());
        let differing: Vec<_> = path
            .iter()
            .map(|at| &self.entry_at(*at).id)
            .filter(|id| wanted.get(id) != copied.get(id))
            .map(|id| Label { target_id: id.clone(), label: wanted.get(id).map(|text| (*text).to_owned()) })
            .collect();
        for label in differing {
            let parent = fork.leaf().cloned();
            fork.push(StoredEntry::new(fork.unused_id(), parent, EntryKind::Label(label), None))?;
        }
        Ok(fork)
    }
}
