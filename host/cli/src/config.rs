//! `config.toml`: the user's, then the project's if the user trusts the project with it (see [`crate::project`]).

use crate::home::Home;
use crate::project::Standing;
use anyhow::{Context, Result, bail};
use capstan_agent::{CompactionSettings, ProcessHookSettings, RtkSettings};
use capstan_engine::cache::DEFAULT_MAX_BYTES;
use capstan_engine::compile::DEFAULT_LIMIT;
use capstan_engine::{LimitChange, LimitTable};
use capstan_mcp::client::{Server, ServerSettings};
use capstan_policy::{Grants, PermissionMode};
use capstan_provider::{Api, ModelOverride, ProviderConfig, Secret, builtin_providers};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What the files say. Unknown keys are refused: a misspelt limit would be no limit.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    /// `model` or `provider/model`.
    model: Option<String>,
    /// What built-in tools may do.
    permissions: Option<PermissionMode>,
    /// Rounds of tool calls in one turn.
    max_rounds: Option<u32>,
    /// Further tries after a request that failed for a passing reason.
    max_retries: Option<u32>,
    /// Mebibytes of compiled code that are kept. Only in the user's own file.
    cache_mb: Option<u64>,
    /// Seconds that compiling one extension may take. Only in the user's own file.
    compile_seconds: Option<u64>,
    /// Which extension compacts conversations, where several could: `id` or `id/strategy`.
    compressor: Option<String>,
    /// When conversations are compacted and how much of them stays.
    compaction: Compaction,
    /// Which extension is the memory, where several could: its id. `none`: no memory at all.
    memory: Option<String>,
    /// Who reads plans: one name, or several that are asked in turn.
    plan_parser: Option<Names>,
    /// Providers by name.
    provider: BTreeMap<String, Provider>,
    /// Tables of extensions by id.
    extension: BTreeMap<String, toml::Table>,
    /// Programs that are asked at events.
    hook: Vec<ProcessHookSettings>,
    /// Shorter command output.
    rtk: Option<RtkSettings>,
    /// What extensions may use, by role.
    limits: BTreeMap<String, LimitChange>,
    /// MCP servers by name.
    mcp: BTreeMap<String, ServerSettings>,
}

/// One name or several.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Names {
    One(String),
    Several(Vec<String>),
}

impl From<Names> for Vec<String> {
    fn from(names: Names) -> Self {
        match names {
            Names::One(name) => vec![name],
            Names::Several(names) => names,
        }
    }
}

/// The keys of [`CompactionSettings`]; one that is absent leaves what was said before.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Compaction {
    enabled: Option<bool>,
    reserve_tokens: Option<u32>,
    keep_recent_tokens: Option<u32>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Provider {
    /// Only optional for providers that exist already.
    api: Option<Api>,
    base_url: Option<String>,
    /// The variable that holds the key. The key itself has no place in a file that gets copied around.
    api_key_env: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    models: BTreeMap<String, ModelOverride>,
    idle_timeout_seconds: Option<u64>,
}

/// Everything that is configured.
#[derive(Debug, Default)]
pub(crate) struct Config {
    pub(crate) model: Option<String>,
    pub(crate) permissions: Option<PermissionMode>,
    pub(crate) max_rounds: Option<u32>,
    pub(crate) max_retries: Option<u32>,
    pub(crate) compressor: Option<String>,
    pub(crate) compaction: CompactionSettings,
    pub(crate) memory: Option<String>,
    /// Empty where nobody is named.
    pub(crate) plan_parsers: Vec<String>,
    pub(crate) providers: Vec<ProviderConfig>,
    /// The user's, then the project's: a project adds hooks and takes none away.
    pub(crate) hooks: Vec<ProcessHookSettings>,
    pub(crate) rtk: Option<RtkSettings>,
    /// What a call of an extension may use.
    pub(crate) limits: Arc<LimitTable>,
    /// MCP servers by name. One that a project names in place of the user's has to be allowed anew.
    pub(crate) mcp: BTreeMap<String, Server>,
    extensions: BTreeMap<String, toml::Table>,
}

impl File {
    /// `None` where there is no such file.
    fn read(path: &Path) -> Result<Option<Self>> {
        read_if_there(path)?.map(|text| Self::parse(&text, path)).transpose()
    }

    fn parse(text: &str, path: &Path) -> Result<Self> {
        toml::from_str(text).with_context(|| format!("{} is not valid", path.display()))
    }
}

/// What the user says about compiling on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Compiling {
    /// Bytes of compiled code that are kept.
    pub(crate) cache_bytes: u64,
    /// How long compiling one extension may take.
    pub(crate) limit: Duration,
}

impl Compiling {
    /// From the user's own file; a project has no say in it.
    pub(crate) fn load(home: &Home) -> Result<Self> {
        let file = File::read(&home.config_file())?.unwrap_or_default();
        anyhow::ensure!(
            file.compile_seconds != Some(0),
            "{}: compile_seconds must be at least 1",
            home.config_file().display()
        );
        Ok(Self {
            cache_bytes: file.cache_mb.map_or(DEFAULT_MAX_BYTES, |mb| mb.saturating_mul(1 << 20)),
            limit: file.compile_seconds.map_or(DEFAULT_LIMIT, Duration::from_secs),
        })
    }
}

impl Config {
    /// Reads the files. A file that is not there is no problem; one that cannot be understood is.
    pub(crate) fn load(home: &Home, grants: &Grants) -> Result<Self> {
        let (config, left_out) = Self::read(home, grants)?;
        if let Some(left_out) = left_out {
            tracing::warn!("{left_out}");
        }
        Ok(config)
    }

    /// The same, with what is to be said about a file that does not count.
    pub(crate) fn read(home: &Home, grants: &Grants) -> Result<(Self, Option<String>)> {
        let env = |name: &str| std::env::var(name).ok();
        let mut config = Self { providers: builtin_providers(&env), ..Self::default() };
        let path = home.config_file();
        if let Some(file) = File::read(&path)? {
            config.merge(file, &path)?;
        }
        // A project's configuration may point a provider, and so the user's key, anywhere.
        let project = match Standing::of(home, grants)? {
            Standing::Trusted(project) => project,
            Standing::Changed(left_out) => return Ok((config, Some(left_out))),
            // Said by those who read prompts, once.
            Standing::Untrusted(_) | Standing::Nothing => return Ok((config, None)),
        };
        let path = home.project_config();
        if let Some(text) = project.config().with_context(|| format!("{} cannot be read", path.display()))? {
            let file = File::parse(text, &path)?;
            if file.cache_mb.or(file.compile_seconds).is_some() {
                bail!(
                    "{}: cache_mb and compile_seconds are about this machine; set them in {}",
                    path.display(),
                    home.config_file().display()
                );
            }
            config.merge(file, &path)?;
        }
        Ok((config, None))
    }

    /// One provider and a model of it, and nothing of the user's.
    pub(crate) fn of_provider(provider: ProviderConfig, model: &str) -> Self {
        Self { model: Some(model.to_owned()), providers: vec![provider], ..Self::default() }
    }

    /// The table of an extension as JSON; `{}` where the user wrote none.
    pub(crate) fn extension(&self, id: &str) -> Result<serde_json::Value> {
        let Some(table) = self.extensions.get(id) else { return Ok(serde_json::json!({})) };
        serde_json::to_value(table).with_context(|| format!("[extension.{id}] has no JSON form"))
    }

    /// The same with a table for an extension, in place of one that was there.
    pub(crate) fn with_extension(mut self, id: &str, table: toml::Table) -> Self {
        self.extensions.insert(id.to_owned(), table);
        self
    }

    fn merge(&mut self, file: File, path: &Path) -> Result<()> {
        self.model = file.model.or(self.model.take());
        self.permissions = file.permissions.or(self.permissions);
        self.max_rounds = file.max_rounds.or(self.max_rounds);
        self.max_retries = file.max_retries.or(self.max_retries);
        self.compressor = file.compressor.or(self.compressor.take());
        let (said, before) = (file.compaction, self.compaction);
        self.compaction = CompactionSettings {
            enabled: said.enabled.unwrap_or(before.enabled),
            reserve_tokens: said.reserve_tokens.unwrap_or(before.reserve_tokens),
            keep_recent_tokens: said.keep_recent_tokens.unwrap_or(before.keep_recent_tokens),
        };
        self.memory = file.memory.or(self.memory.take());
        if let Some(names) = file.plan_parser {
            self.plan_parsers = names.into();
        }
        self.extensions.extend(file.extension);
        self.hooks.extend(file.hook);
        self.rtk = file.rtk.or(self.rtk.take());
        for (role, change) in &file.limits {
            let changed = Arc::make_mut(&mut self.limits).change(role, change);
            changed.with_context(|| format!("{} is not valid", path.display()))?;
        }
        for (name, settings) in file.mcp {
            let server = Server::new(&name, settings);
            let server = server.with_context(|| format!("{} is not valid", path.display()))?;
            self.mcp.insert(name, server);
        }
        for (name, provider) in file.provider {
            self.provider(&name, provider)
                .with_context(|| format!("{}: [provider.{name}]", path.display()))?;
        }
        Ok(())
    }

    fn provider(&mut self, name: &str, wanted: Provider) -> Result<()> {
        let known = self.providers.iter().position(|provider| provider.name == name);
        let mut provider = match (known, wanted.api, &wanted.base_url) {
            (Some(at), _, _) => self.providers.remove(at),
            (None, Some(api), Some(base_url)) => ProviderConfig::new(name, api, base_url),
            (None, _, _) => bail!("a new provider needs `api` and `base_url`"),
        };
        if let Some(api) = wanted.api {
            provider.api = api;
        }
        if let Some(base_url) = wanted.base_url {
            provider.base_url = base_url;
        }
        if let Some(variable) = wanted.api_key_env {
            provider.api_key = std::env::var(&variable).ok().filter(|key| !key.is_empty()).map(Secret::new);
            provider.api_key_env = Some(variable);
        }
        if let Some((model, _)) =
            wanted.models.iter().find(|(_, model)| model.cost.is_some_and(|cost| !cost.is_valid()))
        {
            bail!("models.{model}: a cost is a number of dollars for a million tokens, zero or more");
        }
        provider.headers.extend(wanted.headers.into_iter().map(|(name, value)| (name, Secret::new(value))));
        provider.models.extend(wanted.models);
        if let Some(seconds) = wanted.idle_timeout_seconds {
            provider.idle_timeout = Duration::from_secs(seconds);
        }
        self.providers.push(provider);
        Ok(())
    }
}

/// The grants file. One that cannot be understood stops everything: it is not read in part.
pub(crate) fn load_grants(home: &Home) -> Result<Grants> {
    let path = home.grants_file();
    match read_if_there(&path)? {
        Some(text) => Grants::parse(&text).with_context(|| format!("{} cannot be used", path.display())),
        None => Ok(Grants::default()),
    }
}

/// Writes the grants file.
pub(crate) fn save_grants(home: &Home, grants: &Grants) -> Result<()> {
    crate::home::write_private(&home.grants_file(), &grants.to_toml()?)
}

fn read_if_there(path: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(reason) if reason.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(reason) => Err(reason).with_context(|| format!("{} cannot be read", path.display())),
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
