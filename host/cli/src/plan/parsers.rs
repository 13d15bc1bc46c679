//! Who reads plans: the parser of the program, and those of extensions in force.

use anyhow::{Context, Result, bail};
use capstan_engine::Extension;
use capstan_ports::PlanParser;
use capstan_runtime::{FallbackPlanParser, JsonPlanParser};
use std::sync::Arc;

/// The parser that is used where neither flag nor configuration names one. The choice of this command: the library has none.
const DEFAULT: &str = "json";

/// The parsers of these names, in their order; an extension with one format may be named by its id alone.
///
/// # Errors
/// When there is no such parser, or an id alone could mean more than one. The text lists what there is.
pub(super) fn choose(active: &[Extension], names: &[String]) -> Result<Arc<dyn PlanParser>> {
    let mut all: Vec<Arc<dyn PlanParser>> = vec![Arc::new(JsonPlanParser)];
    all.extend(active.iter().flat_map(Extension::plan_parsers));
    let (first, others) = match names.split_first() {
        Some((first, others)) => (first.as_str(), others),
        None => (DEFAULT, [].as_slice()),
    };
    let first = find(&all, first)?;
    if others.is_empty() {
        return Ok(first);
    }
    let others: Vec<_> = others.iter().map(|name| find(&all, name)).collect::<Result<_>>()?;
    Ok(Arc::new(FallbackPlanParser::new(first, others)))
}

fn find(all: &[Arc<dyn PlanParser>], name: &str) -> Result<Arc<dyn PlanParser>> {
    if let Some(exactly) = all.iter().find(|parser| parser.name() == name) {
        return Ok(exactly.clone());
    }
    let owner =
        |parser: &&Arc<dyn PlanParser>| parser.name().split_once('/').is_some_and(|(owner, _)| owner == name);
    let mut of_extension = all.iter().filter(owner);
    let found = of_extension.next().with_context(|| {
        format!(
            "there is no plan parser `{name}`; there is {}. Extensions that are not allowed do not count",
            list(all)
        )
    })?;
    if of_extension.next().is_some() {
        bail!("`{name}` has more than one plan parser; name one of {}", list(all));
    }
    Ok(found.clone())
}

fn list(all: &[Arc<dyn PlanParser>]) -> String {
    all.iter().map(|parser| parser.name()).collect::<Vec<_>>().join(", ")
}
