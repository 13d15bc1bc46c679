//! Paths and the links in them.

use cap_std::fs::Dir;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Links followed in one path, as many as Linux follows.
const MAX_LINKS: usize = 40;

/// Opens a folder beneath `dir`, creating what is missing of it.
pub(super) fn open_folder(dir: &Dir, relative: &Path) -> io::Result<Dir> {
    match dir.open_dir(relative) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            dir.create_dir_all(relative)?;
            dir.open_dir(relative)
        }
        result => result,
    }
}

/// `relative` without links, as far as it exists; what does not exist yet is taken by name.
///
/// Name by name rather than by opening the file and asking for its path: of a file that is replaced in that moment, as
/// happens with parallel writes, the system answers with the path of a deleted file.
pub(super) fn real_beneath(dir: &Dir, relative: &Path) -> io::Result<PathBuf> {
    let mut real = PathBuf::new();
    let mut ahead: VecDeque<Step> = steps(relative)?;
    let mut n_links = 0;
    let mut exists = true;
    while let Some(step) = ahead.pop_front() {
        match step {
            Step::Up if !exists => return Err(Errno::NOENT.into()),
            Step::Up if !real.pop() => return Err(escape()),
            Step::Up => {}
            Step::Down(name) => {
                real.push(name);
                if !exists {
                    continue;
                }
                match dir.read_link_contents(&real) {
                    Ok(target) => {
                        n_links += 1;
                        if n_links > MAX_LINKS {
                            return Err(Errno::LOOP.into());
                        }
                        real.pop();
                        for step in steps(&target)?.into_iter().rev() {
                            ahead.push_front(step);
                        }
                    }
                    Err(error) if Errno::from_io_error(&error) == Some(Errno::INVAL) => {}
                    Err(error) if error.kind() == io::ErrorKind::NotFound => exists = false,
                    Err(error) => return Err(error),
                }
            }
        }
    }
    Ok(real)
}

enum Step {
    Up,
    Down(OsString),
}

fn steps(path: &Path) -> io::Result<VecDeque<Step>> {
    path.components()
        .filter(|component| *component != Component::CurDir)
        .map(|component| match component {
            Component::Normal(name) => Ok(Step::Down(name.to_owned())),
            Component::ParentDir => Ok(Step::Up),
            Component::RootDir | Component::Prefix(_) | Component::CurDir => Err(escape()),
        })
        .collect()
}

/// An absolute path of the host without links, wherever it leads, as far as it exists.
pub(super) fn follow(absolute: &Path) -> io::Result<PathBuf> {
    let mut missing = Vec::new();
    let mut existing = absolute;
    loop {
        match (std::fs::canonicalize(existing), existing.parent(), existing.file_name()) {
            (Ok(mut found), ..) => {
                found.extend(missing.iter().rev());
                return Ok(found);
            }
            // A path that ends in `..` has no name of its own, so nothing is created for it.
            (Err(error), Some(parent), Some(name)) if error.kind() == io::ErrorKind::NotFound => {
                missing.push(name);
                existing = parent;
            }
            (Err(error), ..) => return Err(error),
        }
    }
}

/// How cap-std says that a path led out: a refusal that no system call gave.
pub(super) fn escapes(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

fn escape() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "the path leads out of the folder")
}

/// The empty path means the directory itself, but system calls refuse it.
pub(super) fn or_dot(path: &Path) -> PathBuf {
    if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.to_path_buf() }
}
