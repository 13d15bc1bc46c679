//! New extensions in Python.

use super::{Files, Template, find_sdk, path_to};
use crate::args::ExtensionKind;
use anyhow::Result;
use std::path::{Path, PathBuf};

/// Where the SDK is in a checkout.
const SDK: &str = "sdk/python";

macro_rules! files {
    ($kind:literal) => {
        &[
            ("pyproject.toml", include_str!("../../../../../sdk/templates/python/pyproject.toml.template")),
            (".gitignore", include_str!("../../../../../sdk/templates/python/gitignore.template")),
            ("README.md", include_str!("../../../../../sdk/templates/python/README.md.template")),
            (
                "src/extension.py",
                include_str!(concat!("../../../../../sdk/templates/python/", $kind, "/extension.py")),
            ),
            (
                "tests/test_extension.py",
                include_str!(concat!("../../../../../sdk/templates/python/", $kind, "/test_extension.py")),
            ),
            (
                "{{name}}.cases.toml",
                include_str!(concat!("../../../../../sdk/templates/python/", $kind, "/cases.toml")),
            ),
        ]
    };
}

const TOOL: Files = files!("tool");
const HOOK: Files = files!("hook");
const PLAN_PARSER: Files = files!("plan-parser");
const COMPRESSOR: Files = files!("compressor");

/// What a project of this kind begins as; summary and first call are those of the same extension in Rust.
pub(super) fn template(kind: ExtensionKind) -> Template {
    let files = match kind {
        ExtensionKind::Tool => TOOL,
        ExtensionKind::Hook => HOOK,
        ExtensionKind::PlanParser => PLAN_PARSER,
        ExtensionKind::Compressor => COMPRESSOR,
    };
    let test = "PYTHONPATH=src{{sdk-path}} python3 -m unittest discover tests";
    Template { files, test, ..super::rust::template(kind) }
}

/// How a project names the SDK.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sdk {
    /// The line in `[tool.capstan]` and the lines for editors.
    Folder(String),
    /// A requirement that pip installs.
    Requirement(String),
}

impl Sdk {
    /// What `--sdk` says, or the checkout around the project, or the one that this program was built from.
    pub(super) fn find(sdk: Option<&str>, here: &Path, project: &Path) -> Result<Self> {
        if let Some(address) = sdk.filter(|sdk| sdk.contains("://") || sdk.starts_with("git@")) {
            let address = address.trim_start_matches("git+");
            return Ok(Self::Requirement(format!("capstan-sdk @ git+{address}#subdirectory={SDK}")));
        }
        let found = find_sdk(sdk, here, project, SDK, is_sdk)?;
        Ok(Self::Folder(path_to(&found, project, SDK)))
    }

    /// Fills in `{{sdk-dependency}}`, `{{sdk}}` and `{{sdk-path}}`.
    pub(super) fn fill(&self, text: &str) -> String {
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let (dependency, search, lines) = match self {
            Self::Folder(path) => (
                String::new(),
                format!(":{path}"),
                format!(
                    "sdk = {path}\n\n[tool.pyright]\n# So that editors find both.\nextraPaths = [\"src\", {path}]",
                    path = quoted(path)
                ),
            ),
            Self::Requirement(requirement) => (
                quoted(requirement),
                String::new(),
                "\n[tool.pyright]\n# So that editors find it.\nextraPaths = [\"src\"]".to_owned(),
            ),
        };
        text.replace("{{sdk-dependency}}", &dependency)
            .replace("{{sdk-path}}", &search)
            .replace("\n{{sdk}}", &format!("\n{lines}"))
    }
}

/// The folder, canonical, if it is that of the SDK.
fn is_sdk(folder: &Path) -> Option<PathBuf> {
    folder.join("capstan_sdk/__init__.py").is_file().then(|| folder.canonicalize().ok())?
}
