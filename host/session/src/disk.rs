//! The few things that a session needs of its file.
//!
//! They stand behind a trait so that a test can let any of them fail at any byte. Nothing here retries or repairs: what
//! a failure means is decided in one place, by the writer.

use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;

/// A file that grows at its end.
pub trait Disk: Send + Sync + 'static {
    /// Writes at the end with one system call and returns how many bytes were taken, possibly fewer than given.
    ///
    /// # Errors
    /// As the system says; some of the bytes may have been written all the same.
    fn append(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Returns when everything written so far would survive a power cut.
    ///
    /// # Errors
    /// When the device did not confirm. The system may forget the failure after telling it once, so that a second call
    /// proves nothing.
    fn sync(&self) -> io::Result<()>;

    /// Cuts the file to `len` bytes.
    ///
    /// # Errors
    /// As the system says.
    fn truncate(&self, len: u64) -> io::Result<()>;

    /// Where the file stands now.
    ///
    /// # Errors
    /// When the system cannot say.
    fn presence(&self) -> io::Result<Presence>;

    /// How many bytes the open file has, whatever lies at its path.
    ///
    /// # Errors
    /// When the system cannot say.
    fn n_bytes(&self) -> io::Result<u64>;

    /// Reads bytes of the open file from `offset` on and returns how many were read, possibly fewer than asked for; none
    /// at the end. Several threads may read at once.
    ///
    /// # Errors
    /// As the system says.
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize>;
}

/// Fills `into` with the bytes from `offset` on.
pub(crate) fn read_exactly(disk: &dyn Disk, mut into: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !into.is_empty() {
        match disk.read_at(into, offset) {
            Ok(0) => {
                let what =
                    "the file became shorter while it was read; another program writes to it, try again";
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
            }
            Ok(n) => {
                offset += n as u64;
                into = into.get_mut(n..).unwrap_or_default();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Where an open file stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It lies at its path and has this many bytes.
    InPlace {
        /// Its size in bytes.
        len: u64,
    },
    /// Nothing lies at its path.
    Gone,
    /// Another file lies at its path.
    Replaced,
}

/// A [`Disk`] over a file of the system, opened for appending.
#[derive(Debug)]
pub struct FileDisk {
    file: File,
    path: PathBuf,
    identity: Identity,
}

/// What tells two files apart. It cannot be reused while the file is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    fn of(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }
}

impl FileDisk {
    /// Takes an open file that was found at `path`.
    ///
    /// # Errors
    /// When the system cannot say which file it is.
    pub fn new(file: File, path: PathBuf) -> io::Result<Self> {
        let identity = Identity::of(&file.metadata()?);
        Ok(Self { file, path, identity })
    }
}

impl Disk for FileDisk {
    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        (&self.file).write(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn presence(&self) -> io::Result<Presence> {
        // A symbolic link put in the file's place is another file, whatever it points to.
        match self.path.symlink_metadata() {
            Ok(metadata) if Identity::of(&metadata) == self.identity => {
                Ok(Presence::InPlace { len: metadata.len() })
            }
            Ok(_) => Ok(Presence::Replaced),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Presence::Gone),
            Err(error) => Err(error),
        }
    }

    fn n_bytes(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(&self.file, into, offset)
    }
}
