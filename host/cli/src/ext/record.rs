//! Expectations written into a file of cases, with everything else in it left as its author wrote it.
//!
//! The text is changed line by line, which a text over many lines could lead astray; so the result is read again, and counts
//! only if nothing but the expectations differs.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// The file with these expectations in the place of those of the cases at these positions.
///
/// # Errors
/// When the file is written in a way in which the place of an expectation cannot be found.
pub(super) fn recorded(text: &str, expectations: &[(usize, Value)]) -> Result<String> {
    let mut written = String::with_capacity(text.len());
    let mut case = None;
    let mut is_expectation = false;
    // Comments at the end of an old expectation are about what follows it.
    let mut comments = Vec::new();
    let expectation_of = |case: Option<usize>| {
        let found = expectations.iter().find(|(at, _)| Some(*at) == case);
        found.map(|(_, expectation)| expectation)
    };
    for line in text.lines() {
        let start = line.trim_start();
        if start.starts_with("[[case]]") {
            close(&mut written, expectation_of(case))?;
            comments.drain(..).for_each(|line| push(&mut written, line));
            case = Some(case.map_or(0, |at| at + 1));
            is_expectation = false;
        } else if start.starts_with('[') {
            is_expectation = start.starts_with("[case.expect]") || start.starts_with("[case.expect.");
        }
        let is_inline = start.starts_with("expect =") || start.starts_with("expect.");
        if expectation_of(case).is_none() || !(is_expectation || is_inline) {
            push(&mut written, line);
        } else if start.starts_with('#') {
            comments.push(line);
        } else if !start.is_empty() {
            comments.clear();
        }
    }
    close(&mut written, expectation_of(case))?;
    comments.drain(..).for_each(|line| push(&mut written, line));
    written.truncate(written.trim_end().len());
    written.push('\n');
    let (before, after) = (stripped(text)?, stripped(&written)?);
    ensure!(before == after, "more than the expectations would change");
    Ok(written)
}

fn push(written: &mut String, line: &str) {
    written.push_str(line);
    written.push('\n');
}

/// Ends a case with its new expectation.
fn close(written: &mut String, expectation: Option<&Value>) -> Result<()> {
    let Some(expectation) = expectation else { return Ok(()) };
    written.truncate(written.trim_end().len());
    written.push_str("\n\n[case.expect]\n");
    for (name, value) in expectation.as_object().into_iter().flatten() {
        if let Some(value) = as_toml(value) {
            written.push_str(&format!("{name} = {value}\n"));
        }
    }
    written.push('\n');
    Ok(())
}

/// All of the file but the expectations.
fn stripped(text: &str) -> Result<toml::Table> {
    let mut file: toml::Table = text.parse().context("it would be no TOML any more")?;
    let cases = file.get_mut("case").and_then(toml::Value::as_array_mut);
    for case in cases.into_iter().flatten().filter_map(toml::Value::as_table_mut) {
        case.remove("expect");
    }
    Ok(file)
}

/// TOML has no null; a field that is null is left out, as it would be by most who write JSON.
fn as_toml(value: &Value) -> Option<toml::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(it) => toml::Value::Boolean(*it),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => toml::Value::Integer(whole),
            None => toml::Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => toml::Value::String(text.clone()),
        Value::Array(items) => toml::Value::Array(items.iter().filter_map(as_toml).collect()),
        Value::Object(fields) => {
            let fields = fields.iter().filter_map(|(name, value)| Some((name.clone(), as_toml(value)?)));
            toml::Value::Table(fields.collect())
        }
    })
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
