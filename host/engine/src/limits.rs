//! What a guest may use in one call, by the role in which it is called: the defaults, what a user can make of them, and the
//! table in the documentation.
//!
//! Each number stands beside its reason and the symptom when it is hit.

mod change;
mod table;

pub use change::{LimitChange, LimitError, LimitTable};
pub use table::table;

use std::time::Duration;

/// In which role a component is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// `describe`, once for each digest.
    Describe,
    /// A tool call.
    Tool,
    /// A hook around a tool call or a turn.
    Hook,
    /// A plan parser: computes, and touches nothing.
    PlanParser,
    /// A compressor: computes, and touches nothing.
    Compressor,
    /// An observer, beside the turn.
    Observer,
    /// A store of memories.
    Memory,
    /// A slash command of the user.
    Command,
}

impl Role {
    /// Every role, in the order of the limits table.
    pub const ALL: [Self; 8] = [
        Self::Describe,
        Self::Tool,
        Self::Hook,
        Self::PlanParser,
        Self::Compressor,
        Self::Observer,
        Self::Memory,
        Self::Command,
    ];

    /// As it is written in the configuration and in the limits table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Describe => "describe",
            Self::Tool => "tool",
            Self::Hook => "hook",
            Self::PlanParser => "plan-parser",
            Self::Compressor => "compressor",
            Self::Observer => "observer",
            Self::Memory => "memory",
            Self::Command => "command",
        }
    }

    /// Whether the answer may depend on nothing but the input: no grant is in force, the clock stands still, random numbers
    /// are always the same (reliability S11).
    pub fn is_deterministic(self) -> bool {
        matches!(self, Self::Describe | Self::PlanParser | Self::Compressor)
    }
}

/// What a guest may use in one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Wall time from instantiation to answer, time inside host calls included. Hit: `TimedOut`.
    pub deadline: Duration,
    /// Linear memory of all memories together, in bytes. Hit: `memory.grow` fails, and most guests then abort.
    pub memory_bytes: usize,
    /// Elements of each table. Hit: `table.grow` fails.
    pub table_elements: usize,
    /// Core instances, memories and tables of one component. Hit: it is not instantiated.
    pub parts: usize,
    /// Bytes that one host call may copy out of the guest. Hit: the call traps.
    pub hostcall_bytes: usize,
    /// Open resources (files, streams, pollables). Hit: the host call that would open one more ends the call. All calls
    /// together must leave the host descriptors of its own, of which many systems give a process 1,024.
    pub resources: usize,
    /// Bytes that may be passed *into* the guest; wasmtime does not limit this direction. Hit: the call is not made.
    pub input_bytes: usize,
    /// Lines that may be logged; what comes after is counted and dropped.
    pub log_lines: u32,
    /// Bytes of one log line; longer ones are cut.
    pub log_line_bytes: usize,
    /// Bytes that one call may write to files, all together; growing a file counts like writing. Hit: this write and every
    /// later one of the call fails with `quota`.
    pub written_bytes: u64,
    /// Host functions that one call may call. Hit: the call ends.
    pub host_calls: u64,
}

/// The largest file that is considered. The largest real guests (a whole Python) have 18 MB; what is far above is a
/// mistake or an attack on the compiler.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// Entries of one directory listing. What walks a repository meets a few thousand in a folder; a folder with more than this
/// is a store of something else. Hit: the listing ends with `overflow`.
pub const MAX_LISTING: usize = 100_000;

/// Captured stdout and stderr of one call, each. Enough for a backtrace; what comes after is dropped.
pub const MAX_STDIO_BYTES: usize = 64 << 10;

/// Between two looks at the clock while a guest computes. 10 ms keeps a spinning guest from holding a worker thread for
/// longer than a frame, and costs nothing measurable.
pub const EPOCH_TICK: Duration = Duration::from_millis(10);

/// Wasm stack of one guest. Rust and C guests use 64 KiB to 1 MiB of their own shadow stack and little of this one.
/// Hit: the call traps with a stack overflow, and nothing else happens.
pub const MAX_WASM_STACK: usize = 512 << 10;

/// The native stack that wasm and host functions share; the difference to [`MAX_WASM_STACK`] is always left for the host.
pub const ASYNC_STACK: usize = 2 << 20;

/// Calls that run at the same time; more wait their turn. Each holds a slot of the instance pool, and a slot reserves about
/// six gigabytes of address space.
pub const MAX_CONCURRENT_CALLS: usize = 64;

/// Of these, how many may belong to one extension, so that one with many slow calls does not keep the others waiting.
pub const MAX_CALLS_OF_ONE: usize = 16;

/// Instances that are kept from call to call (`lifetime: session`), of all extensions together. Each holds a slot of the
/// instance pool for as long.
pub const MAX_KEPT: usize = 32;

/// The largest memory that any role may have; the pool's slots are made for it.
pub const MAX_MEMORY: usize = 512 << 20;

impl Limits {
    /// What most roles share: a call that others wait for, of a guest that may be a whole Python.
    const USUAL: Self = Self {
        deadline: Duration::from_secs(2),
        memory_bytes: 128 << 20,
        table_elements: 100_000,
        // Python without WASI is 38 core instances, one for each system interface that traps.
        parts: 64,
        hostcall_bytes: 8 << 20,
        resources: 64,
        input_bytes: 8 << 20,
        log_lines: 64,
        log_line_bytes: 1 << 10,
        written_bytes: 16 << 20,
        host_calls: 100_000,
    };

    /// The limits of a role.
    pub const fn of(role: Role) -> Self {
        match role {
            // It only builds a value. Python needs tens of megabytes to do so, and a slow machine some time.
            Role::Describe => Self { input_bytes: 0, written_bytes: 0, host_calls: 10_000, ..Self::USUAL },
            // Tools do the work: reading a repository, parsing a large file. Walking a large repository takes some host calls
            // for each file.
            Role::Tool | Role::Command => Self {
                deadline: Duration::from_secs(30),
                memory_bytes: 256 << 20,
                resources: 256,
                log_lines: 1_000,
                log_line_bytes: 4 << 10,
                written_bytes: 256 << 20,
                host_calls: 10_000_000,
                ..Self::USUAL
            },
            // A whole conversation in, and a shorter one or a plan out. Slow enough for a Python guest, quick enough for the
            // turn that waits for it.
            Role::PlanParser | Role::Compressor => {
                Self { input_bytes: 16 << 20, written_bytes: 0, ..Self::USUAL }
            }
            // Beside the turn, so slowness costs only the observer itself; the agent waits for what it remembers.
            Role::Observer | Role::Memory => Self { deadline: Duration::from_secs(5), ..Self::USUAL },
            // A hook stands in the way of every call, so it must be quick; and it must never be the reason for a denial
            // on a busy machine, so the deadline is a thousand times its usual time.
            Role::Hook => Self { deadline: Duration::from_millis(500), ..Self::USUAL },
        }
    }
}
