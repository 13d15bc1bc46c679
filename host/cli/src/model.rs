//! Which model: from the flags, else from `CAPSTAN_MODEL`, else from the configuration. A running session can go on with any
//! other that is configured.

use crate::args::Setup;
use crate::config::Config;
use crate::screen;
use anyhow::{Context, Result, bail};
use capstan_ports::{
    Model, ModelCatalog, ModelError, ModelErrorKind, ModelEvent, ModelInfo, ModelRequest, ModelStream, Price,
    PriceTable,
};
use capstan_provider::{ProviderConfig, ProviderError};
use futures::StreamExt;
use std::sync::Arc;

/// The model of the environment goes before that of the files.
pub(crate) fn heed_environment(config: &mut Config) {
    let named = std::env::var("CAPSTAN_MODEL").ok().filter(|name| !name.trim().is_empty());
    config.model = named.or(config.model.take());
}

/// The chosen model, ready to be asked.
pub(crate) fn choose(setup: &Setup, config: &Config) -> Result<Arc<dyn Model>> {
    let wanted = setup.model.as_deref().or(config.model.as_deref());
    let (provider, model) = match (&setup.provider, wanted) {
        (Some(name), Some(wanted)) => at_provider(name, wanted.trim(), &config.providers)?,
        (_, wanted) => resolve(wanted, &config.providers)?,
    };
    capstan_provider::model(provider, model)
        .with_context(|| format!("the model {}/{model} cannot be used", provider.name))
}

/// The model of this id at this provider. Services that pass others' models on have slashes in their ids, so only the
/// provider's own name before the first slash is no part of it.
fn at_provider<'a>(
    name: &str,
    wanted: &'a str,
    providers: &'a [ProviderConfig],
) -> Result<(&'a ProviderConfig, &'a str)> {
    let provider = providers.iter().find(|provider| provider.name == name).with_context(|| {
        format!("there is no provider `{name}`; write --provider with one of: {}", names(providers))
    })?;
    let own = wanted.strip_prefix(name).and_then(|rest| rest.strip_prefix('/'));
    Ok((provider, own.unwrap_or(wanted)))
}

fn names(providers: &[ProviderConfig]) -> String {
    providers.iter().map(|provider| provider.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// The models of the configured providers.
pub(crate) struct ConfiguredModels {
    providers: Vec<ProviderConfig>,
    /// The one that the configuration names, which is offered first.
    default: Option<ModelInfo>,
}

impl ConfiguredModels {
    pub(crate) fn new(config: &Config) -> Self {
        let default = resolve(config.model.as_deref(), &config.providers)
            .map(|(provider, model)| capstan_provider::info(provider, model));
        // Without a default there is just none to offer first.
        Self { providers: config.providers.clone(), default: default.ok() }
    }
}

impl PriceTable for ConfiguredModels {
    fn price(&self, model: &ModelInfo) -> Option<Price> {
        let provider = self.providers.iter().find(|provider| provider.name == model.provider)?;
        provider.models.get(&model.id)?.cost
    }
}

impl ModelCatalog for ConfiguredModels {
    /// The configured default, and what the providers that are set up have below `[provider.NAME.models]`: a service can be
    /// asked for more than that, but nobody can list it without asking.
    fn available(&self) -> Vec<ModelInfo> {
        let configured = self.providers.iter().filter(|provider| is_set_up(provider)).flat_map(|provider| {
            provider.models.keys().map(move |model| capstan_provider::info(provider, model))
        });
        let mut models: Vec<ModelInfo> = Vec::new();
        for model in self.default.iter().cloned().chain(configured) {
            if models.iter().all(|known| known.full_name() != model.full_name()) {
                models.push(model);
            }
        }
        models
    }

    fn find(&self, provider: &str, id: &str) -> Result<Arc<dyn Model>, ModelError> {
        let Some(config) = self.providers.iter().find(|config| config.name == provider) else {
            let message =
                format!("there is no provider {provider}; configured are: {}", names(&self.providers));
            return Err(ModelError::new(ModelErrorKind::InvalidRequest, message));
        };
        capstan_provider::model(config, id).map_err(|error| unusable(provider, id, error))
    }
}

/// Stands where a session needs a model and none is chosen. Whoever asks it reads why.
pub(crate) struct NoModel {
    info: ModelInfo,
    reason: String,
}

impl NoModel {
    /// What would have been the error of a session that cannot be without one.
    pub(crate) fn because(reason: &anyhow::Error) -> Self {
        let info = ModelInfo {
            provider: "none".to_owned(),
            api: "none".to_owned(),
            id: "none".to_owned(),
            context_window: 0,
            max_output_tokens: 0,
            accepts_images: false,
        };
        Self { info, reason: screen::whole(reason) }
    }
}

impl Model for NoModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn stream(&self, _request: ModelRequest) -> ModelStream {
        let error = ModelError::new(ModelErrorKind::InvalidRequest, self.reason.clone());
        futures::stream::iter([ModelEvent::Failed(error)]).boxed()
    }
}

fn unusable(provider: &str, id: &str, error: ProviderError) -> ModelError {
    ModelError {
        kind: ModelErrorKind::Auth,
        message: format!("the model {provider}/{id} cannot be used: {error}"),
        retry_after: None,
        source: Some(Box::new(error)),
    }
}

/// The provider and the model's id there.
///
/// The part before the first slash names a provider, if there is one of that name; else all of it is a model's id (some
/// services have slashes in theirs). A bare id goes to the provider that the environment speaks of.
pub(crate) fn resolve<'a>(
    wanted: Option<&'a str>,
    providers: &'a [ProviderConfig],
) -> Result<(&'a ProviderConfig, &'a str)> {
    let Some(wanted) = wanted.map(str::trim).filter(|wanted| !wanted.is_empty()) else {
        bail!(
            "no model is chosen. Set CAPSTAN_MODEL, use --model, or write `model = \"provider/model\"` into config.toml; \
             `capstan demo` runs without any"
        );
    };
    let named = |name: &str| providers.iter().find(|provider| provider.name == name);
    if let Some((name, model)) = wanted.split_once('/')
        && let Some(provider) = named(name)
    {
        return Ok((provider, model));
    }
    let family = if wanted.starts_with("claude") { "anthropic" } else { "openai" };
    let configured: Vec<_> = providers.iter().filter(|provider| is_set_up(provider)).collect();
    let provider = match configured.as_slice() {
        // Nobody asked for the family's own service by such a name: it is a slip of the pen.
        [] if wanted.contains('/') => None,
        [only] => Some(*only),
        several => several.iter().find(|provider| provider.name == family).copied().or_else(|| named(family)),
    };
    provider.map(|provider| (provider, wanted)).with_context(|| {
        format!("`{wanted}` names no provider; write `provider/model` with one of: {}", names(providers))
    })
}

/// Whether the user said anything about this provider: a key, or an address of their own.
fn is_set_up(provider: &ProviderConfig) -> bool {
    provider.api_key.is_some() || !provider.base_url.starts_with("https://api.")
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
