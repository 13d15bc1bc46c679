//! `capstan ext new`: a small project that builds, with a test and recorded cases.

use crate::args::{ExtensionKind, Language, NewOptions};
use crate::home::Home;
use crate::screen::{self, GOOD};
use anyhow::{Context, Result, bail, ensure};
use capstan_ports::extension::ExtensionId;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The texts of a template: where each goes, with `{{name}}` in both.
type Template = &'static [(&'static str, &'static str)];

const RUST_TOOL: Template = &[
    ("Cargo.toml", include_str!("../../../../sdk/templates/rust/Cargo.toml.template")),
    (".gitignore", include_str!("../../../../sdk/templates/rust/gitignore.template")),
    ("README.md", include_str!("../../../../sdk/templates/rust/README.md.template")),
    ("src/lib.rs", include_str!("../../../../sdk/templates/rust/tool/lib.rs")),
    ("{{name}}.cases.toml", include_str!("../../../../sdk/templates/rust/tool/cases.toml")),
];

const RUST_HOOK: Template = &[
    ("Cargo.toml", include_str!("../../../../sdk/templates/rust/Cargo.toml.template")),
    (".gitignore", include_str!("../../../../sdk/templates/rust/gitignore.template")),
    ("README.md", include_str!("../../../../sdk/templates/rust/README.md.template")),
    ("src/lib.rs", include_str!("../../../../sdk/templates/rust/hook/lib.rs")),
    ("{{name}}.cases.toml", include_str!("../../../../sdk/templates/rust/hook/cases.toml")),
];

/// What is particular to a kind.
struct Kind {
    template: Template,
    summary: &'static str,
    /// A first call by hand, for the README.
    attempt: &'static str,
}

fn kind(language: Language, kind: ExtensionKind) -> Kind {
    match (language, kind) {
        (Language::Rust, ExtensionKind::Tool) => Kind {
            template: RUST_TOOL,
            summary: "A tool that counts words.",
            attempt: "One call by hand:\n\n```console\n$ capstan ext run target/capstan/{{name}}.wasm --tool count_words --args '{\"text\": \"one two\"}'\n```",
        },
        (Language::Rust, ExtensionKind::Hook) => Kind {
            template: RUST_HOOK,
            summary: "A gate that keeps generated files from being written by hand.",
            attempt: "One question by hand:\n\n```console\n$ capstan ext run target/capstan/{{name}}.wasm --hook before-tool-call --input '{\"tool\": \"write\", \"arguments\": {\"path\": \"Cargo.lock\"}}'\n```",
        },
    }
}

/// Makes the project and says what to do with it.
pub(super) fn run(home: &Home, options: &NewOptions) -> Result<ExitCode> {
    let id: ExtensionId = options.name.parse()?;
    // cargo takes no package name that begins so.
    ensure!(
        id.as_str().starts_with(|c: char| c.is_ascii_lowercase()) && !id.as_str().ends_with('-'),
        "`{id}` cannot name a package: begin with a letter and do not end with `-`"
    );
    let folder = home.workspace.join(options.dir.clone().unwrap_or_else(|| PathBuf::from(id.as_str())));
    let is_taken = folder.exists() && folder.read_dir().map_or(true, |mut entries| entries.next().is_some());
    ensure!(!is_taken, "{} is there already; name another folder with --dir", folder.display());
    let sdk = dependency(options.sdk.as_deref(), &home.workspace, &folder)?;
    let Kind { template, summary, attempt } = kind(options.lang, options.kind);
    let fill = |text: &str| {
        text.replace("{{try}}", attempt)
            .replace("{{name}}", id.as_str())
            .replace("{{summary}}", summary)
            .replace("{{sdk}}", &sdk)
    };
    for (name, text) in template {
        let path = folder.join(fill(name));
        let parent = path.parent().unwrap_or(&folder);
        std::fs::create_dir_all(parent).with_context(|| format!("{} cannot be made", parent.display()))?;
        std::fs::write(&path, fill(text)).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    screen::note(&format!(
        "{GOOD}made{GOOD:#} {}. Next: cd {0} && cargo test && capstan ext test",
        screen::path(&folder)
    ));
    screen::data(&format!("{}\n", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// What stands behind `capstan-sdk =`.
fn dependency(sdk: Option<&str>, here: &Path, project: &Path) -> Result<String> {
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    if let Some(address) = sdk.filter(|sdk| sdk.contains("://") || sdk.starts_with("git@")) {
        return Ok(format!("{{ git = {} }}", quoted(address)));
    }
    let found = match sdk {
        Some(path) => {
            let path = here.join(path);
            is_sdk(&path)
                .or_else(|| is_sdk(&path.join("sdk/rust")))
                .with_context(|| format!("{} holds no capstan-sdk", path.display()))?
        }
        None => {
            // The checkout around the project, then the one that this program was built from.
            let around = project.ancestors().chain(here.ancestors());
            let built = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
            let found = around.chain(built).find_map(|folder| is_sdk(&folder.join("sdk/rust")));
            match found {
                Some(found) => found,
                None => bail!(
                    "the SDK was not found; name its folder, or a git repository that holds it, with --sdk"
                ),
            }
        }
    };
    // Inside the checkout a relative path keeps working wherever the checkout is moved to.
    let checkout = found.ancestors().nth(2).unwrap_or(&found);
    let below = project.strip_prefix(checkout).ok().filter(|below| !below.as_os_str().is_empty());
    let path = match below {
        Some(below) => below.components().map(|_| "../").collect::<String>() + "sdk/rust",
        None => found.to_string_lossy().into_owned(),
    };
    Ok(format!("{{ path = {} }}", quoted(&path)))
}

/// The folder, canonical, if it is that of the SDK.
fn is_sdk(folder: &Path) -> Option<PathBuf> {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).ok()?;
    let manifest: toml::Table = manifest.parse().ok()?;
    let name = manifest.get("package")?.get("name")?.as_str()?;
    if name == "capstan-sdk" { folder.canonicalize().ok() } else { None }
}
