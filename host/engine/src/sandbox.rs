//! The one compiler, linker, allocator and cache of a process.

use crate::cache::{self, Cache, CacheOptions, Genuine, Kind};
use crate::compile::{self, Compiler, Workshop};
use crate::error::EngineError;
use crate::import;
use crate::inspect::Surface;
use crate::limits::{MAX_CONCURRENT_CALLS, MAX_KEPT};
use crate::machine::{self, Allocation};
use crate::state::State;
use crate::ticker;
use capstan_ports::extension::Digest;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use wasmtime::Engine;
use wasmtime::component::{Component, Linker};

/// How a sandbox is set up.
#[derive(Debug, Clone)]
pub struct SandboxOptions {
    /// How instances get their memory; the default is the pool.
    pub allocation: Allocation,
    /// Where compiled code is kept; `None` compiles at every start.
    pub cache: Option<CacheOptions>,
    /// Bytes that the cache may hold; what was not used for longest goes first.
    pub cache_bytes: u64,
    /// Where components are compiled; the default is in this process.
    pub compiler: Compiler,
    /// How long compiling one component may take.
    pub compile_limit: Duration,
    /// Whether traps name files and lines, where a component brings that information. It is for those who debug an extension of
    /// their own: it is read when a call has trapped, which no limit holds for, so a stranger's file could keep the host busy
    /// with it. Compiled code is kept apart from the other kind.
    pub lines: bool,
}

impl Default for SandboxOptions {
    fn default() -> Self {
        Self {
            allocation: Allocation::Pooled,
            cache: None,
            cache_bytes: cache::DEFAULT_MAX_BYTES,
            compiler: Compiler::default(),
            compile_limit: compile::DEFAULT_LIMIT,
            lines: false,
        }
    }
}

/// The sandbox of a process. Cloning gives another handle to the same one.
#[derive(Clone)]
pub struct Sandbox {
    shared: Arc<Shared>,
}

struct Shared {
    engine: Engine,
    allocation: Allocation,
    linker: Linker<State>,
    cache: Option<Cache>,
    workshop: Workshop,
    permits: Semaphore,
    kept: Arc<Semaphore>,
}

impl Sandbox {
    /// Sets up the engine and links the host functions.
    ///
    /// # Errors
    /// When wasmtime cannot be set up on this machine. A cache that cannot be used is no error: the host works without it
    /// and says so in the log.
    pub fn new(options: &SandboxOptions) -> Result<Self, EngineError> {
        let (engine, allocation) = machine::engine(options.allocation, options.lines)?;
        ticker::start(&engine)?;
        let linker = import::linker(&engine)?;
        let cache = options.cache.as_ref().and_then(|cache| {
            Cache::open(cache, &engine)
                .map(|cache| cache.holding(options.cache_bytes))
                .inspect_err(|reason| {
                    tracing::warn!(directory = %cache.directory.display(), %reason,
                        "no cache of compiled extensions; they are compiled at every start");
                })
                .ok()
        });
        let permits = Semaphore::new(MAX_CONCURRENT_CALLS);
        let workshop = Workshop::new(options.compiler.clone(), options.compile_limit, options.lines);
        let kept = Arc::new(Semaphore::new(MAX_KEPT));
        Ok(Self { shared: Arc::new(Shared { engine, allocation, linker, cache, workshop, permits, kept }) })
    }

    /// How instances get their memory on this machine.
    pub fn allocation(&self) -> Allocation {
        self.shared.allocation
    }

    /// Whether compiled code is kept.
    pub fn has_cache(&self) -> bool {
        self.shared.cache.is_some()
    }

    /// What the cache knows of an entry: the descriptor that belongs to its code. `None` where it is for another version of
    /// this program, or has no descriptor.
    pub fn about(&self, entry: &cache::Entry) -> Option<Surface> {
        let cache = self.shared.cache.as_ref().filter(|cache| cache.is_current(entry))?;
        surface(&entry.digest, &cache.peek(Kind::Surface, &entry.digest)?)
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.shared.engine
    }

    pub(crate) fn linker(&self) -> &Linker<State> {
        &self.shared.linker
    }

    pub(crate) fn permits(&self) -> &Semaphore {
        &self.shared.permits
    }

    /// Room for instances that outlive a call.
    pub(crate) fn kept(&self) -> &Arc<Semaphore> {
        &self.shared.kept
    }

    /// The surface of these bytes, if it and their code are in the cache.
    pub(crate) fn cached_surface(&self, digest: &Digest) -> Option<Surface> {
        let cache = self.shared.cache.as_ref()?;
        if !cache.has(Kind::Code, digest) {
            return None;
        }
        surface(digest, &cache.read(Kind::Surface, digest)?)
    }

    pub(crate) fn cached_code(&self, digest: &Digest) -> Option<Component> {
        self.shared.cache.as_ref()?.code(&self.shared.engine, digest)
    }

    pub(crate) fn workshop(&self) -> &Workshop {
        &self.shared.workshop
    }

    pub(crate) fn store_code(&self, digest: &Digest, code: &Genuine) {
        let Some(cache) = &self.shared.cache else { return };
        report(cache.write(Kind::Code, digest, code.bytes()));
    }

    pub(crate) fn store_surface(&self, digest: &Digest, surface: &Surface) {
        let Some(cache) = &self.shared.cache else { return };
        let kept = serde_json::to_vec(surface)
            .map_err(std::io::Error::other)
            .and_then(|json| cache.write(Kind::Surface, digest, &json));
        report(kept);
    }
}

fn surface(digest: &Digest, json: &[u8]) -> Option<Surface> {
    serde_json::from_slice(json)
        .inspect_err(|reason| tracing::debug!(%digest, %reason, "a cached descriptor is of another version"))
        .ok()
}

fn report(kept: std::io::Result<()>) {
    if let Err(reason) = kept {
        tracing::warn!(%reason, "compiled code could not be kept; it will be compiled again at the next start");
    }
}
