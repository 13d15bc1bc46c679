//! What can go wrong while generating.

use std::path::PathBuf;

/// A failure of the generator.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("unknown arguments; use none to write the bindings, `--check`, or `inspect FILE…`")]
    Usage,
    #[error("the contract in {path} does not parse")]
    Contract {
        path: PathBuf,
        #[source]
        source: Chained,
    },
    #[error("the contract has no world `everything`")]
    NoWorld {
        #[source]
        source: Chained,
    },
    #[error("the generator refused the contract")]
    Generate {
        #[source]
        source: Chained,
    },
    #[error("the generated bindings lack `{marker}`: the generator changed its output, adjust contract.rs")]
    Marker { marker: &'static str },
    #[error("{path} could not be written")]
    Write {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{path} could not be read")]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{path} is out of date: run `cargo run` in sdk/rust/bindgen and commit the result")]
    Stale { path: PathBuf },
    #[error("{path} is no component")]
    Component {
        path: PathBuf,
        #[source]
        source: Chained,
    },
}

/// An error of the toolchain crates, which box theirs.
pub(crate) type Chained = Box<dyn std::error::Error + Send + Sync>;

/// An error and its causes on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
