//! Context files: `AGENTS.md` or `CLAUDE.md`, one of each directory from the user's configuration and the root down to the
//! working directory, as pi reads them.
//!
//! Who starts in a directory wants what it says to agents, so no question is asked; what was read is named at the start. The
//! texts stay data: they are fenced in the prompt, they grant nothing, and a file that somebody else put into a directory above,
//! or a link that leads out of its repository, is left out.

use crate::home::Home;
use crate::reading::{self, Bytes, Links, MAX_FILE_BYTES};
use crate::screen;
use capstan_agent::prompt::ContextFile;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// In a directory the first of these counts.
const NAMES: [&str; 4] = ["AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"];

/// Most bytes of all files together: about 50,000 tokens, a quarter of a common context window. The user's
/// own and those nearest to the working directory are kept.
const MAX_TOTAL_BYTES: usize = 192 << 10;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Context {
    /// From the most general to the most special.
    pub(crate) files: Vec<ContextFile>,
    /// What was cut or left out, and why.
    pub(crate) notices: Vec<String>,
}

/// A directory that is asked.
struct Directory<'a> {
    path: &'a Path,
    is_own: bool,
}

impl Context {
    /// Reads all of them.
    pub(crate) fn read(home: &Home) -> Self {
        let mut context = Self::default();
        let mut seen = Vec::new();
        let mut left = MAX_TOTAL_BYTES;
        // The user's own, then from the working directory upwards, so that neither is crowded out.
        let own = Directory { path: &home.config, is_own: true };
        let above = home.workspace.ancestors().map(|path| Directory { path, is_own: false });
        let mut n_own = 0;
        for directory in [own].into_iter().chain(above) {
            let Some((path, read)) = context.first_of(home, &directory) else { continue };
            // The configuration may lie above the working directory, and links lead to one file twice.
            if seen.contains(&read.place) {
                continue;
            }
            seen.push(read.place);
            let shown = short(home, &path);
            match fit(&read, left) {
                Ok((text, is_whole)) => {
                    left = left.saturating_sub(text.len());
                    if !is_whole {
                        context.notices.push(format!(
                            "{shown} is cut: only its first {} are used",
                            screen::size(text.len() as u64)
                        ));
                    }
                    if let n @ 1.. = reading::n_hidden(&read.bytes) {
                        context.notices.push(format!(
                            "{shown} holds {n} characters that cannot be seen; the model reads them written out, like \\u{{200b}}"
                        ));
                    }
                    context.files.push(ContextFile { path: shown, text });
                    n_own += usize::from(directory.is_own);
                }
                Err(reason) => context.notices.push(format!("{shown} is left out: {reason}")),
            }
        }
        if let Some(of_directories) = context.files.get_mut(n_own..) {
            of_directories.reverse();
        }
        context
    }

    /// The file of a directory. One that cannot be used leaves its place to the next.
    fn first_of(&mut self, home: &Home, directory: &Directory<'_>) -> Option<(PathBuf, Bytes)> {
        for name in NAMES {
            let path = directory.path.join(name);
            let repository = repository(directory.path);
            let links = if directory.is_own { Links::Anywhere } else { Links::Below(repository) };
            let read = match reading::bytes(&path, links, MAX_FILE_BYTES) {
                Ok(None) => continue,
                Ok(Some(read)) if directory.is_own || is_trustworthy(home, read.owner) => Ok(read),
                Ok(Some(_)) => Err("it belongs to another user".to_owned()),
                Err(reason) => Err(reason),
            };
            match read {
                Ok(read) => return Some((path, read)),
                Err(reason) => {
                    self.notices.push(format!("{} is left out: {reason}", short(home, &path)));
                }
            }
        }
        None
    }
}

/// Whether a file in a directory above may speak: the user's own, the administrator's, or of whom the working directory is. In
/// `/tmp`, anybody can put a file above yours.
fn is_trustworthy(home: &Home, owner: u32) -> bool {
    let me = rustix::process::geteuid().as_raw();
    owner == me || owner == 0 || home.workspace.metadata().is_ok_and(|about| about.uid() == owner)
}

/// How far links in a directory may lead: over its repository, or else not out of it.
fn repository(directory: &Path) -> &Path {
    directory.ancestors().find(|path| path.join(".git").exists()).unwrap_or(directory)
}

/// The text, and whether it is all of it. What is cut ends with a whole line and says so.
fn fit(read: &Bytes, left: usize) -> Result<(String, bool), String> {
    // A cut may have split a character, which is no fault of the file.
    let end = match std::str::from_utf8(&read.bytes) {
        Err(reason) if read.is_cut && reason.error_len().is_none() => reason.valid_up_to(),
        _ => read.bytes.len(),
    };
    let mut text = reading::text(read.bytes.get(..end).unwrap_or_default())?;
    if !read.is_cut && text.len() <= left {
        return Ok((text, true));
    }
    let room = left.min(MAX_FILE_BYTES);
    let end = text.char_indices().map(|(at, _)| at).chain([text.len()]).take_while(|at| *at <= room).last();
    let end = end.unwrap_or(0);
    let line = text.get(..end).and_then(|kept| kept.rfind('\n')).map_or(end, |at| at + 1);
    if line == 0 {
        return Err(format!("all context files together may have {}", screen::size(MAX_TOTAL_BYTES as u64)));
    }
    text.truncate(line);
    text.push_str("[The rest of this file was left out; read the file if you need it.]");
    Ok((text, false))
}

/// A path as it is named to model and user: below the working directory from there, below the user's home with `~`.
fn short(home: &Home, path: &Path) -> String {
    if let Ok(below) = path.strip_prefix(&home.workspace) {
        return screen::path(below);
    }
    match home.user.as_deref().and_then(|user| path.strip_prefix(user).ok()) {
        Some(below) => format!("~/{}", screen::path(below)),
        None => screen::path(path),
    }
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
