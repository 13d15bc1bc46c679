//! `capstan ext new`: a small project that builds, with a test and recorded cases.
//!
//! One module for each language: it knows the texts of its templates (in `sdk/templates`) and how a project finds the SDK.

mod javascript;
mod python;
mod rust;

use crate::args::{Language, NewOptions};
use crate::home::Home;
use crate::screen::{self, GOOD};
use anyhow::{Context, Result, bail, ensure};
use capstan_ports::extension::ExtensionId;
use javascript::Dialect;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The texts of a project: where each goes, with `{{name}}` in both.
type Files = &'static [(&'static str, &'static str)];

/// Puts the address of the SDK into a text.
type Fill = Box<dyn Fn(&str) -> String>;

/// What a project begins as.
struct Template {
    files: Files,
    summary: &'static str,
    /// A first call by hand, for the README.
    attempt: &'static str,
    /// The command that runs its own tests natively.
    test: &'static str,
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
    let (template, sdk): (_, Fill) = match options.lang {
        Language::Rust => {
            let sdk = rust::dependency(options.sdk.as_deref(), &home.workspace, &folder)?;
            (rust::template(options.kind), Box::new(move |text| text.replace("{{sdk}}", &sdk)))
        }
        Language::JavaScript | Language::TypeScript => {
            let dialect = match options.lang {
                Language::TypeScript => Dialect::TypeScript,
                _ => Dialect::JavaScript,
            };
            let sdk = javascript::dependency(options.sdk.as_deref(), &home.workspace, &folder)?;
            (javascript::template(dialect, options.kind), Box::new(move |text| text.replace("{{sdk}}", &sdk)))
        }
        Language::Python => {
            let sdk = python::Sdk::find(options.sdk.as_deref(), &home.workspace, &folder)?;
            (python::template(options.kind), Box::new(move |text| sdk.fill(text)))
        }
    };
    let Template { files, summary, attempt, test } = template;
    let fill = |text: &str| {
        sdk(&text.replace("{{test}}", test))
            .replace("{{try}}", attempt)
            .replace("{{name}}", id.as_str())
            .replace("{{summary}}", summary)
    };
    for (name, text) in files {
        let path = folder.join(fill(name));
        let parent = path.parent().unwrap_or(&folder);
        std::fs::create_dir_all(parent).with_context(|| format!("{} cannot be made", parent.display()))?;
        std::fs::write(&path, fill(text)).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    screen::note(&format!("{GOOD}made{GOOD:#} {}. Next: cd {0} && capstan ext test", screen::path(&folder)));
    screen::data(&format!("{}\n", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// The folder of a language's SDK: the one that `--sdk` names, else that of the checkout around the project, else that of the checkout
/// that this program was built from. `below` is its place in a checkout, `is_sdk` looks whether it is one.
fn find_sdk(
    sdk: Option<&str>,
    here: &Path,
    project: &Path,
    below: &str,
    is_sdk: fn(&Path) -> Option<PathBuf>,
) -> Result<PathBuf> {
    if let Some(path) = sdk {
        let path = here.join(path);
        return is_sdk(&path)
            .or_else(|| is_sdk(&path.join(below)))
            .with_context(|| format!("{} holds no capstan-sdk", path.display()));
    }
    let around = project.ancestors().chain(here.ancestors());
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    match around.chain(built).find_map(|folder| is_sdk(&folder.join(below))) {
        Some(found) => Ok(found),
        None => bail!("the SDK was not found; name its folder with --sdk"),
    }
}

/// How a project names the SDK's folder. Inside the checkout a relative path keeps working wherever the checkout is moved to.
fn path_to(sdk: &Path, project: &Path, below: &str) -> String {
    let depth = Path::new(below).components().count();
    let checkout = sdk.ancestors().nth(depth).unwrap_or(sdk);
    match project.strip_prefix(checkout).ok().filter(|inside| !inside.as_os_str().is_empty()) {
        Some(inside) => inside.components().map(|_| "../").collect::<String>() + below,
        None => sdk.to_string_lossy().into_owned(),
    }
}
