//! `secrets.toml`: credentials that the host puts into requests of extensions, and `capstan secret …` to keep them.
//!
//! Values come from stdin, never from arguments, which other users of the machine can see. They are shown nowhere again, and
//! no error about the file quotes a line of it.

use crate::args::SecretCommand;
use crate::home::{self, Home};
use crate::screen::{self, GOOD};
use anyhow::{Context, Result, bail};
use capstan_engine::Secrets;
use capstan_policy::secret::{MAX_VALUE_BYTES, check_name, check_value, placeholder};
use capstan_ports::extension::Capability;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::ExitCode;

/// The version of the file that this program writes.
const VERSION: u32 = 1;

/// Permission bits of everybody but the owner.
const OTHERS: u32 = 0o077;

/// The file. Unknown keys are refused, as in every policy file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    #[serde(default)]
    secret: BTreeMap<String, String>,
}

/// Runs one of the commands.
pub(crate) fn run(command: &SecretCommand) -> Result<ExitCode> {
    let home = Home::find()?;
    match command {
        SecretCommand::Set { name } => set(&home, name),
        SecretCommand::List => list(&home),
        SecretCommand::Remove { name } => remove(&home, name),
    }
}

/// All secrets, for the host to lend to extensions.
pub(crate) fn load(home: &Home) -> Result<Secrets> {
    Ok(Secrets::new(read(&home.secrets_file())?))
}

/// Names among these capabilities under which nothing is stored.
pub(crate) fn missing<'c>(
    home: &Home,
    granted: impl IntoIterator<Item = &'c Capability>,
) -> Result<Vec<String>> {
    let mut names = granted.into_iter().filter_map(|capability| match capability {
        Capability::Secret { name, .. } => Some(name.clone()),
        _ => None,
    });
    // Without a wish for a secret the file is not even looked at.
    let Some(first) = names.next() else { return Ok(Vec::new()) };
    let stored = read(&home.secrets_file())?;
    let mut missing: Vec<_> =
        std::iter::once(first).chain(names).filter(|name| !stored.contains_key(name)).collect();
    missing.dedup();
    Ok(missing)
}

/// Tells the user which secrets an extension needs that are not there yet.
pub(crate) fn remind(home: &Home, extension: &str, granted: &BTreeSet<Capability>) -> Result<()> {
    for name in missing(home, granted)? {
        screen::note(&format!(
            "capstan: the secret {name}, which {extension} uses, is not stored yet. To store it: capstan secret set {name}"
        ));
    }
    Ok(())
}

fn set(home: &Home, name: &str) -> Result<ExitCode> {
    check_name(name)?;
    let path = home.secrets_file();
    let mut secrets = read(&path)?;
    let value = if std::io::stdin().is_terminal() { ask(name)? } else { piped()? };
    check_value(name, &value)?;
    let replaced = secrets.insert(name.to_owned(), value).is_some();
    write(&path, secrets)?;
    screen::note(&format!(
        "{GOOD}{}{GOOD:#} {name}. Extensions write {} in its place; it goes only where you granted it",
        if replaced { "replaced" } else { "stored" },
        placeholder(name)
    ));
    Ok(ExitCode::SUCCESS)
}

fn list(home: &Home) -> Result<ExitCode> {
    let secrets = read(&home.secrets_file())?;
    if secrets.is_empty() {
        screen::note("There are no secrets. To store one: capstan secret set NAME");
    }
    for name in secrets.keys() {
        screen::data(&format!("{name}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn remove(home: &Home, name: &str) -> Result<ExitCode> {
    let path = home.secrets_file();
    let mut secrets = read(&path)?;
    if secrets.remove(name).is_none() {
        bail!("there is no secret {name}; `capstan secret list` shows what there is");
    }
    write(&path, secrets)?;
    screen::note(&format!("{GOOD}removed{GOOD:#} {name}"));
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> Result<BTreeMap<String, String>> {
    let mut file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(reason) if reason.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(reason) => return Err(reason).with_context(|| format!("{} cannot be read", path.display())),
    };
    // Of the opened file, not of the name.
    let found = file.metadata().with_context(|| format!("{} cannot be read", path.display()))?;
    if found.mode() & OTHERS != 0 {
        bail!(
            "{path} can be used by other users of this machine (mode {mode:o}), so it is not read. If nobody has: chmod 600 {path}. \
             If somebody may have, replace what is in it",
            path = path.display(),
            mode = found.mode() & 0o777
        );
    }
    let mut text = String::new();
    file.read_to_string(&mut text).with_context(|| format!("{} cannot be read", path.display()))?;
    let file: File = toml::from_str(&text).map_err(|reason| {
        // The parser's words quote the line, and a value with it.
        let line = reason.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
        anyhow::anyhow!(
            "{} is not valid at line {line}; mend it, or remove it and store the secrets again",
            path.display()
        )
    })?;
    if file.version > VERSION {
        bail!(
            "{} has version {}, this program knows version {VERSION}; use the newer program",
            path.display(),
            file.version
        );
    }
    Ok(file.secret)
}

fn write(path: &Path, secret: BTreeMap<String, String>) -> Result<()> {
    let text =
        toml::to_string(&File { version: VERSION, secret }).context("the secrets have no TOML form")?;
    home::write_private(path, &text)
}

/// A value through a pipe, without the line break that most commands end their output with.
fn piped() -> Result<String> {
    let mut text = String::new();
    // Two more: a line break, and one byte that shows that there was too much.
    let most = MAX_VALUE_BYTES as u64 + 2;
    std::io::stdin().lock().take(most).read_to_string(&mut text).context("the value cannot be read")?;
    let value = text.strip_suffix('\n').unwrap_or(&text);
    Ok(value.strip_suffix('\r').unwrap_or(value).to_owned())
}

/// A value from the keyboard, without showing it.
fn ask(name: &str) -> Result<String> {
    // Silent before it is asked for: what a quick person types between the two would be seen.
    let _silence = Silence::begin()?;
    screen::note(&format!("Type or paste the value of {name} and press Enter; it is not shown"));
    let mut value = Vec::new();
    for byte in std::io::stdin().lock().bytes() {
        match byte.context("the value cannot be read")? {
            b'\r' | b'\n' => return String::from_utf8(value).context("the value is not text"),
            // Ctrl-C and Ctrl-D.
            3 | 4 => break,
            // Backspace, one character.
            8 | 127 => while value.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {},
            byte => value.push(byte),
        }
    }
    bail!("nothing was stored")
}

/// A terminal that shows nothing. Signals are keys meanwhile, so that no Ctrl-C leaves it behind in this state.
struct Silence {
    before: Termios,
}

impl Silence {
    fn begin() -> Result<Self> {
        let before = tcgetattr(std::io::stdin()).context("the terminal does not tell its modes")?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
        tcsetattr(std::io::stdin(), OptionalActions::Flush, &silent)
            .context("the terminal would show the value; pipe it in instead")?;
        Ok(Self { before })
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        if let Err(reason) = tcsetattr(std::io::stdin(), OptionalActions::Flush, &self.before) {
            tracing::warn!(%reason, "the terminal could not be set back; `stty sane` does it");
        }
    }
}
