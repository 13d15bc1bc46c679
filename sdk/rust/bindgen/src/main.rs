//! Generates `../src/bindings/` from the contract in `wit/`.
//!
//! - `cargo run` writes the files.
//! - `cargo run -- --check` fails when they differ from what would be written.
//! - `cargo run -- inspect FILE…` prints what built components import and export.
//!
//! The bindings are committed because generating them in every author's build would compile the whole of
//! `wit-parser` and `wit-component` first, which takes most of a minute.

mod contract;
mod error;
mod inspect;
mod sections;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use error::Error;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        [] => write(),
        ["--check"] => check(),
        ["inspect", files @ ..] if !files.is_empty() => {
            files.iter().try_for_each(|file| inspect::print(Path::new(file)))
        }
        _ => Err(Error::Usage),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", error::chain(&error));
            ExitCode::FAILURE
        }
    }
}

/// Every generated file with its content, in the order of writing.
fn generate() -> Result<Vec<(PathBuf, String)>, Error> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let parsed = contract::parse(&root.join("../../../wit/v0.1"))?;
    let folder = root.join("../src/bindings");
    Ok(vec![
        (folder.join("contract.rs"), contract::bindings(&parsed)?),
        (folder.join("sections.rs"), sections::generate(&parsed)?),
    ])
}

fn write() -> Result<(), Error> {
    for (path, content) in generate()? {
        fs::write(&path, content).map_err(|source| Error::Write { path, source })?;
    }
    Ok(())
}

fn check() -> Result<(), Error> {
    for (path, content) in generate()? {
        let committed =
            fs::read_to_string(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
        if committed != content {
            return Err(Error::Stale { path });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_bindings_are_what_the_contract_generates() {
        super::check().unwrap();
    }
}
