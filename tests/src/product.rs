//! The built product, driven as a user drives it: a home and a workspace of its own, a clean environment, an end in time.
//!
//! Nothing of the machine's user is seen: configuration, keys and proxy settings of the surrounding shell would make a test
//! pass here and fail elsewhere. What the product writes lies in a temporary directory.

mod run;

pub use run::{Finished, Running, json_lines};

use crate::guest::Guest;
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// The longest that any run may take. Far above what a run needs on the busiest machine, so that it only ends those that hang.
pub const TIME_LIMIT: Duration = Duration::from_secs(150);

/// What a test grants to something that is to happen at once. Wide, because a machine may be busy with other tests, and yet
/// far below what the same thing takes where it does not work.
pub const SOON: Duration = Duration::from_secs(15);

/// The key of both providers. Long enough to be found wherever it leaks.
pub const KEY: &str = "sk-canary-4f1d2c8e9ab35760";

/// The product of this package. A macro, because only a test binary knows where its package's programs are.
#[macro_export]
macro_rules! product {
    () => {
        $crate::product::Product::new(env!("CARGO_BIN_EXE_capstan-under-test"))
    };
}

/// The product with a home and a workspace of its own.
pub struct Product {
    program: PathBuf,
    root: TempDir,
    environment: BTreeMap<String, OsString>,
}

impl Product {
    /// `program` with an empty home and an empty workspace.
    pub fn new(program: &str) -> Result<Self> {
        let root = tempfile::tempdir()?;
        let mut product = Self { program: PathBuf::from(program), root, environment: BTreeMap::new() };
        for folder in [
            product.home(),
            product.extensions(),
            product.workspace(),
            product.beside(""),
            product.temporary(),
        ] {
            std::fs::create_dir_all(folder)?;
        }
        let own =
            [("CAPSTAN_HOME", product.home()), ("HOME", product.user()), ("TMPDIR", product.temporary())];
        product.environment.extend(own.map(|(name, path)| (name.to_owned(), path.into_os_string())));
        product.environment.extend(std::env::var_os("PATH").map(|path| ("PATH".to_owned(), path)));
        product.environment.insert("LANG".to_owned(), "C.UTF-8".into());
        Ok(product)
    }

    /// Sets a variable of the product's environment.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.insert(name.to_owned(), value.into());
        self
    }

    /// Lets it ask this server as an OpenAI endpoint.
    #[must_use]
    pub fn with_openai(self, base_url: &str) -> Self {
        self.with("OPENAI_BASE_URL", base_url)
            .with("OPENAI_API_KEY", KEY)
            .with("CAPSTAN_MODEL", "openai/test-model")
    }

    /// Lets it ask this server as an Anthropic endpoint.
    #[must_use]
    pub fn with_anthropic(self, base_url: &str) -> Self {
        self.with("ANTHROPIC_BASE_URL", base_url)
            .with("ANTHROPIC_API_KEY", KEY)
            .with("CAPSTAN_MODEL", "anthropic/claude-test")
    }

    /// Lets it play these lines, one answer each, without any server.
    pub fn with_script(self, lines: &[&str]) -> Result<Self> {
        let script = self.beside("script.jsonl");
        std::fs::write(&script, lines.join("\n"))?;
        Ok(self.with("CAPSTAN_SCRIPT", script).with("CAPSTAN_MODEL", "scripted/test"))
    }

    /// Writes the user's `config.toml`.
    pub fn configure(&self, text: &str) -> Result<()> {
        Ok(std::fs::write(self.home().join("config.toml"), text)?)
    }

    /// `CAPSTAN_HOME`.
    pub fn home(&self) -> PathBuf {
        self.root().join("capstan")
    }

    /// The user's home, which is not the product's.
    pub fn user(&self) -> PathBuf {
        self.root().join("user")
    }

    /// The working directory.
    pub fn workspace(&self) -> PathBuf {
        self.root().join("workspace")
    }

    /// A path in the user's home, outside of the workspace.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.user().join(name)
    }

    /// The user's extension folder.
    pub fn extensions(&self) -> PathBuf {
        self.home().join("extensions")
    }

    fn temporary(&self) -> PathBuf {
        self.root().join("tmp")
    }

    /// Canonical: what the product prints are real paths.
    fn root(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap_or_else(|_missing| self.root.path().to_owned())
    }

    /// Puts a guest into the user's extension folder.
    pub fn install(&self, guest: &Guest) -> Result<PathBuf> {
        self.install_bytes(&format!("{}.wasm", guest.id), &guest.build()?)
    }

    /// Puts these bytes into the user's extension folder.
    pub fn install_bytes(&self, name: &str, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.extensions().join(name);
        std::fs::write(&path, bytes)?;
        Ok(path)
    }

    /// Puts an extension of this repository into the user's extension folder. It must have been built before.
    pub fn install_built(&self, name: &str) -> Result<PathBuf> {
        let file = Path::new("extensions").join(name).with_extension("wasm");
        let built = self.program.ancestors().map(|folder| folder.join(&file)).find(|path| path.is_file());
        let built = built.with_context(|| {
            format!(
                "target/{} is not there: build the extensions first, with `cargo xtask setup`",
                file.display()
            )
        })?;
        self.install_bytes(&format!("{name}.wasm"), &std::fs::read(built)?)
    }

    /// The command that starts it, for those who need more than [`Product::start`].
    pub(crate) fn command_line(&self) -> (&Path, &BTreeMap<String, OsString>) {
        (&self.program, &self.environment)
    }

    /// Starts it with stdin closed.
    pub fn start(&self, arguments: &[&str]) -> Result<Running> {
        self.start_with(arguments, "")
    }

    /// Starts it with this text on stdin.
    pub fn start_with(&self, arguments: &[&str], input: &str) -> Result<Running> {
        self.start_program(&self.program, arguments, input)
    }

    /// Runs another program in the product's place, with its environment and workspace, and the product's path as the last
    /// argument: one that drives the product.
    pub async fn run_driver(&self, driver: &Path, arguments: &[&str]) -> Result<Finished> {
        let program = self.program.to_str().context("the product's path is no text")?;
        let arguments: Vec<_> = arguments.iter().copied().chain([program]).collect();
        self.start_program(driver, &arguments, "")?.finish().await
    }

    /// Runs another program to its end, with the product's environment and workspace. Where it finds the product is among its
    /// arguments; see [`Product::program`].
    pub async fn run_other(&self, program: &Path, arguments: &[&str]) -> Result<Finished> {
        self.start_program(program, arguments, "")?.finish().await
    }

    /// The product itself.
    pub fn program(&self) -> Result<&str> {
        self.program.to_str().context("the product's path is no text")
    }

    /// A command with the product's environment and workspace, for those who start it themselves.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.workspace()).env_clear().envs(&self.environment);
        command.kill_on_drop(true);
        command
    }

    fn start_program(&self, program: &Path, arguments: &[&str], input: &str) -> Result<Running> {
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(self.workspace())
            .env_clear()
            .envs(&self.environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("{} cannot be started", program.display()))?;
        let stdin = child.stdin.take();
        let input = input.to_owned();
        tokio::spawn(async move {
            if let Some(mut stdin) = stdin {
                // A product that does not read its stdin closes it, which is not for this side to judge.
                drop(stdin.write_all(input.as_bytes()).await);
            }
        });
        Ok(Running::of(child))
    }

    /// Runs it to its end with stdin closed.
    pub async fn run(&self, arguments: &[&str]) -> Result<Finished> {
        self.start(arguments)?.finish().await
    }

    /// Runs it to its end with this text on stdin.
    pub async fn run_with(&self, arguments: &[&str], input: &str) -> Result<Finished> {
        self.start_with(arguments, input)?.finish().await
    }

    /// The session files.
    pub fn session_files(&self) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        let folders = match std::fs::read_dir(self.home().join("sessions")) {
            Ok(folders) => folders,
            Err(reason) if reason.kind() == std::io::ErrorKind::NotFound => return Ok(files),
            Err(reason) => return Err(reason.into()),
        };
        for folder in folders {
            for file in std::fs::read_dir(folder?.path())? {
                files.push(file?.path());
            }
        }
        files.retain(|file| file.extension().is_some_and(|ending| ending == "jsonl"));
        files.sort();
        Ok(files)
    }

    /// The lines of the only session. Fails if there are more or fewer sessions, or if a line is no JSON.
    pub fn session(&self) -> Result<Vec<Value>> {
        match self.session_files()?.as_slice() {
            [file] => json_lines(&std::fs::read_to_string(file)?),
            files => bail!("there are {} sessions", files.len()),
        }
    }
}

/// Waits until `path` exists.
pub async fn appears(path: &Path) -> Result<()> {
    let began = Instant::now();
    while !path.exists() {
        ensure!(began.elapsed() < TIME_LIMIT, "{} never appeared", path.display());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}
