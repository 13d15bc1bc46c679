//! Options of the commands that authors of extensions use.

use clap::ValueEnum;
use std::path::PathBuf;

/// `capstan ext run`
#[derive(Debug, clap::Args)]
pub(crate) struct RunOptions {
    /// A `.wasm` file, or the id of an installed extension
    pub(crate) extension: String,

    /// Call this tool
    #[arg(long, value_name = "NAME", required_unless_present = "hook", conflicts_with = "hook")]
    pub(crate) tool: Option<String>,

    /// The tool's arguments: JSON, `@FILE`, or `-` for stdin
    #[arg(long, value_name = "JSON", default_value = "{}", conflicts_with = "hook")]
    pub(crate) args: String,

    /// Ask the hook of this stage, for example before-tool-call
    #[arg(long, value_name = "STAGE", requires = "input")]
    pub(crate) hook: Option<String>,

    /// What the hook is asked about: JSON, `@FILE`, or `-`; before-tool-call: {"tool": "bash", "arguments": {…}}
    #[arg(long, value_name = "JSON", requires = "hook")]
    pub(crate) input: Option<String>,

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

/// `capstan ext test`
#[derive(Debug, clap::Args)]
pub(crate) struct TestOptions {
    /// A project, which is built first; a folder with `NAME.wasm` and `NAME.cases.toml` side by side; or a `.wasm` file
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,

    /// The file of cases; without it `NAME.cases.toml` beside the component or in the project
    #[arg(long, value_name = "FILE")]
    pub(crate) cases: Option<PathBuf>,

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
}

/// What a new extension is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    /// Rust.
    Rust,
}
