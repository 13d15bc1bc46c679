//! Checks a call's arguments against the tool's JSON Schema, with a text that tells the model what to correct.

use crate::coercion::coerce;
use crate::result::clip;
use capstan_ports::{ToolCall, ToolDefinition};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;
use std::fmt::Write;
use std::sync::OnceLock;

/// Lines of one report. A model corrects the first few and then sees the rest.
const MAX_REPORTED: usize = 20;

/// Bytes of one line and of the echoed arguments. Beyond these a huge wrong argument would fill the model's window.
const MAX_LINE_BYTES: usize = 400;
const MAX_ECHO_BYTES: usize = 8 * 1024;

/// The compiled schema of one tool. Compiled at the first call, because most registered tools are never called.
#[derive(Default)]
pub struct ArgumentSchema {
    compiled: OnceLock<Result<Validator, String>>,
}

impl ArgumentSchema {
    /// The arguments as the tool may get them: unchanged when they fit, otherwise with values of the wrong type
    /// converted where that loses nothing (`"5"` for an integer becomes 5).
    ///
    /// `received` is what the model wrote; it is echoed when `arguments`, the prepared form, do not fit.
    ///
    /// # Errors
    /// The text for the model: each path with what is wrong there, and the received arguments.
    pub fn check(&self, tool: &ToolDefinition, arguments: Value, received: &Value) -> Result<Value, String> {
        let validator = match self.compiled.get_or_init(|| compile(&tool.parameters)) {
            Ok(validator) => validator,
            Err(reason) => {
                return Err(format!(
                    "The tool \"{}\" cannot be called: its parameter schema is invalid ({reason}). \
                     Tell the user; its author has to correct it.",
                    tool.name
                ));
            }
        };
        if validator.is_valid(&arguments) {
            return Ok(arguments);
        }
        let coerced = coerce(validator, &tool.parameters, arguments);
        if validator.is_valid(&coerced) {
            return Ok(coerced);
        }
        Err(report(&tool.name, validator, &coerced, received))
    }
}

/// The text for a call whose arguments never became complete JSON.
///
/// Such a call is not repaired: a command that was cut off can mean the opposite of what was intended.
pub fn malformed_report(call: &ToolCall, written: &str) -> String {
    format!(
        "The arguments for tool \"{}\" were not a complete JSON object, so nothing was executed. \
         Make the call again with complete arguments.\n\nReceived text:\n{}",
        call.name,
        clip(written, MAX_ECHO_BYTES)
    )
}

fn compile(schema: &Value) -> Result<Validator, String> {
    // Offline: a schema comes from an extension, and must not make the host fetch a URL or open a file.
    jsonschema::options()
        .offline()
        .build(schema)
        .map_err(|error| clip(&error.to_string(), MAX_LINE_BYTES).into_owned())
}

fn report(tool: &str, validator: &Validator, arguments: &Value, received: &Value) -> String {
    let mut text = format!("Validation failed for tool \"{tool}\":");
    for error in validator.iter_errors(arguments).take(MAX_REPORTED) {
        let line = error.to_string();
        append(&mut text, format_args!("\n  - {}: {}", path_of(&error), clip(&line, MAX_LINE_BYTES)));
    }
    let echo = format!("{received:#}");
    append(&mut text, format_args!("\n\nReceived arguments:\n{}", clip(&echo, MAX_ECHO_BYTES)));
    text
}

fn append(text: &mut String, more: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    text.write_fmt(more).unwrap_or_default();
}

/// Where the error is, for example `edits/0/path`. A missing property is named although nothing stands there.
fn path_of(error: &ValidationError<'_>) -> String {
    let mut path = error.instance_path().as_str().trim_start_matches('/').to_owned();
    if let ValidationErrorKind::Required { property } = error.kind()
        && let Some(name) = property.as_str()
    {
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(name);
    }
    if path.is_empty() { "root".to_owned() } else { path }
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
