//! `capstan ext …`

mod asked;
mod build;
mod call;
mod cases;
mod check;
mod compressed;
mod expect;
mod explain;
mod install;
mod new;
mod outcome;
mod record;
mod remove;
mod run;
mod show;
mod test;
mod traces;
mod trial;

pub(crate) use show::stage_name;

use crate::approve;
use crate::args::ExtCommand;
use crate::catalog::{self, Catalog, Found, State};
use crate::config::{self, Config};
use crate::home::Home;
use crate::lock::Lock;
use crate::project::Project;
use crate::screen::{self, GOOD};
use crate::secrets;
use crate::usage::Ledger;
use anyhow::{Context, Result, bail};
use capstan_engine::{Sandbox, Services};
use capstan_policy::Grants;
use std::io::{BufRead, IsTerminal};
use std::path::Path;
use std::process::ExitCode;

/// Runs one of the commands.
pub(crate) async fn run(command: ExtCommand) -> Result<ExitCode> {
    let home = Home::find()?;
    match command {
        ExtCommand::List { json, usage } => {
            let place = Place::open(home).await?;
            match (json, usage) {
                (true, _) => {
                    show::list_json(&place.catalog, &Ledger::read(&place.home), &Lock::read(&place.home)?)
                }
                (false, true) => show::usage(&place.catalog, &Ledger::read(&place.home)),
                (false, false) => show::list(&place.catalog, &place.home),
            }
        }
        ExtCommand::Inspect { extension, json } => inspect(home, &extension, json).await,
        ExtCommand::Explain { name, last, json } => {
            let of = if last { explain::Of::LastRun } else { explain::Of::Now };
            explain::run(home, name.as_deref(), of, json).await
        }
        ExtCommand::Check { files, json } => check::run(home, &files, json).await,
        ExtCommand::Run(options) => run::run(home, *options).await,
        ExtCommand::Test(options) => test::run(home, options).await,
        ExtCommand::New(options) => new::run(&home, &options),
        ExtCommand::Build { project, out, install, debug } => {
            build::run(&home, &project, out, install, build::purpose(debug)).await
        }
        ExtCommand::Install { files, yes } => install::run(home, &files, yes).await,
        ExtCommand::Remove { name, purge } => remove::run(home, &name, purge).await,
        ExtCommand::Allow { project: true, .. } => allow_project(&home),
        ExtCommand::Allow { name, yes, .. } => allow(home, name.as_deref().unwrap_or_default(), yes).await,
        ExtCommand::Revoke { name } => revoke(home, &name).await,
    }
}

/// The user's extensions as they are now.
pub(crate) struct Place {
    pub(crate) home: Home,
    pub(crate) grants: Grants,
    pub(crate) sandbox: Sandbox,
    pub(crate) catalog: Catalog,
}

impl Place {
    pub(crate) async fn open(home: Home) -> Result<Self> {
        let grants = config::load_grants(&home)?;
        let config = Config::load(&home, &grants)?;
        let sandbox = catalog::sandbox(&home)?;
        let catalog = catalog::scan(&home, &config, &grants, &[], &sandbox, &Services::default()).await?;
        Ok(Self { home, grants, sandbox, catalog })
    }

    /// The one file of this id.
    fn find(&self, name: &str) -> Result<&Found> {
        let mut named = self.catalog.found.iter().filter(|found| found.name() == name);
        match (named.next(), named.next()) {
            (Some(found), None) => Ok(found),
            (Some(one), Some(other)) => bail!(
                "there are two extensions {name}: {} and {}; remove one of them",
                one.path.display(),
                other.path.display()
            ),
            (None, _) => bail!(
                "there is no extension {name} in {}; `capstan ext list` shows what there is",
                self.home.extensions().display()
            ),
        }
    }
}

async fn inspect(home: Home, extension: &str, json: bool) -> Result<ExitCode> {
    let path = Path::new(extension);
    if path.extension().is_some_and(|ending| ending == "wasm") {
        let sandbox = catalog::sandbox(&home)?;
        return show::inspected(&sandbox.inspect(path).await?, None, json);
    }
    let place = Place::open(home).await?;
    let found = place.find(extension)?;
    if let State::Broken(reason) = &found.state
        && found.about.is_none()
    {
        bail!("{reason}");
    }
    show::inspected(&place.sandbox.inspect(&found.path).await?, Some((found, &place.grants)), json)
}

async fn allow(home: Home, name: &str, yes: bool) -> Result<ExitCode> {
    let place = Place::open(home).await?;
    let found = place.find(name)?;
    let Some(about) = &found.about else {
        match &found.state {
            State::Broken(reason) => bail!("{reason}"),
            _ => bail!(
                "{name} belongs to a project that you have not allowed; first: capstan ext allow --project"
            ),
        }
    };
    screen::show(&approve::card(found, about))?;
    // A script that names the extension has decided; a person at a terminal reads first.
    if !yes && std::io::stdin().is_terminal() && !confirm("Allow this?")? {
        screen::note("capstan: nothing was changed");
        return Ok(ExitCode::FAILURE);
    }
    let granted = approve::allow(&place.home, &mut place.grants.clone(), about)?;
    let what = match granted.len() {
        0 => "it asks for nothing and may run".to_owned(),
        n => format!("{n} of {} granted", about.descriptor.requests.len()),
    };
    screen::note(&format!("{GOOD}allowed{GOOD:#} {name}: {what}"));
    secrets::remind(&place.home, name, &granted)?;
    Ok(ExitCode::SUCCESS)
}

fn allow_project(home: &Home) -> Result<ExitCode> {
    let mut grants = config::load_grants(home)?;
    let project = Project::read(home)?;
    grants.trust_project(&home.workspace, project.digest());
    config::save_grants(home, &grants)?;
    screen::note(&format!(
        "{GOOD}trusted{GOOD:#} {}: its configuration and prompts count as they are now, and its extensions are considered; each still needs its own grants",
        screen::path(&home.workspace)
    ));
    for name in project.names() {
        screen::note(&format!("  {}", screen::path(&home.project().join(name))));
    }
    for notice in &project.notices {
        screen::note(&format!("  {}", screen::visible(notice)));
    }
    Ok(ExitCode::SUCCESS)
}

async fn revoke(home: Home, name: &str) -> Result<ExitCode> {
    let mut place = Place::open(home).await?;
    let found = place.find(name)?;
    let about =
        found.about.as_ref().with_context(|| format!("{name} has nothing that could be taken back"))?;
    let (id, digest) = (about.descriptor.id.clone(), about.digest);
    let changed = place.grants.revoke(&id, digest);
    config::save_grants(&place.home, &place.grants)?;
    screen::note(&format!(
        "{GOOD}off{GOOD:#} {name}{}. To use it again: capstan ext allow {name}",
        if changed { "" } else { " (it was off already)" }
    ));
    Ok(ExitCode::SUCCESS)
}

/// A question with no as the default.
pub(crate) fn confirm(question: &str) -> Result<bool> {
    screen::note(&format!("{question} [y/N]"));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).context("the answer cannot be read")?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
