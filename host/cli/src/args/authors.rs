//! Options of the commands that authors of extensions use.

use clap::ValueEnum;
use std::path::PathBuf;

/// `capstan ext run`
#[derive(Debug, clap::Args)]
pub(crate) struct RunOptions {
    /// A `.wasm` file, or the id of an installed extension
    pub(crate) extension: String,

    #[command(flatten)]
    pub(crate) part: Part,

    /// The arguments. Of a tool: JSON, `@FILE`, or `-` for stdin; none is {}. Of a command: the rest of the line
    #[arg(long, value_name = "JSON|TEXT", allow_hyphen_values = true, conflicts_with_all = ["hook", "parse", "compress", "observe"])]
    pub(crate) args: Option<String>,

    /// What the hook or the compressor is asked about: JSON, `@FILE`, or `-`. before-tool-call: {"tool": "bash",
    /// "arguments": {…}}. A compressor: {"messages": ["…"], "window_tokens": 8000, "used_tokens": 7000}
    #[arg(long, value_name = "JSON", conflicts_with_all = ["tool", "parse", "command", "observe"])]
    pub(crate) input: Option<String>,

    /// What the model wrote, for the plan parser: text, `@FILE`, or `-`
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, requires = "parse", conflicts_with_all = ["tool", "hook", "compress", "command", "observe"])]
    pub(crate) raw: Option<String>,

    /// What the plan is for
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, default_value = "", conflicts_with_all = ["tool", "hook", "compress", "command", "observe"])]
    pub(crate) goal: String,

    /// Grant what it asks for: `all`, or a kind (directory, http, key-value, rewrite-arguments, …); can be repeated
    #[arg(long, value_name = "WHAT")]
    pub(crate) allow: Vec<String>,

    /// The folder that stands as the workspace, granted for reading, or with `:rw` for writing as well
    #[arg(long, value_name = "PATH[:rw]")]
    pub(crate) dir: Option<String>,

    /// Its configuration table; without it that of an installed extension, and else an empty one
    #[arg(long, value_name = "JSON")]
    pub(crate) config: Option<String>,

    /// Abort the call after this many seconds; the limit of its role counts in any case
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<f64>,

    /// The whole outcome as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `capstan ext run` calls.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Part {
    /// Call this tool
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,

    /// Ask the hook of this stage, for example before-tool-call
    #[arg(long, value_name = "STAGE", requires = "input")]
    pub(crate) hook: Option<String>,

    /// Have this plan parser read a text
    #[arg(long, value_name = "NAME", requires = "raw")]
    pub(crate) parse: Option<String>,

    /// Ask this compressor about a conversation
    #[arg(long, value_name = "NAME", requires = "input")]
    pub(crate) compress: Option<String>,

    /// Run this slash command
    #[arg(long, value_name = "NAME")]
    pub(crate) command: Option<String>,

    /// Tell the observer of an event, or of a list of them: JSON, `@FILE`, or `-`
    #[arg(long, value_name = "JSON")]
    pub(crate) observe: Option<String>,
}

/// `capstan ext test`
#[derive(Debug, clap::Args)]
pub(crate) struct TestOptions {
    /// A project, whose own tests run first and which is built then; a folder with `NAME.wasm` and `NAME.cases.toml` side by side; or a `.wasm` file
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,

    /// The file of cases; without it `NAME.cases.toml` beside the component or in the project
    #[arg(long, value_name = "FILE")]
    pub(crate) cases: Option<PathBuf>,

    /// Of a project run the cases alone, not its own tests
    #[arg(long)]
    pub(crate) cases_only: bool,

    /// Build it with files and lines, which are then shown of a trap
    #[arg(long)]
    pub(crate) debug: bool,

    /// Write what comes out as the expectation of cases that fail or have none
    #[arg(long)]
    pub(crate) update: bool,

    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `capstan ext new`
#[derive(Debug, clap::Args)]
pub(crate) struct NewOptions {
    /// Its id: a-z, 0-9 and -
    pub(crate) name: String,

    /// What it begins as
    #[arg(long, value_enum, default_value_t = ExtensionKind::Tool)]
    pub(crate) kind: ExtensionKind,

    /// The language
    #[arg(long, value_enum, default_value_t = Language::Rust)]
    pub(crate) lang: Language,

    /// The folder to make; without it one of its name here
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,

    /// Where the SDK is: its folder, or the address of a git repository that holds it; without it the checkout that this
    /// folder or this program comes from
    #[arg(long, value_name = "PATH|URL")]
    pub(crate) sdk: Option<String>,
}

/// What a new extension begins as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExtensionKind {
    /// A tool for the model.
    Tool,
    /// A gate before tool calls.
    Hook,
    /// A reader of plans.
    PlanParser,
    /// What keeps a conversation within the model's window.
    Compressor,
}

/// What a new extension is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    /// Rust.
    Rust,
}
