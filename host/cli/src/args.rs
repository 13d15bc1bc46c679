//! The command line.

mod authors;
mod mcp;
mod memory;
mod plan;
mod serve;
mod session;
mod sessions;

pub(crate) use authors::{ExtensionKind, Language, NewOptions, RunOptions, TestOptions};
use capstan_policy::PermissionMode;
use capstan_ports::ThinkingLevel;
use clap::{Parser, Subcommand, ValueEnum};
pub(crate) use mcp::McpCommand;
pub(crate) use memory::MemoryCommand;
pub(crate) use plan::{PlanMode, PlanOptions};
pub(crate) use serve::ServeOptions;
pub(crate) use session::SessionFlags;
pub(crate) use sessions::{ExportFormat, ExportOptions, SessionCommand, ShowOptions};
use std::path::PathBuf;

/// An agent whose tools and hooks are sandboxed WebAssembly components.
///
/// Without a command: an interactive session in this directory.
#[derive(Debug, Parser)]
#[command(name = "capstan", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    /// Run one prompt and print the final answer; `-` reads the prompt from stdin
    #[arg(short, long, value_name = "PROMPT", allow_hyphen_values = true)]
    pub(crate) print: Option<String>,

    /// What goes to stdout: the answer's text, with --print every event as one JSON line, or what another program needs
    /// that drives this one by lines of JSON on stdin
    #[arg(long, value_enum, default_value_t = Mode::Text)]
    pub(crate) mode: Mode,

    #[command(flatten)]
    pub(crate) session: SessionFlags,

    #[command(flatten)]
    pub(crate) setup: Setup,

    /// Say more on stderr (twice: even more)
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub(crate) verbose: u8,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

impl Args {
    /// How much is said on stderr. Somebody who tries out one extension wants to see what it logs.
    pub(crate) fn verbosity(&self) -> u8 {
        let tries_out = matches!(self.command, Some(Command::Ext(ExtCommand::Run(_))));
        self.verbose.max(u8::from(tries_out))
    }
}

/// How a session is put together.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Setup {
    /// `model` or `provider/model`; else that of the session that goes on, CAPSTAN_MODEL, or the configuration's
    #[arg(long)]
    pub(crate) model: Option<String>,

    /// Whether there can be a session without any model: nobody asks it, and extensions that do get an error
    #[arg(skip)]
    pub(crate) model_is_optional: bool,

    /// The provider of --model; the model's name is then taken as it is, also with a slash in it
    #[arg(long, value_name = "NAME", requires = "model")]
    pub(crate) provider: Option<String>,

    /// How much the model thinks before it answers: off, minimal, low, medium, high or xhigh
    #[arg(long, value_name = "LEVEL", value_parser = session::thinking)]
    pub(crate) thinking: Option<ThinkingLevel>,

    /// Only these built-in tools: read, bash, edit, write, grep, find, ls; without the flag it is the first four
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = session::TOOL_NAMES, conflicts_with = "no_tools")]
    pub(crate) tools: Option<Vec<String>>,

    /// No built-in tools; those of extensions stay
    #[arg(long)]
    pub(crate) no_tools: bool,

    /// What built-in tools may do: read-only, ask, workspace or all
    #[arg(long, value_name = "MODE")]
    pub(crate) permissions: Option<PermissionMode>,

    /// Another directory that the built-in tools may use; can be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) add_dir: Vec<PathBuf>,

    /// Another folder of extensions; can be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) extensions: Vec<PathBuf>,

    /// Load no extensions and start no MCP servers
    #[arg(long)]
    pub(crate) no_extensions: bool,

    /// Use this, or the text of this file, as the first part of the system prompt, in place of any SYSTEM.md
    #[arg(long, value_name = "TEXT|FILE")]
    pub(crate) system_prompt: Option<String>,

    /// Add this, or the text of this file, to the system prompt, in place of any APPEND_SYSTEM.md; can be repeated
    #[arg(long, value_name = "TEXT|FILE")]
    pub(crate) append_system_prompt: Vec<String>,

    /// Read no AGENTS.md or CLAUDE.md
    #[arg(long)]
    pub(crate) no_context_files: bool,

    /// End the turn after this many rounds of tool calls
    #[arg(long, value_name = "N")]
    pub(crate) max_rounds: Option<u32>,
}

/// What goes to stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// The final answer.
    Text,
    /// Events.
    Json,
    /// Answers and events, for a program that sends commands on stdin.
    Rpc,
}

/// What to do instead of a session.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Extensions: what is there, what they ask for, what they may do
    #[command(subcommand)]
    Ext(ExtCommand),
    /// Credentials that the host puts into requests of extensions; extensions never see them
    #[command(subcommand)]
    Secret(SecretCommand),
    /// Compiled extensions: what is kept, and where
    #[command(subcommand)]
    Cache(CacheCommand),
    /// Sessions that were kept: what there is, what was said, copies for reading elsewhere
    #[command(subcommand)]
    Session(SessionCommand),
    /// Make a plan for a goal, show it, and carry it out step by step
    Plan(Box<PlanOptions>),
    /// What you keep for the agent to find, in every session and every folder
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// Tools of MCP servers: what there is, what you allow
    #[command(subcommand)]
    Mcp(McpCommand),
    /// Check the installation and say what is wrong
    Doctor,
    /// Run the whole machine once on a scripted model: no account, no key
    Demo(DemoOptions),
    /// Compiles one component from stdin to stdout; the program starts itself with it
    #[command(name = COMPILE_WORKER, hide = true)]
    CompileWorker,
}

/// The command with which the program starts itself to compile.
pub(crate) const COMPILE_WORKER: &str = "compile-worker";

/// `capstan cache …`
#[derive(Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// List what is kept, the most recently used first
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove everything that is kept; extensions are compiled again when they are next used
    Clear,
    /// Print the folder
    Path,
}

/// `capstan ext …`
#[derive(Debug, Subcommand)]
pub(crate) enum ExtCommand {
    /// List extensions with their state
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
        /// What each has used in all of your runs: calls, processor time, memory
        #[arg(long)]
        usage: bool,
    },
    /// Show everything about one extension: tools, hooks, imports, requests, digest, grants
    Inspect {
        /// An id, or the path of a `.wasm` file
        extension: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Say which hooks are asked in which order, or why each did or did not run and what it changed
    Explain {
        /// Only this extension
        name: Option<String>,
        /// What happened in the last run that ended, of whichever session
        #[arg(long)]
        last: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Check files, or all installed extensions; fails if any has a problem
    Check {
        /// `.wasm` files; none: everything installed
        files: Vec<PathBuf>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Call one component once in the real sandbox: no model, no session, only what the flags grant
    Run(Box<RunOptions>),
    /// Run the recorded cases of an extension in the real sandbox
    Test(TestOptions),
    /// Begin a new extension: a project that builds, with a test and a recorded case
    New(NewOptions),
    /// Build an extension from its source
    Build {
        /// The folder of its Cargo.toml
        #[arg(default_value = ".")]
        project: PathBuf,
        /// Where the `.wasm` file goes
        #[arg(short, long, value_name = "DIR", conflicts_with = "install")]
        out: Option<PathBuf>,
        /// Put it into your extension folder
        #[arg(long)]
        install: bool,
        /// Keep files and lines, which `ext run` then shows of a trap; for yourself, not for others
        #[arg(long, conflicts_with = "install")]
        debug: bool,
    },
    /// Put extensions into your folder: checked, shown, copied, noted in extensions.lock
    Install {
        /// `.wasm` files
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Do not ask for confirmation
        #[arg(short, long)]
        yes: bool,
    },
    /// Take an extension out of your folder, with its grants
    Remove {
        /// Its id
        name: String,
        /// Also what it has stored
        #[arg(long)]
        purge: bool,
    },
    /// Grant an extension what it asks for
    Allow {
        /// Its id
        #[arg(required_unless_present = "project")]
        name: Option<String>,
        /// Do not ask for confirmation
        #[arg(short, long)]
        yes: bool,
        /// Trust this project's folder: its extensions are considered, each still needs its own grants
        #[arg(long, conflicts_with = "name")]
        project: bool,
    },
    /// Take everything back from an extension and switch it off
    Revoke {
        /// Its id
        name: String,
    },
}

/// `capstan secret …`
#[derive(Debug, Subcommand)]
pub(crate) enum SecretCommand {
    /// Store a secret; its value is read from stdin, without showing it on a terminal
    Set {
        /// The name that extensions know it by
        name: String,
    },
    /// List the names of stored secrets
    List,
    /// Forget a secret
    Remove {
        /// Its name
        name: String,
    },
}

/// `capstan demo`
#[derive(Debug, clap::Args)]
pub(crate) struct DemoOptions {
    /// The folder with `repo-map.wasm`, `command-guard.wasm` and `default-arguments.wasm`; default: your extension folder
    #[arg(long, value_name = "DIR")]
    pub(crate) extensions: Option<PathBuf>,
}
