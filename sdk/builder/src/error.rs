//! Everything that can go wrong, each with the next step for the person who reads it.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::language::Language;
use crate::rust::GuestTarget;

/// Why a toolchain could not be had or an extension could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuilderError {
    /// A file or folder could not be read or written.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried, as a verb: "read", "create", "rename".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's reason.
        #[source]
        source: io::Error,
    },
    /// A program could not be started at all.
    #[error("cannot start `{program}`; check that it is installed and executable")]
    Start {
        /// The program as it was called.
        program: String,
        /// The operating system's reason.
        #[source]
        source: io::Error,
    },
    /// A program ran longer than it may and was stopped.
    #[error("`{command}` was stopped after {} s without finishing; run it by hand to see where it hangs", limit.as_secs())]
    TimedOut {
        /// The command line.
        command: String,
        /// How long it was given.
        limit: Duration,
    },
    /// A program finished with an error.
    #[error("`{command}` failed ({status}):\n{tail}")]
    Failed {
        /// The command line, fit for repeating by hand.
        command: String,
        /// How it ended.
        status: String,
        /// The last lines that it wrote.
        tail: String,
    },
    /// A folder without the manifest of any language.
    #[error("{} holds no extension project; it needs one of {}", path.display(), manifests())]
    NoProject {
        /// The folder or file.
        path: PathBuf,
    },
    /// A test of the project failed, which the language's test runner has already shown on stderr.
    #[error("the tests of `{name}` did not pass ({status}); the messages above say why")]
    Tests {
        /// The project.
        name: String,
        /// How the test runner ended.
        status: String,
    },
    /// `rustc -vV` answered something that is no version report.
    #[error("`{program} -vV` does not name its {field}; is it a Rust compiler? (RUSTC selects another one)")]
    NotRustc {
        /// The program that was asked.
        program: String,
        /// The line that is missing.
        field: &'static str,
    },
    /// No way to a toolchain is open on this machine.
    #[error("no Rust toolchain for {target} on this machine:\n{}\nTo mend it: {remedy}", bullets(reasons))]
    NoToolchain {
        /// The target that was asked for.
        target: GuestTarget,
        /// What was tried and why it did not help, in the order of trying.
        reasons: Vec<String>,
        /// The command that mends it.
        remedy: String,
    },
    /// The standard library for the target did not compile.
    #[error("the standard library for {target} could not be built with {}", rustc.display())]
    StdBuild {
        /// The target it was built for.
        target: GuestTarget,
        /// The compiler whose sources were used.
        rustc: PathBuf,
        /// What cargo said.
        #[source]
        source: Box<BuilderError>,
    },
    /// The stamp of a new sysroot could not be written as TOML.
    #[error("cannot write down how {} was made", path.display())]
    Stamp {
        /// The stamp file.
        path: PathBuf,
        /// The encoder's reason.
        #[source]
        source: toml::ser::Error,
    },
    /// A project's manifest is not valid TOML, or has a key of the wrong type.
    #[error("{} is not valid", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// The parser's reason, with line and column.
        #[source]
        source: Box<toml::de::Error>,
    },
    /// A manifest without a package, such as that of a workspace.
    #[error("{} describes no package; point at the folder of one extension", path.display())]
    NoPackage {
        /// The manifest.
        path: PathBuf,
    },
    /// node or npm is not installed.
    #[error(
        "`{program}` is not on PATH; extensions in JavaScript need Node.js 20 or later with npm: install it from https://nodejs.org or with your package manager (Debian: apt-get install nodejs npm)"
    )]
    NoNode {
        /// Which of the two.
        program: &'static str,
    },
    /// node is there and too old.
    #[error("{} is {version}; extensions in JavaScript need Node.js {oldest} or later", path.display())]
    OldNode {
        /// The program.
        path: PathBuf,
        /// What it says about itself.
        version: String,
        /// The oldest major version that does.
        oldest: u32,
    },
    /// A project's `package.json` is not valid.
    #[error("{} is not a valid package.json", path.display())]
    PackageJson {
        /// The manifest.
        path: PathBuf,
        /// The parser's reason, with line and column.
        #[source]
        source: serde_json::Error,
    },
    /// A `package.json` of something else.
    #[error(
        "{} describes no extension; add the module that exports it: \"capstan\": {{ \"entry\": \"src/extension.js\" }}",
        path.display()
    )]
    NoEntry {
        /// The manifest.
        path: PathBuf,
    },
    /// There are no npm packages, and none may be fetched.
    #[error(
        "the npm packages of {} are not installed, and CAPSTAN_NO_INSTALL is set; run `npm install` there",
        path.display()
    )]
    NoPackages {
        /// The project's folder.
        path: PathBuf,
    },
    /// npm reported an error, which it has already shown on stderr.
    #[error("npm could not install the packages of {} ({status}); its messages above say why", path.display())]
    Npm {
        /// The project's folder.
        path: PathBuf,
        /// How npm ended.
        status: String,
    },
    /// The SDK is not among a project's npm packages.
    #[error(
        "{} does not name capstan-sdk among its dependencies; add it: npm install file:PATH/sdk/javascript",
        path.display()
    )]
    NoJavaScriptSdk {
        /// The manifest.
        path: PathBuf,
    },
    /// A target name that no extension can be built for.
    #[error(
        "unknown guest target `{value}`; use \"wasm32-unknown-unknown\" (the default) or \"wasm32-wasip2\""
    )]
    UnknownTarget {
        /// The name as written.
        value: String,
    },
    /// `[package.metadata.capstan]` names a target that does not exist.
    #[error("`target` in [package.metadata.capstan] of {} cannot be used", path.display())]
    ManifestTarget {
        /// The manifest.
        path: PathBuf,
        /// Which name, and which ones exist.
        #[source]
        source: Box<BuilderError>,
    },
    /// The package does not produce a dynamic library, so nothing that could become a component.
    #[error(
        "package `{name}` builds no component because it is no cdylib; add to {}:\n[lib]\ncrate-type = [\"cdylib\"]",
        path.display()
    )]
    NotCdylib {
        /// The package.
        name: String,
        /// The manifest.
        path: PathBuf,
    },
    /// The language's build tool reported an error, which it has already shown on stderr.
    #[error("extension `{name}` did not build ({status}); the messages above say why")]
    Build {
        /// The package.
        name: String,
        /// How the tool ended.
        status: String,
    },
    /// There is no Python, or none that will do.
    #[error("no Python for extensions on this machine:\n{}\nTo mend it: {remedy}", bullets(reasons))]
    NoPython {
        /// What was found and why it does not do.
        reasons: Vec<String>,
        /// The command that mends it.
        remedy: String,
    },
    /// Something that a build needs could not be installed, or may not be.
    #[error("{what} was not installed: {reason}. To mend it: {remedy}")]
    NotInstalled {
        /// The packages.
        what: String,
        /// Why not.
        reason: String,
        /// What to do.
        remedy: String,
    },
    /// A `pyproject.toml` that describes no extension.
    #[error("{} cannot be built: {problem}", path.display())]
    PythonProject {
        /// The manifest.
        path: PathBuf,
        /// What is missing or wrong in it.
        problem: String,
    },
    /// Folders whose names cannot stand in one list.
    #[error(
        "{folders} cannot be searched for modules, because a name holds the character that separates such folders"
    )]
    Separator {
        /// The folders.
        folders: String,
        /// The reason.
        #[source]
        source: std::env::JoinPathsError,
    },
    /// A build tool was content and wrote something else than a component.
    #[error("{tool} finished and wrote {kind}, not a WebAssembly component")]
    NoComponent {
        /// The tool.
        tool: &'static str,
        /// What the first bytes of the file say it is.
        kind: ArtifactKind,
    },
    /// cargo was content but the file it should have written is not there.
    #[error("cargo finished, but there is no {}; does the project or a .cargo/config.toml rename its output?", path.display())]
    NoArtifact {
        /// Where the file was expected.
        path: PathBuf,
    },
    /// The linker wrote something else than a component.
    #[error(
        "{} is {kind}, not a WebAssembly component; look for a `linker` or `rustflags` setting in the project's .cargo/config.toml that replaces wasm-component-ld",
        path.display()
    )]
    NotComponent {
        /// The file.
        path: PathBuf,
        /// What its first bytes say it is.
        kind: ArtifactKind,
    },
}

/// What the first eight bytes of a build result show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArtifactKind {
    /// A WebAssembly component, which is what the host loads.
    Component,
    /// A core WebAssembly module: the step before a component.
    CoreModule,
    /// No WebAssembly at all, or a version that did not exist when this was written.
    Other,
}

impl std::fmt::Display for ArtifactKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Component => "a component",
            Self::CoreModule => "a core module",
            Self::Other => "no WebAssembly file",
        })
    }
}

impl BuilderError {
    /// Turns an I/O error into one that names the subject.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}

/// An error and its causes in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

fn manifests() -> String {
    Language::ALL.map(Language::manifest).join(", ")
}

fn bullets(reasons: &[String]) -> String {
    reasons.iter().map(|reason| format!("- {reason}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
