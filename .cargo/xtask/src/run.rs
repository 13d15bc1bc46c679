//! Running programs, with their output shown as it comes.

use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The checkout.
pub(crate) struct Workspace {
    root: PathBuf,
}

/// Says what comes next.
pub(crate) fn step(text: &str) {
    eprintln!("\n==> {text}");
}

impl Workspace {
    /// The checkout that this task was built from.
    pub(crate) fn find() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
        Ok(Self { root })
    }

    /// A path in the checkout.
    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root.join(below)
    }

    /// Cargo's target folder.
    pub(crate) fn target(&self) -> PathBuf {
        match std::env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => self.root.join(folder),
            None => self.root.join("target"),
        }
    }

    /// Runs the cargo that runs this task, in the checkout.
    pub(crate) fn cargo<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Result<()> {
        self.cargo_in(&self.root, arguments)
    }

    /// The same in another folder.
    pub(crate) fn cargo_in<A: AsRef<OsStr>>(
        &self,
        folder: &Path,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<()> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        command(Command::new(cargo).current_dir(folder).args(arguments))
    }

    /// Runs a program in the checkout.
    pub(crate) fn program<A: AsRef<OsStr>>(
        &self,
        program: &Path,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<()> {
        command(Command::new(program).current_dir(&self.root).args(arguments))
    }

    /// Whether cargo has a subcommand of this name.
    pub(crate) fn has_subcommand(&self, name: &str) -> bool {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        Command::new(cargo).args([name, "--version"]).output().is_ok_and(|output| output.status.success())
    }
}

/// Runs a command to its end and says how long it took.
pub(crate) fn command(command: &mut Command) -> Result<()> {
    let began = Instant::now();
    let name =
        Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let arguments: Vec<_> =
        command.get_args().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let line = format!("{name} {}", arguments.join(" "));
    let status = command.status().with_context(|| format!("`{line}` cannot be started"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    eprintln!("    {line}: {:.0} s", began.elapsed().as_secs_f64());
    Ok(())
}
