//! New extensions in JavaScript and TypeScript.

use super::{Files, Template, find_sdk, path_to};
use crate::args::ExtensionKind;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

/// Where the SDK is in a checkout.
const SDK: &str = "sdk/javascript";

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    JavaScript,
    TypeScript,
}

macro_rules! template {
    ($path:expr) => {
        include_str!(concat!("../../../../../sdk/templates/", $path))
    };
}

// The cases are the same in every language: they are about what the host sees.
macro_rules! files {
    ($language:literal, $ending:literal, $kind:literal $(, $more:literal)*) => {
        &[
            ("package.json", template!(concat!($language, "/package.json.template"))),
            (".npmrc", template!("javascript/npmrc.template")),
            (".gitignore", template!("javascript/gitignore.template")),
            ("README.md", template!("javascript/README.md.template")),
            $(($more, template!(concat!($language, "/", $more))),)*
            (concat!("src/extension.", $ending), template!(concat!($language, "/", $kind, "/extension.", $ending))),
            (
                concat!("src/extension.test.", $ending),
                template!(concat!($language, "/", $kind, "/extension.test.", $ending)),
            ),
            ("{{name}}.cases.toml", template!(concat!("rust/", $kind, "/cases.toml"))),
        ]
    };
}

/// What a project of this kind begins as.
pub(super) fn template(dialect: Dialect, kind: ExtensionKind) -> Template {
    // What it does, and how to try it by hand, are those of the kind.
    let like = super::rust::template(kind);
    Template { files: files(dialect, kind), test: "npm test", ..like }
}

fn files(dialect: Dialect, kind: ExtensionKind) -> Files {
    match (dialect, kind) {
        (Dialect::JavaScript, ExtensionKind::Tool) => files!("javascript", "js", "tool"),
        (Dialect::JavaScript, ExtensionKind::Hook) => files!("javascript", "js", "hook"),
        (Dialect::JavaScript, ExtensionKind::PlanParser) => files!("javascript", "js", "plan-parser"),
        (Dialect::JavaScript, ExtensionKind::Compressor) => files!("javascript", "js", "compressor"),
        (Dialect::TypeScript, ExtensionKind::Tool) => files!("typescript", "ts", "tool", "tsconfig.json"),
        (Dialect::TypeScript, ExtensionKind::Hook) => files!("typescript", "ts", "hook", "tsconfig.json"),
        (Dialect::TypeScript, ExtensionKind::PlanParser) => {
            files!("typescript", "ts", "plan-parser", "tsconfig.json")
        }
        (Dialect::TypeScript, ExtensionKind::Compressor) => {
            files!("typescript", "ts", "compressor", "tsconfig.json")
        }
    }
}

/// The address of the SDK in `package.json`.
pub(super) fn dependency(sdk: Option<&str>, here: &Path, project: &Path) -> Result<String> {
    if let Some(address) = sdk.filter(|sdk| sdk.contains("://") || sdk.starts_with("git@")) {
        bail!("npm installs no folder of a repository: clone {address} and name the clone with --sdk");
    }
    let found = find_sdk(sdk, here, project, SDK, is_sdk)?;
    let path = format!("file:{}", path_to(&found, project, SDK));
    // What would end a text in JSON.
    Ok(path.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The folder, canonical, if it is that of the SDK.
fn is_sdk(folder: &Path) -> Option<PathBuf> {
    let manifest = std::fs::read_to_string(folder.join("package.json")).ok()?;
    let manifest: serde_json::Value = serde_json::from_str(&manifest).ok()?;
    if manifest.get("name")? == "capstan-sdk" { folder.canonicalize().ok() } else { None }
}
