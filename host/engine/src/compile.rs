//! Compiling: off the async workers, bounded in time and number, and where the embedder wishes in a process of its own.
//!
//! A compiler cannot be interrupted, and a hostile component can keep it busy for hours or make it take all memory. A process
//! can be ended, so a host that loads strangers' files uses [`Compiler::Worker`]. Compilation in this process is for hosts
//! that know what they load; what takes too long there is given up on but goes on computing.

use crate::cache::Genuine;
use crate::error::LoadProblem;
use crate::import::printable;
use crate::limits::MAX_FILE_BYTES;
use crate::machine::{self, Allocation};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::sync::{Semaphore, oneshot};
use wasmtime::Engine;

/// The time that one compilation may take unless the embedder says otherwise. The largest real components (a whole
/// JavaScript engine, 12 MB) take up to 20 s on a slow machine; what takes much longer is no honest work.
pub const DEFAULT_LIMIT: Duration = Duration::from_secs(120);

/// Compilations at the same time. Each uses several threads already; two let a small component pass a large one.
const SLOTS: usize = 2;

/// Address space of a compiler process. The largest real components need about one of the four; more is an attack, or a
/// file that should be split.
const WORKER_BYTES: u64 = 4 << 30;

/// Threads of a compiler process. Each reserves address space for its stack and its heap, so a machine with a hundred cores
/// must not start a hundred.
const WORKER_THREADS: usize = 4;

/// More than any component within the file limit compiles to.
const MAX_CODE_BYTES: u64 = 1 << 30;

/// What is kept of a compiler's last words.
const MAX_WORDS_BYTES: u64 = 4 << 10;

/// Where components are compiled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Compiler {
    /// On a thread of this process. It cannot be ended: what runs out of time is reported, and computes on until it is done.
    #[default]
    InProcess,
    /// In a process for each compilation, which is killed when its time is over. It inherits no environment and no files.
    ///
    /// There is no exception for small components: starting the process costs 10 to 20 ms, and a hundred kilobytes of nested
    /// loops keep a compiler busy for minutes.
    Worker {
        /// A program that calls [`serve`] with its stdin and stdout. What it answers is executed, so it must be of this
        /// very build; a program that names itself is.
        program: PathBuf,
        /// What makes it do so.
        arguments: Vec<OsString>,
    },
}

/// What a compiler that this process started, or is, has answered.
pub(crate) struct Compiled(Vec<u8>);

impl Compiled {
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// The compiler of a sandbox.
pub(crate) struct Workshop {
    compiler: Compiler,
    limit: Duration,
    lines: bool,
    slots: Semaphore,
}

impl Workshop {
    pub(crate) fn new(compiler: Compiler, limit: Duration, lines: bool) -> Self {
        Self { compiler, limit, lines, slots: Semaphore::new(SLOTS) }
    }

    /// Compiles one component. The time limit counts from the moment when it is its turn.
    pub(crate) async fn compile(&self, engine: &Engine, bytes: Vec<u8>) -> Result<Genuine, LoadProblem> {
        let _slot = self.slots.acquire().await.map_err(|closed| stopped(closed.to_string()))?;
        let compiled = match &self.compiler {
            Compiler::InProcess => self.here(engine, bytes).await?,
            Compiler::Worker { program, arguments } => self.in_worker(program, arguments, &bytes).await?,
        };
        Ok(Genuine::just_compiled(compiled))
    }

    async fn here(&self, engine: &Engine, bytes: Vec<u8>) -> Result<Compiled, LoadProblem> {
        let (engine, (answer, answered)) = (engine.clone(), oneshot::channel());
        // Not one of the runtime's threads: the end of a runtime waits for those.
        std::thread::Builder::new()
            .name("capstan-compile".to_owned())
            .spawn(move || {
                // Nobody listens any more when the time is over.
                drop(answer.send(engine.precompile_component(&bytes)));
            })
            .map_err(|reason| stopped(reason.to_string()))?;
        match tokio::time::timeout(self.limit, answered).await {
            Ok(Ok(Ok(code))) => Ok(Compiled(code)),
            Ok(Ok(Err(reason))) => Err(LoadProblem::Invalid { reason: one_line(&reason) }),
            Ok(Err(gone)) => Err(stopped(gone.to_string())),
            Err(_elapsed) => Err(LoadProblem::CompileAbandoned { limit: self.limit }),
        }
    }

    async fn in_worker(
        &self,
        program: &Path,
        arguments: &[OsString],
        wasm: &[u8],
    ) -> Result<Compiled, LoadProblem> {
        let mut child = start(program, arguments)
            .map_err(|source| LoadProblem::CompilerMissing { program: program.to_owned(), source })?;
        let task = Task { limit: self.limit, lines: self.lines, wasm };
        let answered = tokio::time::timeout(self.limit, converse(&mut child, task)).await;
        let Ok(answered) = answered else {
            let ended = child.kill().await;
            if let Err(reason) = ended {
                tracing::warn!(%reason, "a compiler that took too long could not be ended");
            }
            return Err(LoadProblem::CompileTimedOut { limit: self.limit });
        };
        let Answer { status, words, output } = answered.map_err(|reason| stopped(reason.to_string()))?;
        if !status.success() {
            return Err(stopped(fate(status, &words)));
        }
        match unframe(output) {
            Some((CODE, code)) => Ok(Compiled(code)),
            Some((PROBLEM, text)) => {
                Err(LoadProblem::Invalid { reason: printable(&String::from_utf8_lossy(&text), 600) })
            }
            Some(_) | None => Err(stopped("its answer is out of form".to_owned())),
        }
    }
}

/// The answer's kind, before its length and its bytes.
const CODE: u8 = 1;
const PROBLEM: u8 = 2;

fn start(program: &Path, arguments: &[OsString]) -> io::Result<Child> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(WORKER_THREADS);
    Command::new(program)
        .args(arguments)
        // Keys and settings of the user are no business of a compiler.
        .env_clear()
        .env("RAYON_NUM_THREADS", threads.to_string())
        .env("MALLOC_ARENA_MAX", threads.to_string())
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Ctrl-C at the terminal is for the conversation.
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
}

/// What a compiler process is told.
struct Task<'a> {
    limit: Duration,
    lines: bool,
    wasm: &'a [u8],
}

struct Answer {
    status: ExitStatus,
    words: Vec<u8>,
    output: Vec<u8>,
}

/// Hands the component over and waits for the end of the process.
async fn converse(child: &mut Child, task: Task<'_>) -> io::Result<Answer> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let feed = async {
        let mut stdin = stdin.ok_or(io::ErrorKind::BrokenPipe)?;
        stdin.write_all(&task.limit.as_secs().max(1).to_le_bytes()).await?;
        stdin.write_all(&[task.lines.into()]).await?;
        stdin.write_all(task.wasm).await?;
        stdin.shutdown().await
    };
    let (fed, output, words, status) =
        tokio::join!(feed, all(stdout, MAX_CODE_BYTES), all(stderr, MAX_WORDS_BYTES), child.wait());
    let status = status?;
    // One that fell while it read says more by how it fell.
    if status.success() {
        fed?;
    }
    Ok(Answer { status, words: words?, output: output? })
}

/// Reads to the end and keeps the first `limit` bytes.
async fn all(stream: Option<impl AsyncRead + Unpin>, limit: u64) -> io::Result<Vec<u8>> {
    let Some(mut stream) = stream else { return Ok(Vec::new()) };
    let mut bytes = Vec::new();
    (&mut stream).take(limit).read_to_end(&mut bytes).await?;
    // A writer must not wait for a reader that has had enough.
    tokio::io::copy(&mut stream, &mut tokio::io::sink()).await?;
    Ok(bytes)
}

fn unframe(mut output: Vec<u8>) -> Option<(u8, Vec<u8>)> {
    let (header, payload) = output.split_at_checked(9)?;
    let (kind, len) = header.split_first()?;
    let (kind, len) = (*kind, u64::from_le_bytes(len.try_into().ok()?));
    (payload.len() as u64 == len).then(|| {
        output.drain(..9);
        (kind, output)
    })
}

fn fate(status: ExitStatus, words: &[u8]) -> String {
    let words = printable(String::from_utf8_lossy(words).trim(), 300);
    let end = match (status.signal(), status.code()) {
        (Some(signal), _) => format!("signal {signal}"),
        (None, code) => format!("exit code {}", code.unwrap_or(-1)),
    };
    if words.is_empty() { end } else { format!("{end}: {words}") }
}

fn stopped(reason: String) -> LoadProblem {
    LoadProblem::CompilerStopped { reason }
}

fn one_line(reason: &wasmtime::Error) -> String {
    printable(&format!("{reason:#}").replace('\n', " "), 600)
}

/// The other side of [`Compiler::Worker`]: limits this process, reads one component, answers its code, and is done.
///
/// Call it first thing in a process of its own, for the limits hold for all of it: no files are written, memory and computing
/// time are bounded.
///
/// # Errors
/// When the limits cannot be set or the other side is gone. That the component does not compile is an answer.
pub fn serve(mut input: impl Read, mut output: impl Write) -> io::Result<()> {
    let mut seconds = [0; 8];
    input.read_exact(&mut seconds)?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(WORKER_THREADS) as u64;
    // Should the other side die without ending this process, it ends by itself.
    lower(Resource::Cpu, u64::from_le_bytes(seconds).saturating_mul(threads).saturating_add(1))?;
    lower(Resource::As, WORKER_BYTES)?;
    lower(Resource::Core, 0)?;
    lower(Resource::Fsize, 0)?;
    let mut lines = [0];
    input.read_exact(&mut lines)?;
    let mut wasm = Vec::new();
    input.take(MAX_FILE_BYTES).read_to_end(&mut wasm)?;
    // No instance lives here, so no pool is needed; how instances get their memory is no part of the code.
    let (engine, _) = machine::engine(Allocation::OnDemand, lines != [0]).map_err(io::Error::other)?;
    let (kind, payload) = match engine.precompile_component(&wasm) {
        Ok(code) => (CODE, code),
        Err(reason) => (PROBLEM, one_line(&reason).into_bytes()),
    };
    output.write_all(&[kind])?;
    output.write_all(&(payload.len() as u64).to_le_bytes())?;
    output.write_all(&payload)?;
    output.flush()
}

/// Sets both the bound in force and the one up to which this process could raise it again.
fn lower(resource: Resource, bound: u64) -> io::Result<()> {
    let held = getrlimit(resource).maximum;
    let bound = Some(held.map_or(bound, |held| held.min(bound)));
    Ok(setrlimit(resource, Rlimit { current: bound, maximum: bound })?)
}
