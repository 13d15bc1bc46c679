//! A guide as a newcomer follows it: its files are written, its commands are typed, and what they say is compared.
//!
//! In a guide, a code block of the language `console` holds commands (`$ …`, going on in lines that begin with `> `) and what they say on
//! both streams. `…` by itself on a line stands for any lines, also none, `…` within a line for any text. Every command must go well; in a
//! block marked `fails` the last one must not. A block marked `no-run` is only shown. A block of any language with
//! `file=PATH` is written to that file, in the folder in which the commands before it ended.
//!
//! Builds share a cache and may wait for one another, which they say, so a guide has `…` where a build speaks.

use anyhow::{Context, Result, bail, ensure};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::Command;

/// How long one command may take: the first build of a language's tools on a slow machine, and then some.
const TIME_LIMIT: Duration = Duration::from_secs(900);

/// Folders of the cache that hold what can be made again and costs minutes. They are those of the machine, as for an author who has
/// built an extension before; the tests say nothing about a first build.
const SHARED: [&str; 4] = ["toolchain", "guest-target", "javascript", "python"];

/// One block of a guide that does something.
#[derive(Debug, PartialEq, Eq)]
pub enum Block {
    /// Writes a file.
    File {
        /// Below the current folder.
        path: String,
        /// All of it.
        text: String,
    },
    /// Runs a command.
    Run {
        /// The line of the guide in which it stands.
        line: usize,
        /// What is typed.
        command: String,
        /// The lines that it says.
        says: Vec<String>,
        /// Whether it is to end badly.
        fails: bool,
    },
}

/// What a guide does, in its order.
///
/// # Errors
/// When a block has no end, is marked in an unknown way, or says something before its first command.
pub fn blocks(guide: &str) -> Result<Vec<Block>> {
    let mut blocks = Vec::new();
    let mut lines = guide.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let mut body = Vec::new();
        loop {
            match lines.next() {
                Some((_, "```")) => break,
                Some((_, line)) => body.push(line),
                None => bail!("the block of line {} has no end", at + 1),
            }
        }
        let mut marks = info.split_whitespace();
        let language = marks.next().unwrap_or_default();
        let marks: Vec<_> = marks.collect();
        let file = marks.iter().find_map(|mark| mark.strip_prefix("file="));
        match (language, file, marks.as_slice()) {
            (_, Some(path), [_]) => {
                let text = body.iter().map(|line| format!("{line}\n")).collect();
                blocks.push(Block::File { path: path.to_owned(), text });
            }
            ("console", None, []) => commands(&body, at + 2, false, &mut blocks)?,
            ("console", None, ["fails"]) => commands(&body, at + 2, true, &mut blocks)?,
            ("console", None, ["no-run"]) => {}
            (_, None, []) => {}
            _ => bail!("line {}: `{info}` is marked in a way that means nothing", at + 1),
        }
    }
    Ok(blocks)
}

/// The commands of a block, which begins at line `first`.
fn commands(body: &[&str], first: usize, fails: bool, blocks: &mut Vec<Block>) -> Result<()> {
    let mut found: Vec<Block> = Vec::new();
    for (at, line) in body.iter().enumerate() {
        match (line.strip_prefix("$ "), found.last_mut()) {
            (Some(command), _) => found.push(Block::Run {
                line: first + at,
                command: command.to_owned(),
                says: Vec::new(),
                fails: false,
            }),
            (None, Some(Block::Run { command, says, .. })) => match line.strip_prefix("> ") {
                Some(more) if says.is_empty() => {
                    command.push('\n');
                    command.push_str(more);
                }
                _ => says.push((*line).to_owned()),
            },
            (None, _) => bail!("line {}: the block says something before its first command", first + at),
        }
    }
    if let Some(Block::Run { fails: last, .. }) = found.last_mut() {
        *last = fails;
    }
    blocks.extend(found);
    Ok(())
}

/// Whether what was said is what a guide promises.
pub fn fits(promised: &[String], said: &[&str]) -> bool {
    let Some((first, promised)) = promised.split_first() else { return said.is_empty() };
    if first.trim() == "…" {
        return (0..=said.len()).any(|skipped| fits(promised, &said[skipped..]));
    }
    said.split_first().is_some_and(|(line, said)| line_fits(first.trim_end(), line) && fits(promised, said))
}

fn line_fits(promised: &str, said: &str) -> bool {
    let Some((start, rest)) = promised.split_once('…') else { return promised == said };
    let Some(said) = said.strip_prefix(start) else { return false };
    let mut ends = said.char_indices().map(|(at, _)| at).chain([said.len()]);
    ends.any(|at| line_fits(rest, &said[at..]))
}

/// A newcomer: a machine with the language's tools and this program, and nothing of Capstan's yet.
pub struct Newcomer {
    root: TempDir,
    /// Where the shell is.
    folder: PathBuf,
    environment: Vec<(String, OsString)>,
}

impl Newcomer {
    /// One whose `capstan` is `program`.
    pub fn new(program: &str) -> Result<Self> {
        let root = tempfile::tempdir()?;
        let place = root.path().canonicalize()?;
        let [home, own, folder, temporary, bin] =
            ["user", "capstan", "work", "tmp", "bin"].map(|name| place.join(name));
        for path in [&home, &own, &folder, &temporary, &bin] {
            std::fs::create_dir(path)?;
        }
        std::os::unix::fs::symlink(program, bin.join("capstan"))?;
        let cache = own.join("cache");
        std::fs::create_dir(&cache)?;
        let machines = std::env::var_os("HOME").map(PathBuf::from).context("there is no HOME")?;
        let caches =
            std::env::var_os("XDG_CACHE_HOME").map_or_else(|| machines.join(".cache"), PathBuf::from);
        for name in SHARED {
            let shared = caches.join("capstan").join(name);
            std::fs::create_dir_all(&shared)?;
            std::os::unix::fs::symlink(&shared, cache.join(name))?;
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([bin].into_iter().chain(std::env::split_paths(&path)))?;
        let mut environment: Vec<(String, OsString)> = [
            ("CAPSTAN_HOME", own.as_os_str()),
            ("HOME", home.as_os_str()),
            ("TMPDIR", temporary.as_os_str()),
            ("PATH", &path),
            ("LANG", "C.UTF-8".as_ref()),
            ("NO_COLOR", "1".as_ref()),
            ("CARGO_TERM_COLOR", "never".as_ref()),
            ("CARGO_TERM_PROGRESS_WHEN", "never".as_ref()),
            // A test changes nothing of the machine.
            ("CAPSTAN_NO_INSTALL", "1".as_ref()),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        // What package managers have fetched before, and how they reach what they have not.
        for (name, place) in [
            ("CARGO_HOME", ".cargo"),
            ("RUSTUP_HOME", ".rustup"),
            ("npm_config_cache", ".npm"),
            ("npm_config_userconfig", ".npmrc"),
            ("PIP_CACHE_DIR", ".cache/pip"),
        ] {
            let value = std::env::var_os(name).unwrap_or_else(|| machines.join(place).into_os_string());
            environment.push((name.to_owned(), value));
        }
        let reach = |name: &str| {
            let lower = name.to_ascii_lowercase();
            (lower.starts_with("pip_") && lower != "pip_cache_dir")
                || lower.starts_with("npm_config_")
                    && !["npm_config_cache", "npm_config_userconfig"].contains(&lower.as_str())
                || ["http_proxy", "https_proxy", "no_proxy", "ssl_cert_file", "node_extra_ca_certs"]
                    .contains(&lower.as_str())
        };
        environment.extend(
            std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
                .filter(|(name, _)| reach(name)),
        );
        Ok(Self { folder, root, environment })
    }

    /// Sets a variable of its shell.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// Follows a guide to its end.
    ///
    /// # Errors
    /// When something in it does not hold, with its line, what was promised and what was said.
    pub async fn follow(&mut self, guide: &Path) -> Result<()> {
        let text =
            std::fs::read_to_string(guide).with_context(|| format!("{} cannot be read", guide.display()))?;
        let blocks = blocks(&text)?;
        ensure!(
            blocks.iter().any(|block| matches!(block, Block::Run { .. })),
            "{} has no command to run",
            guide.display()
        );
        for block in blocks {
            match block {
                Block::File { path, text } => {
                    let path = self.folder.join(path);
                    let folder = path.parent().context("a file has a folder")?;
                    std::fs::create_dir_all(folder)?;
                    std::fs::write(path, text)?;
                }
                Block::Run { line, command, says, fails } => {
                    let (said, went_well) = self.type_in(&command).await?;
                    let lines: Vec<_> = said.lines().map(str::trim_end).collect();
                    let place = format!("{}:{line}: $ {command}", guide.display());
                    ensure!(
                        went_well != fails,
                        "{place}\nends {}:\n{said}",
                        if fails { "well" } else { "badly" }
                    );
                    ensure!(
                        fits(&says, &lines),
                        "{place}\ndoes not say what the guide promises:\n{}\nbut:\n{said}",
                        says.join("\n")
                    );
                }
            }
        }
        Ok(())
    }

    /// Types a command; what it says on both streams, and whether it went well.
    async fn type_in(&mut self, command: &str) -> Result<(String, bool)> {
        let ended_in = self.root.path().join("ended-in");
        let script = format!("exec 2>&1\n{command}\ncode=$?\npwd > \"$1\"\nexit $code");
        let mut child = Command::new("sh");
        child
            .args(["-c", &script, "sh"])
            .arg(&ended_in)
            .current_dir(&self.folder)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(std::process::Stdio::null())
            .kill_on_drop(true);
        let finished = tokio::time::timeout(TIME_LIMIT, child.output());
        let finished = finished.await.with_context(|| format!("`{command}` does not end"))??;
        if let Ok(folder) = std::fs::read_to_string(&ended_in) {
            self.folder = PathBuf::from(folder.trim_end());
        }
        Ok((String::from_utf8_lossy(&finished.stdout).into_owned(), finished.status.success()))
    }
}

#[cfg(test)]
#[path = "guide_tests.rs"]
mod tests;
