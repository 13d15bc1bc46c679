//! The guides for authors are followed to the letter: every file in them is written, every command is run, and what it says is what the
//! guide promises. `capstan_tests::guide` says how a guide is written.
//!
//! They build extensions, so they need what `cargo xtask setup` makes. A guide whose language is not installed is left out,
//! which is said.

use anyhow::{Context, Result};
use capstan_tests::guide::Newcomer;
use capstan_tests::node;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// One test for each guide, and the list of them. `needs` names programs without which the guide is left out.
macro_rules! guides {
    ($($name:ident: $file:literal, needs $needs:expr;)*) => {
        $(
            #[tokio::test]
            async fn $name() -> Result<()> {
                let needs: &[&str] = &$needs;
                if let Some(missing) = needs.iter().find(|program| !is_installed(program)) {
                    eprintln!("left out: {} needs {missing}, which is not installed", $file);
                    return Ok(());
                }
                let mut newcomer = Newcomer::new(env!("CARGO_BIN_EXE_capstan-under-test"))?;
                newcomer.follow(&folder().join($file)).await
            }
        )*

        const GUIDES: &[&str] = &[$($file),*];
    };
}

// 003-159: the guides' examples compile, pass their tests, and run.
guides! {
    capabilities: "capabilities.md", needs ["cargo"];
    cases: "cases.md", needs ["cargo"];
    javascript: "javascript.md", needs ["node"];
    python: "python.md", needs ["python3"];
    debugging: "debugging.md", needs ["cargo"];
    publishing: "publishing.md", needs ["cargo"];
    rust: "rust.md", needs ["cargo"];
    versioning: "versioning.md", needs ["cargo"];
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sdk/guides")
}

fn is_installed(program: &str) -> bool {
    if program == "node" {
        return node::is_usable();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

#[test]
fn every_guide_is_followed_by_a_test() -> Result<()> {
    let mut there = BTreeSet::new();
    for entry in std::fs::read_dir(folder())? {
        let name = entry?.file_name().into_string().ok().context("a name that is no text")?;
        there.extend(name.ends_with(".md").then_some(name));
    }
    let tested: BTreeSet<_> = GUIDES.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(there, tested);
    Ok(())
}
