//! The user's configuration table of an extension against the schema in its descriptor.

use crate::error::LoadProblem;
use crate::import::printable;
use serde_json::Value;

/// Problems that are shown at once; the rest shows when these are mended.
const MAX_SHOWN: usize = 5;

/// Checks a table. Without a schema the extension takes no configuration, so a table is a mistake (of a name, most often) that
/// would have no effect.
pub(crate) fn check(id: &str, schema: Option<&Value>, table: &Value) -> Result<(), LoadProblem> {
    let unusable = |reason: String| LoadProblem::Configuration { id: id.to_owned(), reason };
    let Some(schema) = schema else {
        return match table.as_object() {
            Some(fields) if fields.is_empty() => Ok(()),
            _ => Err(unusable("the extension takes no configuration".to_owned())),
        };
    };
    let validator = compile(schema).map_err(unusable)?;
    let problems: Vec<_> = validator
        .iter_errors(table)
        .take(MAX_SHOWN)
        .map(|error| {
            let path = error.instance_path().as_str().trim_start_matches('/').replace('/', ".");
            let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
            printable(&format!("{place}{error}"), 400)
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(unusable(problems.join("; "))) }
}

/// Compiles a schema without ever fetching anything.
pub(crate) fn compile(schema: &Value) -> Result<jsonschema::Validator, String> {
    let built = jsonschema::options().offline().build(schema);
    built.map_err(|error| printable(&format!("its schema is not usable: {error}"), 400))
}

#[cfg(test)]
#[path = "configuration_tests.rs"]
mod tests;
