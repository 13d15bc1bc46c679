//! What the guard found, from harmless to worst.

/// An objection. A block outweighs a question; of two alike the first counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Finding {
    /// A person should decide, because of this.
    Ask(String),
    /// It must not run, because of this.
    Block(String),
}

impl Finding {
    /// Adds a finding to what was found before.
    pub(crate) fn raise(found: &mut Option<Self>, new: Self) {
        match (&found, &new) {
            (None, _) | (Some(Self::Ask(_)), Self::Block(_)) => *found = Some(new),
            _ => {}
        }
    }
}
