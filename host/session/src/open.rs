//! Creating and opening session files: the lock, the findings of the scan, and what is done about them.

use crate::disk::{Disk, FileDisk, Presence};
use crate::entry::{Origin, Place, StoredEntry};
use crate::error::{io_failed, unwritable};
use crate::file::{Notice, SessionFile};
use crate::header::{Header, VERSION, folder_name};
use crate::scan::{Scan, ScanError, Tail, scan};
use crate::tree::Tree;
use crate::writer::{Barrier, append_all};
use capstan_ports::SessionError;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes handed to the system at once when a whole session is written.
const COPY_CHUNK_BYTES: usize = 1 << 20;

impl SessionFile {
    /// Starts a session that works in `cwd`, in a new file under `root`. The header is durable when this returns.
    ///
    /// Folders are made for the user alone, and so is the file: a conversation quotes whatever the tools read.
    ///
    /// # Errors
    /// When a folder or the file cannot be made, written or synced. No file is left behind then.
    pub fn create(root: &Path, cwd: &Path) -> Result<Self, SessionError> {
        Self::create_from(root, Header::new(cwd), Vec::new())
    }

    /// The same with a header of the caller's, which may name a parent.
    ///
    /// # Errors
    /// As [`SessionFile::create`].
    pub fn create_with(root: &Path, header: Header) -> Result<Self, SessionError> {
        Self::create_from(root, header, Vec::new())
    }

    /// Writes a new file with this header and these entries, which keep their ids and lines.
    pub(crate) fn create_from(
        root: &Path,
        header: Header,
        entries: Vec<StoredEntry>,
    ) -> Result<Self, SessionError> {
        let folder = root.join(folder_name(Path::new(&header.cwd)));
        make_folder(&folder).map_err(|error| io_failed(&folder, "create folder", error))?;
        Self::create_in(&folder, header, entries)
    }

    /// The same in a folder that is there.
    pub(crate) fn create_in(
        folder: &Path,
        header: Header,
        entries: Vec<StoredEntry>,
    ) -> Result<Self, SessionError> {
        refuse_shared_folder(folder)?;
        let path = folder.join(header.file_name());
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(|error| io_failed(&path, "create", error))?;
        let filled = lock(&path, &file)
            .and_then(|()| {
                FileDisk::new(file, path.clone()).map_err(|error| io_failed(&path, "look at the file", error))
            })
            .and_then(|disk| Self::fill(&path, Arc::new(disk), header, entries));
        filled.inspect_err(|_| {
            // Nothing in the file was acknowledged, and without it the next start finds no half of a session.
            if let Err(error) = fs::remove_file(&path) {
                tracing::warn!(path = %path.display(), %error, "an unfinished session file could not be removed");
            }
        })
    }

    /// Writes a whole session to an empty file.
    fn fill(
        path: &Path,
        disk: Arc<dyn Disk>,
        header: Header,
        entries: Vec<StoredEntry>,
    ) -> Result<Self, SessionError> {
        let failed = |action| move |error| io_failed(path, action, error);
        let mut text = header.to_line().map_err(|error| unwritable(path, error))? + "\n";
        let mut tree = Tree::new(header);
        let mut len = 0;
        let mut n_from_memory = 0;
        for entry in entries {
            let (line, origin) = entry.line().map_err(|error| unwritable(path, error))?;
            n_from_memory += usize::from(origin == Origin::FromMemory);
            let place =
                Place { disk: Arc::clone(&disk), offset: len + text.len() as u64, n_bytes: line.len() };
            text += &line;
            text.push('\n');
            tree.push(entry.moved_to(place)).map_err(|error| unwritable(path, error))?;
            if text.len() >= COPY_CHUNK_BYTES {
                append_all(disk.as_ref(), text.as_bytes()).map_err(failed("write"))?;
                len += text.len() as u64;
                text.clear();
            }
        }
        append_all(disk.as_ref(), text.as_bytes()).map_err(failed("write"))?;
        len += text.len() as u64;
        disk.sync().map_err(failed("sync"))?;
        sync_folder_of(path).map_err(failed("sync the folder"))?;
        let mut notices = Vec::new();
        if n_from_memory > 0 {
            notices.push(Notice::LinesFromMemory { n: n_from_memory });
        }
        Ok(Self::over(path.to_owned(), disk, tree, len, None, notices))
    }

    /// Continues the session in `path`.
    ///
    /// An interrupted last line is moved to a file beside it. A file that is damaged elsewhere, has a newer format
    /// version, or may not be written is opened all the same, unchanged and read-only ([`SessionFile::read_only`]); what
    /// was found is in [`SessionFile::notices`].
    ///
    /// A file of an older format version is left as it is too: its session is continued in a new file in the same folder,
    /// which names the old one as its parent and is the [`SessionFile::path`] of what is returned. When there is such a
    /// file already, it is opened.
    ///
    /// # Errors
    /// [`SessionError::NotFound`], [`SessionError::Locked`] while another process has it open, and
    /// [`SessionError::Corrupt`] for line 1 when the file does not begin as a session does; it is left as it is.
    pub fn open(path: &Path) -> Result<Self, SessionError> {
        refuse_link(path)?;
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            refuse_shared_folder(folder)?;
        }
        let (file, barrier) = match OpenOptions::new().read(true).append(true).open(path) {
            Ok(file) => {
                lock(path, &file)?;
                (file, None)
            }
            Err(error) if is_write_protected(&error) => {
                let reason =
                    format!("the file may not be written ({error}); copy it, or start a new session");
                (open_for_reading(path)?, Some(Barrier::Closed { reason }))
            }
            Err(error) => return Err(io_failed(path, "open", error)),
        };
        let (disk, found) = scan_file(path, file)?;
        if found.tree.header().version < VERSION && found.damage.is_none() {
            return Self::migrate(path, disk, found);
        }
        Self::settle(path, disk, found, barrier)
    }

    /// Reads the session in `path` without the lock and without changing anything, also while another process
    /// continues it. Of an older format version it shows what a continuation would have.
    ///
    /// # Errors
    /// As [`SessionFile::open`], except that it is never locked.
    pub fn open_read_only(path: &Path) -> Result<Self, SessionError> {
        refuse_link(path)?;
        let (disk, found) = scan_file(path, open_for_reading(path)?)?;
        Self::settle(path, disk, found, Some(Barrier::Asked))
    }

    /// Repairs what may be repaired and closes what may not be written.
    pub(crate) fn settle(
        path: &Path,
        disk: Arc<dyn Disk>,
        found: Scan,
        barrier: Option<Barrier>,
    ) -> Result<Self, SessionError> {
        let Scan { tree, mut good_len, tail, damage, n_opaque } = found;
        let version = tree.header().version;
        let mut notices = Vec::new();
        let barrier = match (barrier, damage) {
            _ if version > VERSION => Some(Barrier::Closed {
                reason: format!(
                    "it has format version {version}, and this program writes version {VERSION}; update the program, \
                     or start a new session"
                ),
            }),
            (_, Some(damage)) => Some(Barrier::Damaged {
                line: damage.line,
                reason: format!(
                    "{}; the file was left as it is and opened read-only: repair the line, or save a copy without it",
                    damage.error
                ),
            }),
            (barrier, None) => barrier,
        };
        match (&tail, &barrier) {
            (Tail::Empty, _) | (Tail::Whole(_), Some(_)) => {}
            (Tail::Torn(bytes), Some(_)) => notices.push(Notice::TailIgnored { n_bytes: bytes.len() }),
            (Tail::Whole(n_bytes), None) => {
                append_all(disk.as_ref(), b"\n")
                    .and_then(|()| disk.sync())
                    .map_err(|error| io_failed(path, "complete the last line", error))?;
                good_len += n_bytes + 1;
                notices.push(Notice::LineEndAdded);
            }
            (Tail::Torn(bytes), None) => {
                // The bytes are safe elsewhere before they are cut off here.
                let kept_in = keep_aside(path, bytes)
                    .map_err(|error| io_failed(path, "keep the torn last line", error))?;
                disk.truncate(good_len)
                    .and_then(|()| disk.sync())
                    .map_err(|error| io_failed(path, "cut off the torn last line", error))?;
                notices.push(Notice::TailCut { n_bytes: bytes.len(), kept_in });
            }
        }
        if n_opaque > 0 {
            notices.push(Notice::OpaqueMessages { n: n_opaque });
        }
        match &barrier {
            None | Some(Barrier::Asked) => {}
            Some(barrier) => notices.push(Notice::ReadOnly { reason: barrier.to_string() }),
        }
        for notice in &notices {
            // Whoever opened the session tells its user.
            tracing::debug!(path = %path.display(), "{notice}");
        }
        Ok(Self::over(path.to_owned(), disk, tree, good_len, barrier, notices))
    }
}

fn open_for_reading(path: &Path) -> Result<File, SessionError> {
    File::open(path).map_err(|error| io_failed(path, "open", error))
}

/// Ties an open file to its path, and makes sure that it was not exchanged since it was looked at.
fn found_at(path: &Path, file: File) -> Result<FileDisk, SessionError> {
    let failed = |error| io_failed(path, "open", error);
    let disk = FileDisk::new(file, path.to_owned()).map_err(failed)?;
    match disk.presence().map_err(failed)? {
        Presence::InPlace { .. } => Ok(disk),
        Presence::Gone | Presence::Replaced => {
            Err(failed(io::Error::other("the file was exchanged while it was being opened; try again")))
        }
    }
}

fn scan_file(path: &Path, file: File) -> Result<(Arc<dyn Disk>, Scan), SessionError> {
    let disk: Arc<dyn Disk> = Arc::new(found_at(path, file)?);
    let found = scan(&disk).map_err(|error| match error {
        ScanError::Io(source) => io_failed(path, "read", source),
        ScanError::Header(error) => SessionError::Corrupt {
            path: path.to_owned(),
            line: 1,
            reason: format!("{error}; this is no session file, and it was left as it is"),
        },
    })?;
    Ok((disk, found))
}

/// The lock belongs to the open file: the system releases it when the process ends, however it ends.
fn lock(path: &Path, file: &File) -> Result<(), SessionError> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => SessionError::Locked { path: path.to_owned() },
        TryLockError::Error(source) => io_failed(path, "lock", source),
    })
}

fn is_write_protected(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Whoever controls a link decides where the conversation is written (J14).
fn refuse_link(path: &Path) -> Result<(), SessionError> {
    let metadata = path.symlink_metadata().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => SessionError::NotFound {
            name: path.display().to_string(),
            hint: "there is no such file; list the sessions to see which there are".into(),
        },
        _ => io_failed(path, "open", error),
    })?;
    if metadata.is_file() {
        return Ok(());
    }
    let what = if metadata.is_symlink() {
        "it is a symbolic link; name the file itself"
    } else {
        "it is not a regular file"
    };
    Err(io_failed(path, "open", io::Error::new(io::ErrorKind::InvalidInput, what)))
}

/// In a folder that anybody can write to, anybody can put another file in the session's place (J14).
fn refuse_shared_folder(folder: &Path) -> Result<(), SessionError> {
    let metadata = fs::metadata(folder).map_err(|error| io_failed(folder, "look at the folder", error))?;
    if metadata.permissions().mode() & 0o002 == 0 {
        return Ok(());
    }
    let what = "every user may write to this folder; keep sessions in a folder of your own";
    Err(io_failed(folder, "use the folder", io::Error::new(io::ErrorKind::PermissionDenied, what)))
}

/// Makes a folder and what is missing above it, each durable in the one above.
fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent {
        make_folder(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(folder) {
        // Another process made it between the question and now.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(error) => Err(error),
        Ok(()) => sync_folder_of(folder),
    }
}

/// Makes the name of `path` durable.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()?;
    #[cfg(test)]
    tests::note_synced(folder);
    Ok(())
}

/// Keeps bytes in a new file beside `path` and returns where.
fn keep_aside(path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    for n in 1u32.. {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".torn-{n}"));
        let aside = PathBuf::from(name);
        match OpenOptions::new().append(true).create_new(true).mode(0o600).open(&aside) {
            Ok(file) => {
                let disk = FileDisk::new(file, aside.clone())?;
                append_all(&disk, bytes)?;
                disk.sync()?;
                sync_folder_of(&aside)?;
                return Ok(aside);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
#[path = "open_tests.rs"]
mod tests;
