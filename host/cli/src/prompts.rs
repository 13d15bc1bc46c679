//! What a model is told before the conversation, and the prompts that can be called by name: system prompt, context files,
//! templates. Read once at the start, so that the prompt stays the same bytes and a provider's cache of it hits.

use crate::args::Setup;
use crate::context::Context;
use crate::home::Home;
use crate::project::{APPEND_SYSTEM, PROMPTS, Project, SYSTEM, Standing};
use crate::reading::{self, Links, MAX_FILE_BYTES};
use crate::screen;
use crate::templates::{Origin, Templates};
use anyhow::{Result, anyhow};
use capstan_agent::ToolRegistry;
use capstan_agent::prompt::{ContextFile, PromptParts, system_prompt, utc_date};
use capstan_policy::Grants;
use capstan_ports::message::now_ms;
use std::path::Path;
use std::sync::Arc;

/// What was read.
#[derive(Debug, Default)]
pub(crate) struct Prompts {
    /// In place of role and guidelines.
    custom: Option<String>,
    /// After them.
    append: Vec<String>,
    context: Vec<ContextFile>,
    /// Prompts that are called by name.
    pub(crate) templates: Arc<Templates>,
    /// Files that are in the system prompt, for the user.
    pub(crate) names: Vec<String>,
    /// What was left out, and why.
    pub(crate) notices: Vec<String>,
}

impl Prompts {
    /// Reads the files of the user and, as far as it is trusted, of the project; flags stand before them.
    ///
    /// # Errors
    /// When a file cannot be read that a flag names.
    pub(crate) fn read(home: &Home, setup: &Setup, grants: &Grants) -> Result<Self> {
        let mut prompts = Self::default();
        let project = match Standing::of(home, grants)? {
            Standing::Trusted(project) => project,
            Standing::Untrusted(notice) => {
                prompts.notices.push(notice);
                Project::default()
            }
            // What has changed is said by those who read the configuration.
            Standing::Changed(_) | Standing::Nothing => Project::default(),
        };
        prompts.notices.extend(project.notices.iter().cloned());
        prompts.custom = match &setup.system_prompt {
            Some(given) => Some(text_or_file(given)?),
            // The nearer one counts.
            None => match prompts.of_project(home, &project, SYSTEM) {
                None => prompts.of_user(home, SYSTEM),
                theirs => theirs,
            },
        };
        prompts.append = match setup.append_system_prompt.as_slice() {
            [] => {
                let own = prompts.of_user(home, APPEND_SYSTEM);
                own.into_iter().chain(prompts.of_project(home, &project, APPEND_SYSTEM)).collect()
            }
            given => given.iter().map(|given| text_or_file(given)).collect::<Result<_>>()?,
        };
        if !setup.no_context_files {
            let context = Context::read(home);
            prompts.names.extend(context.files.iter().map(|file| file.path.clone()));
            prompts.notices.extend(context.notices);
            prompts.context = context.files;
        }
        let own = reading::folder(&home.config.join(PROMPTS), Links::Anywhere, &mut prompts.notices);
        let own = own.iter().map(|(name, bytes)| (Origin::User, name.as_str(), bytes.as_slice()));
        let theirs = project.templates().map(|(name, bytes)| (Origin::Project, name, bytes));
        let templates = Templates::new(own.chain(theirs));
        prompts.notices.extend(templates.notices.iter().cloned());
        prompts.templates = Arc::new(templates);
        Ok(prompts)
    }

    /// The system prompt around the tools that there are now.
    pub(crate) fn system(&self, home: &Home, tools: &ToolRegistry) -> String {
        system_prompt(&PromptParts {
            custom: self.custom.as_deref(),
            append: &self.append,
            tools: &tools.list(),
            context: &self.context,
            date: &utc_date(now_ms()),
            working_directory: &screen::path(&home.workspace),
        })
    }

    fn of_project(&mut self, home: &Home, project: &Project, name: &str) -> Option<String> {
        let bytes = project.file(name)?;
        self.take(&home.project().join(name), reading::text(bytes))
    }

    fn of_user(&mut self, home: &Home, name: &str) -> Option<String> {
        let path = home.config.join(name);
        match reading::whole(&path, Links::Anywhere, MAX_FILE_BYTES) {
            Ok(bytes) => self.take(&path, reading::text(&bytes?)),
            Err(reason) => self.take(&path, Err(reason)),
        }
    }

    fn take(&mut self, path: &Path, text: Result<String, String>) -> Option<String> {
        match text {
            Ok(text) => {
                self.names.push(screen::path(path));
                Some(text)
            }
            Err(reason) => {
                self.notices.push(reading::left_out(path, &reason));
                None
            }
        }
    }
}

/// What a flag says: the text of a file if there is one of that name, or else the words themselves.
fn text_or_file(given: &str) -> Result<String> {
    let path = Path::new(given);
    if !path.is_file() {
        return Ok(given.to_owned());
    }
    let read = reading::whole(path, Links::Anywhere, MAX_FILE_BYTES);
    let read = read.and_then(|bytes| reading::text(&bytes.unwrap_or_default()));
    read.map_err(|reason| anyhow!("the prompt in {given} cannot be used: {reason}"))
}

#[cfg(test)]
#[path = "prompts_tests.rs"]
mod tests;
