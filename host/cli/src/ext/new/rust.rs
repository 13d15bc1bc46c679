//! New extensions in Rust.

use super::{Files, Template, find_sdk, path_to};
use crate::args::ExtensionKind;
use anyhow::Result;
use std::path::{Path, PathBuf};

/// Where the SDK is in a checkout.
const SDK: &str = "sdk/rust";

macro_rules! files {
    ($kind:literal) => {
        &[
            ("Cargo.toml", include_str!("../../../../../sdk/templates/rust/Cargo.toml.template")),
            (".gitignore", include_str!("../../../../../sdk/templates/rust/gitignore.template")),
            ("README.md", include_str!("../../../../../sdk/templates/rust/README.md.template")),
            ("src/lib.rs", include_str!(concat!("../../../../../sdk/templates/rust/", $kind, "/lib.rs"))),
            (
                "{{name}}.cases.toml",
                include_str!(concat!("../../../../../sdk/templates/rust/", $kind, "/cases.toml")),
            ),
        ]
    };
}

const TOOL: Files = files!("tool");
const HOOK: Files = files!("hook");
const PLAN_PARSER: Files = files!("plan-parser");
const COMPRESSOR: Files = files!("compressor");

/// What a project of this kind begins as.
pub(super) fn template(kind: ExtensionKind) -> Template {
    let test = "cargo test";
    match kind {
        ExtensionKind::Tool => Template {
            files: TOOL,
            summary: "A tool that counts words.",
            attempt: "One call by hand:\n\n```console\n$ capstan ext run target/capstan/{{name}}.wasm --tool count_words --args '{\"text\": \"one two\"}'\n```",
            test,
        },
        ExtensionKind::Hook => Template {
            files: HOOK,
            summary: "A gate that keeps generated files from being written by hand.",
            attempt: "One question by hand:\n\n```console\n$ capstan ext run target/capstan/{{name}}.wasm --hook before-tool-call --input '{\"tool\": \"write\", \"arguments\": {\"path\": \"Cargo.lock\"}}'\n```",
            test,
        },
        ExtensionKind::PlanParser => Template {
            files: PLAN_PARSER,
            summary: "A reader of plans that are numbered lines.",
            attempt: "One text by hand:\n\n```console\n$ capstan ext run target/capstan/{{name}}.wasm --parse numbered --raw '1. Read the file' --goal 'Read it'\n```",
            test,
        },
        ExtensionKind::Compressor => Template {
            files: COMPRESSOR,
            summary: "A compressor that has old messages summarized before the window is full.",
            attempt: "One conversation by hand:\n\n```console\n$ capstan ext run target/capstan/{{name}}.wasm --compress three-quarters --allow compress --input '{\"messages\": [\"one\", \"two\"], \"window_tokens\": 8000, \"used_tokens\": 7000}'\n```",
            test,
        },
    }
}

/// What stands behind `capstan-sdk =`.
pub(super) fn dependency(sdk: Option<&str>, here: &Path, project: &Path) -> Result<String> {
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    if let Some(address) = sdk.filter(|sdk| sdk.contains("://") || sdk.starts_with("git@")) {
        return Ok(format!("{{ git = {} }}", quoted(address)));
    }
    let found = find_sdk(sdk, here, project, SDK, is_sdk)?;
    Ok(format!("{{ path = {} }}", quoted(&path_to(&found, project, SDK))))
}

/// The folder, canonical, if it is that of the SDK.
fn is_sdk(folder: &Path) -> Option<PathBuf> {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).ok()?;
    let manifest: toml::Table = manifest.parse().ok()?;
    let name = manifest.get("package")?.get("name")?.as_str()?;
    if name == "capstan-sdk" { folder.canonicalize().ok() } else { None }
}
