//! The WASI world of a guest: exactly what was granted, and otherwise empty. No arguments, no inherited environment, closed
//! stdin, bounded stdout and stderr, no sockets, a clock without fine resolution.

use crate::directory;
use crate::error::{CallError, LoadProblem};
use crate::limits::MAX_STDIO_BYTES;
use crate::reach::Reach;
use bytes::Bytes;
use capstan_policy::Effective;
use capstan_policy::directory::{Places, ResolvedDirectory, check_reach, resolve};
use capstan_ports::extension::{Access, Capability};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::filesystem::Dir;
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};
use wasmtime_wasi::{
    Deterministic, FsPerms, HostMonotonicClock, HostWallClock, OpenMode, WasiCtx, WasiCtxBuilder,
};

/// Random bytes that one WASI call may ask for.
const MAX_RANDOM_BYTES: u64 = 64 << 10;

/// What one instance has of WASI.
pub(crate) struct Wasi {
    pub(crate) context: WasiCtx,
    /// The granted directories, open, and their names in the guest.
    pub(crate) directories: Vec<(Dir, String)>,
    /// What of them it may change.
    pub(crate) reach: Reach,
    pub(crate) time: Time,
}

/// Whether clocks run and timers wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Time {
    Runs,
    StandsStill,
}

impl Wasi {
    /// For guests that import no WASI and still must have some.
    pub(crate) fn nothing() -> Self {
        Self {
            context: WasiCtxBuilder::new().build(),
            directories: Vec::new(),
            reach: Reach::default(),
            time: Time::Runs,
        }
    }
}

/// What a guest is given of the machine, resolved once when the extension is set up.
#[derive(Debug, Clone, Default)]
pub(crate) struct World {
    directories: Vec<ResolvedDirectory>,
    environment: Vec<(String, String)>,
    /// The host's own files.
    own: Arc<[PathBuf]>,
}

impl World {
    /// Resolves grants to directories that exist and do not reach the host's own files.
    pub(crate) fn of(effective: &Effective, places: &Places) -> Result<Self, LoadProblem> {
        let mut world = Self { own: places.protected.as_slice().into(), ..Self::default() };
        for capability in effective.iter() {
            match capability {
                Capability::Directory { path, access } => {
                    let mut directory =
                        resolve(path, *access, places).map_err(|source| LoadProblem::Grant { source })?;
                    let unusable = |source| LoadProblem::Directory { path: directory.host.clone(), source };
                    let host = directory.host.canonicalize().map_err(unusable)?;
                    // What is no directory is refused now and not at the first call.
                    directory::open(&host).map_err(unusable)?;
                    directory.host = host;
                    check_reach(path, &directory.host, places)
                        .map_err(|source| LoadProblem::Grant { source })?;
                    world.directories.push(directory);
                }
                Capability::Environment { name } => {
                    // A variable that is not set, or not UTF-8, is simply not there for the guest either.
                    if let Ok(value) = std::env::var(name) {
                        world.environment.push((name.clone(), value));
                    }
                }
                // Not part of WASI: their host functions look at the grants themselves.
                Capability::Http { .. }
                | Capability::Secret { .. }
                | Capability::Process { .. }
                | Capability::Model { .. }
                | Capability::KeyValue { .. }
                | Capability::SessionMemory
                | Capability::Power { .. } => {}
            }
        }
        Ok(world)
    }

    /// The granted directories.
    pub(crate) fn directories(&self) -> &[ResolvedDirectory] {
        &self.directories
    }

    /// A fresh context for one instance.
    pub(crate) fn context(&self, captured: &Captured) -> Result<Wasi, CallError> {
        let mut builder = WasiCtxBuilder::new();
        builder
            .stdout(captured.stdout.clone())
            .stderr(captured.stderr.clone())
            .wall_clock(CoarseClock::default())
            .monotonic_clock(CoarseClock::default())
            .max_random_size(MAX_RANDOM_BYTES)
            .envs(&self.environment);
        let directories: Vec<_> = self.directories.iter().map(opened).collect::<Result<_, _>>()?;
        let writable = directories.iter().filter(|(directory, _)| directory.perms == FsPerms::ReadWrite);
        let writable = writable.map(|(directory, _)| directory.dir.clone()).collect();
        let reach = Reach::new(writable, self.own.clone());
        Ok(Wasi { context: builder.build(), directories, reach, time: Time::Runs })
    }
}

/// Opened for each instance anew, so that a directory that was replaced (by a checkout, say) is the new one.
fn opened(granted: &ResolvedDirectory) -> Result<(Dir, String), CallError> {
    let file = directory::open(&granted.host).map_err(|reason| {
        tracing::warn!(directory = %granted.host.display(), %reason, "a granted directory cannot be opened");
        // The model reads this, so it holds the guest's name only.
        CallError::NotStarted {
            reason: format!(
                "the granted directory {} is not where it was ({reason}); it was removed, or a link was put in its way. \
                 Put it back, or allow the extension again if the new one is meant",
                granted.guest
            ),
        }
    })?;
    let (perms, mode) = match granted.access {
        Access::ReadOnly => (FsPerms::ReadOnly, OpenMode::READ),
        Access::ReadWrite => (FsPerms::ReadWrite, OpenMode::READ | OpenMode::WRITE),
    };
    Ok((Dir::new(file, perms, mode, false), granted.guest.clone()))
}

/// The world of `describe` and of the roles that only compute: nothing granted, the clock stopped, the random numbers always
/// the same, so that the answer can depend on nothing but the bytes of the extension and the question.
pub(crate) fn deterministic_context(captured: &Captured) -> Wasi {
    let context = WasiCtxBuilder::new()
        .stdout(captured.stdout.clone())
        .stderr(captured.stderr.clone())
        .wall_clock(FrozenClock)
        .monotonic_clock(FrozenClock)
        .secure_random(Deterministic::new(vec![0x5a; 32]))
        .insecure_random(Deterministic::new(vec![0xa5; 32]))
        .insecure_random_seed(0)
        .max_random_size(MAX_RANDOM_BYTES)
        .build();
    Wasi { context, directories: Vec::new(), reach: Reach::default(), time: Time::StandsStill }
}

/// Stdout and stderr of a guest, kept for the log and for the message of a trap.
#[derive(Clone, Default)]
pub(crate) struct Captured {
    pub(crate) stdout: Bounded,
    pub(crate) stderr: Bounded,
}

/// Takes what fits and drops the rest; the guest is never told, stopped or trapped for it.
#[derive(Clone, Default)]
pub(crate) struct Bounded {
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl Bounded {
    /// What was written, and forgets it.
    pub(crate) fn take(&self) -> String {
        let bytes = std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn push(&self, new: &[u8]) {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MAX_STDIO_BYTES.saturating_sub(bytes.len());
        bytes.extend_from_slice(&new[..new.len().min(room)]);
    }
}

impl IsTerminal for Bounded {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Bounded {
    // Written at once rather than through a task: a panic message must be here when the trap arrives.
    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }

    fn async_stream(&self) -> Box<dyn tokio::io::AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Bounded {
    async fn ready(&mut self) {}
}

impl OutputStream for Bounded {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.push(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(MAX_STDIO_BYTES)
    }
}

impl tokio::io::AsyncWrite for Bounded {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        self.push(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Milliseconds and no finer: enough to date a file, useless for timing the host.
struct CoarseClock {
    start: Instant,
}

impl Default for CoarseClock {
    fn default() -> Self {
        Self { start: Instant::now() }
    }
}

const COARSE: Duration = Duration::from_millis(1);

impl HostWallClock for CoarseClock {
    fn resolution(&self) -> Duration {
        COARSE
    }

    fn now(&self) -> Duration {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Duration::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}

impl HostMonotonicClock for CoarseClock {
    fn resolution(&self) -> u64 {
        COARSE.as_nanos() as u64
    }

    fn now(&self) -> u64 {
        let millis = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        millis.saturating_mul(self.resolution_nanos())
    }
}

impl CoarseClock {
    fn resolution_nanos(&self) -> u64 {
        HostMonotonicClock::resolution(self)
    }
}

struct FrozenClock;

impl HostWallClock for FrozenClock {
    fn resolution(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

impl HostMonotonicClock for FrozenClock {
    fn resolution(&self) -> u64 {
        1_000_000_000
    }

    fn now(&self) -> u64 {
        0
    }
}
