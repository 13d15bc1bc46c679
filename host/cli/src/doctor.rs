//! `capstan doctor`: what works, what does not, and what to do about it.

use crate::args::Setup;
use crate::catalog::{self, State};
use crate::config::{self, Config};
use crate::home::Home;
use crate::model;
use crate::screen::{self, BAD, GOOD, WARN, visible};
use anyhow::Result;
use capstan_builder::Status;
use capstan_engine::{Allocation, Services};
use std::process::ExitCode;

/// Prints a line for each part; fails if any part has a problem that keeps something from working.
pub(crate) async fn run() -> Result<ExitCode> {
    let mut report = Report { problems: 0 };
    let home = Home::find()?;
    report
        .good("places", &format!("configuration {}, data {}", home.config.display(), home.data.display()))?;
    let grants = match config::load_grants(&home) {
        Ok(grants) => {
            report.good("grants", "readable")?;
            grants
        }
        Err(error) => {
            report.bad("grants", &screen::whole(&error))?;
            return Ok(ExitCode::FAILURE);
        }
    };
    let mut config = match Config::load(&home, &grants) {
        Ok(config) => config,
        Err(error) => {
            report.bad("config", &screen::whole(&error))?;
            return Ok(ExitCode::FAILURE);
        }
    };
    model::heed_environment(&mut config);
    match model::choose(&Setup::default(), &config) {
        Ok(model) => report.good("model", &model.info().full_name())?,
        Err(error) => report.warn("model", &screen::whole(&error))?,
    }
    extensions(&mut report, &home, &config, &grants).await?;
    for finding in capstan_builder::diagnose(&home.cache) {
        let text = match &finding.remedy {
            Some(remedy) => format!("{}. {remedy}", finding.detail),
            None => finding.detail.clone(),
        };
        match finding.status {
            Status::Ready => report.good(&finding.subject, &text)?,
            // Only authors of extensions need a toolchain.
            Status::CanBeMade | Status::Missing => report.warn(&finding.subject, &text)?,
        }
    }
    Ok(if report.problems == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn extensions(
    report: &mut Report,
    home: &Home,
    config: &Config,
    grants: &capstan_policy::Grants,
) -> Result<()> {
    let sandbox = match catalog::sandbox(home) {
        Ok(sandbox) => sandbox,
        Err(error) => return report.bad("sandbox", &screen::whole(&error)),
    };
    match sandbox.allocation() {
        Allocation::Pooled => report.good("sandbox", "works, with a pool of instances")?,
        Allocation::OnDemand => {
            report.warn(
                "sandbox",
                "works without a pool (no address space for it); calls are some microseconds slower",
            )?;
        }
    }
    if sandbox.has_cache() {
        match capstan_engine::cache::entries(&home.compiled()) {
            Ok(entries) => {
                let held: u64 = entries.iter().map(|entry| entry.bytes).sum();
                let bound = config::Compiling::load(home)?.cache_bytes;
                report.good(
                    "cache",
                    &format!(
                        "{}: {} in {} entries, at most {}",
                        home.compiled().display(),
                        screen::size(held),
                        entries.len(),
                        screen::size(bound)
                    ),
                )?;
            }
            Err(reason) => report.bad("cache", &format!("{}: {reason}", home.compiled().display()))?,
        }
    } else {
        report
            .bad("cache", "cannot be used, see the warning above; extensions are compiled at every start")?;
    }
    let catalog = catalog::scan(home, config, grants, &[], &sandbox, &Services::default()).await?;
    for found in &catalog.found {
        let name = format!("extension {}", found.name());
        match (&found.state, found.notice()) {
            (State::Broken(reason), _) => report.bad(&name, reason)?,
            (_, Some(notice)) => report.warn(&name, &notice)?,
            (state, None) => report.good(&name, state.word())?,
        }
    }
    Ok(())
}

struct Report {
    problems: u32,
}

impl Report {
    fn good(&mut self, subject: &str, text: &str) -> Result<()> {
        Ok(screen::show(&format!("{GOOD}ok{GOOD:#}    {}: {}\n", visible(subject), visible(text)))?)
    }

    fn warn(&mut self, subject: &str, text: &str) -> Result<()> {
        Ok(screen::show(&format!("{WARN}note{WARN:#}  {}: {}\n", visible(subject), visible(text)))?)
    }

    fn bad(&mut self, subject: &str, text: &str) -> Result<()> {
        self.problems += 1;
        Ok(screen::show(&format!("{BAD}bad{BAD:#}   {}: {}\n", visible(subject), visible(text)))?)
    }
}
