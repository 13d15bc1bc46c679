//! What can go wrong while an extension is loaded, and while it is called.

use crate::abi::Interface;
use crate::import::printable;
use capstan_policy::PolicyError;
use capstan_policy::http::InvalidRule;
use capstan_policy::secret::InvalidSecret;
use std::path::PathBuf;
use std::time::Duration;

/// The sandbox itself could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("the sandbox cannot start: {action}: {source}")]
pub struct EngineError {
    /// What was attempted.
    pub action: &'static str,
    /// The engine's reason.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

/// A file that is no loadable extension. It costs only itself: the others load.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", file.display())]
pub struct LoadError {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it, and what to do.
    #[source]
    pub problem: LoadProblem,
}

/// Why a file is no loadable extension.
#[derive(Debug, thiserror::Error)]
pub enum LoadProblem {
    /// The file could not be read.
    #[error("it cannot be read ({source}); check its permissions")]
    Unreadable {
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// Larger than any extension may be.
    #[error(
        "it has {bytes} bytes, more than the {limit} that an extension may have; build it for release and strip it"
    )]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// Not WebAssembly.
    #[error(
        "it is not WebAssembly (it begins with {beginning}); build a component, for example with `capstan ext build`"
    )]
    NotWasm {
        /// Its first bytes in hexadecimal, or `nothing`.
        beginning: String,
    },
    /// A core module.
    #[error(
        "it is a core WebAssembly module, not a component; link it with `wasm-component-ld`, as `capstan ext build` does, \
         or wrap it with `wasm-tools component new`"
    )]
    CoreModule,
    /// Not valid, or with features that this host switches off.
    #[error(
        "it does not validate ({reason}); it may be damaged or use WebAssembly features that extensions cannot use"
    )]
    Invalid {
        /// The validator's words.
        reason: String,
    },
    /// Its compilation took too long and was ended.
    #[error(
        "it was not compiled within {} and was given up; build it for release, or allow more with compile_seconds in config.toml",
        show(*limit)
    )]
    CompileTimedOut {
        /// The limit.
        limit: Duration,
    },
    /// Its compilation in this process took too long. A thread cannot be ended, so it computes on.
    #[error(
        "it was not compiled within {} and was given up; the thread that compiles it goes on until it is done. \
         Use a compiler process for files that you do not know",
        show(*limit)
    )]
    CompileAbandoned {
        /// The limit.
        limit: Duration,
    },
    /// The compiler ended without an answer: it had not memory enough, or it has a fault.
    #[error(
        "the compiler ended without an answer ({reason}); the component may need too much memory to compile. Build it for \
         release, or split it"
    )]
    CompilerStopped {
        /// How it ended and what it said.
        reason: String,
    },
    /// The compiler process could not be started.
    #[error("the compiler {} cannot be started ({source}); is the program still where it was?", program.display())]
    CompilerMissing {
        /// The program.
        program: PathBuf,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// Built against another version of the contract.
    #[error(
        "it was built against {found}, this host speaks {package} {wanted}; rebuild it with the SDK of that version",
        package = crate::abi::PACKAGE
    )]
    ContractVersion {
        /// The interface name with version as it stands in the file.
        found: String,
        /// The host's version.
        wanted: &'static str,
    },
    /// A component of something else.
    #[error("it exports no interface of {package}, only {found}; is it a Capstan extension?", package = crate::abi::PACKAGE)]
    NotAnExtension {
        /// What it exports.
        found: String,
    },
    /// An extension without the interface that says what it is.
    #[error("it does not export `{package}/extension@{version}`, which every extension must", package = crate::abi::PACKAGE, version = crate::abi::VERSION)]
    NoDescriptor,
    /// Exports an interface under the contract's name that the contract does not have: a misspelt hook, or one of a later
    /// version.
    #[error(
        "it exports `{export}`, which this version does not know; correct the name, or use a newer version of the host"
    )]
    UnknownExport {
        /// The export's name.
        export: String,
    },
    /// Wants something that no host function provides.
    #[error("it imports `{import}`, which this host does not provide; extensions may import {package} {version} and WASI 0.2 with wasi:http (no sockets)", package = crate::abi::PACKAGE, version = crate::abi::VERSION)]
    UnknownImport {
        /// The import's name.
        import: String,
    },
    /// An import or export of another type than the contract's.
    #[error("its types do not match the contract ({reason}); rebuild it with the SDK of this version")]
    TypeMismatch {
        /// The linker's words, which name the import or export.
        reason: String,
    },
    /// `describe` did not answer.
    #[error("its `describe` did not answer: {source}")]
    Describe {
        /// What happened.
        #[source]
        source: CallError,
    },
    /// `describe` answered something that cannot be used.
    #[error("its descriptor is not usable: {subject}: {reason}")]
    Descriptor {
        /// Which part.
        subject: String,
        /// Why, and what to write.
        reason: String,
    },
    /// The user's configuration of it does not fit its schema.
    #[error(
        "[extension.{id}] in the configuration is not valid: {reason}. Mend it; until then the extension stays off"
    )]
    Configuration {
        /// The extension.
        id: String,
        /// What is wrong, and where.
        reason: String,
    },
    /// A grant cannot be given.
    #[error("a grant cannot be used: {source}")]
    Grant {
        /// What is wrong with it.
        #[source]
        source: PolicyError,
    },
    /// A granted endpoint that cannot be given.
    #[error("a grant of HTTP cannot be used: {source}; revoke it and allow the extension again")]
    Endpoint {
        /// What is wrong with it.
        #[source]
        source: InvalidRule,
    },
    /// A granted secret that cannot be given.
    #[error("a grant of a secret cannot be used: {source}; revoke it and allow the extension again")]
    Secret {
        /// What is wrong with it.
        #[source]
        source: InvalidSecret,
    },
    /// A granted directory is not there.
    #[error("the granted directory {path} cannot be opened ({source}); create it, or revoke and allow again")]
    Directory {
        /// The host path.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
}

/// A call that did not come back with an answer. The instance is gone; the next call gets a new one.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// It took longer than its role may.
    #[error("it did not answer within {}", show(*limit))]
    TimedOut {
        /// The limit.
        limit: Duration,
    },
    /// The run was aborted.
    #[error("it was aborted")]
    Cancelled,
    /// The extension was taken out of force after the call's tool or hook was handed out.
    #[error("it was unloaded or lost its grants; `capstan ext list` shows what is in force")]
    Retired,
    /// It used up something.
    #[error("it used up its {resource} ({limit})")]
    Exhausted {
        /// Of what.
        resource: &'static str,
        /// How much there was.
        limit: String,
    },
    /// It trapped: a panic, an unreachable instruction, a stack overflow, an access out of bounds.
    #[error("it trapped: {reason}")]
    Trapped {
        /// The trap, what it last wrote to stderr, and the innermost frames.
        reason: String,
    },
    /// It answered something out of form, or asked a host function for something out of bounds.
    #[error("it did something that the contract does not allow: {reason}")]
    Garbage {
        /// What.
        reason: String,
    },
    /// A part of the host broke while it worked for it.
    #[error("the host broke while it served this call ({reason}); please report this")]
    HostBroke {
        /// The panic's text.
        reason: String,
    },
    /// It exported the interface with other types, or its code could not be loaded.
    #[error("it cannot be started: {reason}")]
    NotStarted {
        /// Why.
        reason: String,
    },
    /// The answer needs a power that the user did not grant.
    #[error("it tried to {action} without the power `{power}`; `capstan ext allow` grants it")]
    Powerless {
        /// What it tried.
        action: &'static str,
        /// The power's name.
        power: &'static str,
    },
    /// The component does not export what the call needs.
    #[error("it does not export `{}`", .0.name())]
    NotExported(Interface),
}

impl CallError {
    /// A panic of the host, with its text.
    pub(crate) fn of_panic(panic: &(dyn std::any::Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Self::HostBroke { reason: printable(text.unwrap_or("no text"), 400) }
    }
}

fn show(duration: Duration) -> String {
    if duration >= Duration::from_secs(1) {
        format!("{} s", duration.as_secs_f64())
    } else {
        format!("{} ms", duration.as_millis())
    }
}
