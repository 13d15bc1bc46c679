//! What extensions used in all runs of this user, kept beside the sessions and shown by `capstan ext list --usage`.

use crate::home::{Home, write_private};
use anyhow::{Context, Result};
use capstan_engine::{Extension, Usage};
use capstan_ports::extension::{Digest, ExtensionId};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;

/// Usage by extension.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Ledger {
    extensions: BTreeMap<ExtensionId, Entry>,
}

/// What the extension of one name used.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    /// Another version begins at zero: its numbers are to be compared with those of the old one, not to be mixed with them.
    digest: Digest,
    usage: Usage,
}

impl Ledger {
    /// The ledger as it was last written; empty where there is none, or none that this version can read.
    pub(crate) fn read(home: &Home) -> Self {
        let path = home.usage_file();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(reason) if reason.kind() == std::io::ErrorKind::NotFound => return Self::default(),
            Err(reason) => {
                tracing::warn!(path = %path.display(), %reason, "what extensions used cannot be read");
                return Self::default();
            }
        };
        serde_json::from_str(&text).unwrap_or_else(|reason| {
            tracing::warn!(path = %path.display(), %reason, "what extensions used cannot be read; counting begins anew");
            Self::default()
        })
    }

    /// What these bytes used under this name.
    pub(crate) fn of(&self, id: &ExtensionId, digest: &Digest) -> Usage {
        self.extensions
            .get(id)
            .filter(|entry| entry.digest == *digest)
            .map(|entry| entry.usage)
            .unwrap_or_default()
    }

    fn add(&mut self, extension: &Extension) {
        let (id, digest) = (extension.id().clone(), extension.inspected().digest);
        let entry = self.extensions.entry(id).or_insert(Entry { digest, usage: Usage::default() });
        if entry.digest != digest {
            *entry = Entry { digest, usage: Usage::default() };
        }
        entry.usage.add(&extension.usage());
    }
}

/// Adds what a run used. A failure costs the numbers and nothing else, so it is only told.
pub(crate) fn keep<'e>(home: &Home, extensions: impl IntoIterator<Item = &'e Extension>) {
    let used: Vec<_> = extensions.into_iter().filter(|extension| extension.usage().calls > 0).collect();
    if used.is_empty() {
        return;
    }
    if let Err(reason) = add(home, &used) {
        tracing::warn!("what extensions used could not be kept: {reason:#}");
    }
}

fn add(home: &Home, used: &[&Extension]) -> Result<()> {
    let path = home.usage_file();
    let lock = path.with_extension("lock");
    if let Some(folder) = lock.parent() {
        std::fs::create_dir_all(folder)?;
    }
    // Two sessions that end at once both count.
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&lock)?;
    flock(&file, FlockOperation::LockExclusive)
        .with_context(|| format!("{} cannot be locked", lock.display()))?;
    let mut ledger = Ledger::read(home);
    used.iter().for_each(|extension| ledger.add(extension));
    write_private(&path, &serde_json::to_string(&ledger)?)
}
