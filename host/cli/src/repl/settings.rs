//! What the session goes on with: its name, bookmarks, model and thinking level. Each is recorded, so that it holds when the
//! session is taken up again.

use super::Repl;
use super::own::first_word;
use crate::screen::{self, BOLD, DIM, GOOD, visible};
use anyhow::{Context, Result};
use capstan_ports::{ModelCatalog, ModelInfo, ThinkingLevel};
use std::fmt::Write as _;

/// Characters of a name or bookmark. They stand in lists; what is longer is no name.
const MAX_NAME: usize = 200;

impl Repl {
    /// `/name [TEXT]`
    pub(super) async fn name(&self, text: &str) -> Result<()> {
        let name = named(text)?;
        self.session.set_name(name.clone()).await?;
        screen::note(&match name {
            Some(name) => format!("capstan: this session is {}", visible(&name)),
            None => "capstan: this session has no name now".to_owned(),
        });
        Ok(())
    }

    /// `/label ID [TEXT]`
    pub(super) async fn label(&self, arguments: &str) -> Result<()> {
        let (id, text) = first_word(arguments);
        let (entry, label) = (self.entry(id)?, named(text)?);
        self.session.set_label(entry.clone(), label.clone()).await?;
        screen::note(&match label {
            Some(label) => format!("capstan: {entry} is bookmarked as {}", visible(&label)),
            None => format!("capstan: {entry} has no bookmark now"),
        });
        Ok(())
    }

    /// `/model [PROVIDER/MODEL]`
    pub(super) async fn model(&self, wanted: &str) -> Result<()> {
        let current = self.session.model();
        if wanted.is_empty() {
            return Ok(screen::show(&models(current.info(), self.models.available())?)?);
        }
        let (provider, id) = meant(wanted, current.info(), &self.models.available());
        let model = self.models.find(&provider, &id)?;
        let name = model.info().full_name();
        self.session.set_model(model).await?;
        screen::note(&format!("capstan: {} answers from now on", visible(&name)));
        Ok(())
    }

    /// `/thinking [LEVEL]`
    pub(super) async fn thinking(&self, wanted: &str) -> Result<()> {
        let current = self.session.thinking_level();
        if wanted.is_empty() {
            let shown = ThinkingLevel::ALL.map(|level| match level == current {
                true => format!("{BOLD}{GOOD}{}{GOOD:#}{BOLD:#}", level.name()),
                false => level.name().to_owned(),
            });
            return Ok(screen::show(&format!(
                "  {}  {DIM}now: {}{DIM:#}\n",
                shown.join(" "),
                current.name()
            ))?);
        }
        let level = ThinkingLevel::parse(wanted).with_context(|| {
            let names = ThinkingLevel::ALL.map(ThinkingLevel::name).join(", ");
            format!("there is no thinking level {}; there are {names}", screen::brief(wanted, 60))
        })?;
        self.session.set_thinking_level(level).await?;
        screen::note(&format!("capstan: thinking is {} from now on", level.name()));
        Ok(())
    }
}

/// The name that a text stands for; none for an empty one.
fn named(text: &str) -> Result<Option<String>> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    anyhow::ensure!(
        text.chars().count() <= MAX_NAME,
        "that is too long for a name; it may have {MAX_NAME} characters"
    );
    Ok(Some(text).filter(|text| !text.is_empty()))
}

/// Provider and id of the model that is meant: one of those that are offered, by either name, else as it is written, and
/// without a provider the one that answers now.
fn meant(wanted: &str, current: &ModelInfo, offered: &[ModelInfo]) -> (String, String) {
    let by_id = |model: &&ModelInfo| model.id == wanted || model.full_name() == wanted;
    if let Some(model) = offered.iter().find(by_id) {
        return (model.provider.clone(), model.id.clone());
    }
    match wanted.split_once('/') {
        Some((provider, id)) => (provider.to_owned(), id.to_owned()),
        None => (current.provider.clone(), wanted.to_owned()),
    }
}

fn models(current: &ModelInfo, mut offered: Vec<ModelInfo>) -> Result<String> {
    if offered.iter().all(|model| model.full_name() != current.full_name()) {
        offered.insert(0, current.clone());
    }
    let mut out = String::new();
    for model in &offered {
        let name = visible(&model.full_name()).into_owned();
        match model.full_name() == current.full_name() {
            true => writeln!(out, "  {BOLD}{GOOD}* {name}{GOOD:#}{BOLD:#}")?,
            false => writeln!(out, "    {name}")?,
        }
    }
    writeln!(out, "{DIM}  any other: /model PROVIDER/MODEL{DIM:#}")?;
    Ok(out)
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
