//! A disk in memory that fails where a test wants it to, and remembers what would survive a power cut.

use crate::disk::{Disk, Presence};
use std::io;
use std::sync::{Mutex, MutexGuard};

#[derive(Debug, Default)]
pub(crate) struct FaultyDisk {
    stored: Mutex<Stored>,
}

#[derive(Debug, Default)]
struct Stored {
    bytes: Vec<u8>,
    durable: Vec<u8>,
    n_operations: usize,
    n_syncs: usize,
    faults: Vec<Fault>,
    max_append_bytes: Option<usize>,
    presence: Option<Presence>,
}

/// One operation that fails.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault {
    /// Which one, counted from 0 over appends, syncs and truncations.
    pub(crate) operation: usize,
    /// How many bytes an append stores all the same.
    pub(crate) after_bytes: usize,
    pub(crate) kind: io::ErrorKind,
}

impl FaultyDisk {
    pub(crate) fn with(bytes: &[u8]) -> Self {
        let disk = Self::default();
        disk.stored().bytes = bytes.to_vec();
        disk.stored().durable = bytes.to_vec();
        disk
    }

    /// Lets the operation that comes after `skip` others fail.
    pub(crate) fn fail_after(&self, skip: usize, after_bytes: usize, kind: io::ErrorKind) {
        let mut stored = self.stored();
        let operation = stored.n_operations + skip;
        stored.faults.push(Fault { operation, after_bytes, kind });
    }

    /// Takes at most so many bytes per append from now on.
    pub(crate) fn write_short(&self, max_append_bytes: usize) {
        self.stored().max_append_bytes = Some(max_append_bytes);
    }

    pub(crate) fn pretend(&self, presence: Presence) {
        self.stored().presence = Some(presence);
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.stored().bytes.clone()
    }

    pub(crate) fn durable(&self) -> Vec<u8> {
        self.stored().durable.clone()
    }

    pub(crate) fn n_operations(&self) -> usize {
        self.stored().n_operations
    }

    pub(crate) fn n_syncs(&self) -> usize {
        self.stored().n_syncs
    }

    fn stored(&self) -> MutexGuard<'_, Stored> {
        self.stored.lock().unwrap()
    }
}

impl Stored {
    fn next_fault(&mut self) -> Option<Fault> {
        let operation = self.n_operations;
        self.n_operations += 1;
        self.faults.iter().find(|fault| fault.operation == operation).copied()
    }
}

impl Disk for FaultyDisk {
    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut stored = self.stored();
        if let Some(fault) = stored.next_fault() {
            let n = fault.after_bytes.min(bytes.len());
            stored.bytes.extend_from_slice(&bytes[..n]);
            return Err(fault.kind.into());
        }
        let n = bytes.len().min(stored.max_append_bytes.unwrap_or(usize::MAX));
        stored.bytes.extend_from_slice(&bytes[..n]);
        Ok(n)
    }

    fn sync(&self) -> io::Result<()> {
        let mut stored = self.stored();
        stored.n_syncs += 1;
        match stored.next_fault() {
            Some(fault) => Err(fault.kind.into()),
            None => {
                stored.durable = stored.bytes.clone();
                Ok(())
            }
        }
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        let mut stored = self.stored();
        match stored.next_fault() {
            Some(fault) => Err(fault.kind.into()),
            None => {
                stored.bytes.truncate(len as usize);
                Ok(())
            }
        }
    }

    fn presence(&self) -> io::Result<Presence> {
        let stored = self.stored();
        Ok(stored.presence.unwrap_or(Presence::InPlace { len: stored.bytes.len() as u64 }))
    }

    fn n_bytes(&self) -> io::Result<u64> {
        Ok(self.stored().bytes.len() as u64)
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        let stored = self.stored();
        let from = stored.bytes.get(offset as usize..).unwrap_or_default();
        let n = from.len().min(into.len());
        into[..n].copy_from_slice(&from[..n]);
        Ok(n)
    }
}
