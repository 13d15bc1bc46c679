//! Which session, and where it works: what the flags, the current directory and the session's own first line say together.
//!
//! A session that is named goes on in the directory that it was begun in (001-146), wherever the program is started: its
//! files, its project's configuration and its grants are those of that directory. `--cwd` goes before that.

use crate::args::SessionFlags;
use crate::home::Home;
use crate::screen;
use crate::sessions::{self, Which};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// Where a session works, and which it is.
pub(crate) struct Start {
    pub(crate) home: Home,
    pub(crate) which: Which,
}

impl Start {
    /// What the flags mean where nobody can choose from a list.
    ///
    /// # Errors
    /// When a directory is not there, or no session is meant or found.
    pub(crate) fn of(flags: &SessionFlags) -> Result<Self> {
        if flags.wants_list() {
            bail!(
                "--resume needs a session here: its id, the beginning of its id, or its file; `capstan session list` shows them"
            );
        }
        Self::in_home(home(flags)?, flags)
    }

    /// The same with what [`home`] found.
    pub(crate) fn in_home(mut home: Home, flags: &SessionFlags) -> Result<Self> {
        let named = flags.resume.as_ref().and_then(Option::as_ref).or(flags.session.as_ref());
        let which = match (named, &flags.fork) {
            (Some(name), _) => Which::File(file(&home, name)?),
            (None, Some(name)) => Which::CopyOf(file(&home, name)?),
            (None, None) if flags.no_session => Which::Unkept,
            (None, None) if flags.latest => Which::Last,
            (None, None) => Which::New,
        };
        if let Which::File(path) | Which::CopyOf(path) = &which
            && flags.cwd.is_none()
        {
            work_where_it_worked(&mut home, path)?;
        }
        Ok(Self { home, which })
    }
}

impl SessionFlags {
    /// Whether a session is to go on, or a copy of one.
    pub(crate) fn names_one(&self) -> bool {
        self.latest || self.resume.is_some() || self.session.is_some() || self.fork.is_some()
    }

    /// Whether a session is to be chosen from a list.
    pub(crate) fn wants_list(&self) -> bool {
        self.resume == Some(None)
    }
}

/// The user's places with what the flags say about them.
///
/// # Errors
/// When a directory is not there.
pub(crate) fn home(flags: &SessionFlags) -> Result<Home> {
    let mut home = Home::find()?;
    if let Some(directory) = &flags.cwd {
        home.workspace = existing(directory).with_context(|| format!("--cwd {}", screen::path(directory)))?;
    }
    if let Some(folder) = &flags.session_dir {
        let absolute = std::path::absolute(folder);
        home.session_folder =
            Some(absolute.with_context(|| format!("--session-dir {}", screen::path(folder)))?);
    }
    Ok(home)
}

/// The file of the session that is called so.
fn file(home: &Home, name: &str) -> Result<PathBuf> {
    sessions::find(home, name).with_context(|| {
        let name = screen::brief(name, 200);
        format!("the session `{name}` cannot be opened; `capstan session list` shows those that there are")
    })
}

fn work_where_it_worked(home: &mut Home, path: &Path) -> Result<()> {
    let header = capstan_session::header_of(path)
        .context("the session cannot be opened; `capstan session list` shows those that there are")?;
    // Files of other programs need not say it.
    if header.cwd.is_empty() {
        return Ok(());
    }
    home.workspace = existing(Path::new(&header.cwd)).with_context(|| {
        format!(
            "the session {} worked in a directory that is not there; to go on with it elsewhere, add --cwd DIR",
            screen::path(path)
        )
    })?;
    Ok(())
}

fn existing(directory: &Path) -> Result<PathBuf> {
    let named = || screen::path(directory);
    let canonical = directory.canonicalize().with_context(|| format!("{} cannot be used", named()))?;
    anyhow::ensure!(canonical.is_dir(), "{} is no directory", named());
    Ok(canonical)
}
