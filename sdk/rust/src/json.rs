//! JSON in both directions: reading into author types with errors that name the place, and schemas of those types.

mod place;

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Error;

/// Reads JSON text; an error says at which path of `what` it does not fit.
pub(crate) fn parse<T: DeserializeOwned>(text: &str, what: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| {
        let spaced = place::spaced(text);
        let again = serde_json::from_str::<T>(&spaced).err();
        misfit(&error, again.as_ref(), &spaced, what)
    })
}

/// Apart from the types, so that it is in a component once.
fn misfit(error: &serde_json::Error, again: Option<&serde_json::Error>, spaced: &str, what: &str) -> Error {
    let path = match again {
        // A line break within a string is a mistake of its own; the text says where.
        Some(again) if again.line() == 1 => place::path(spaced, again.column()),
        _ => String::new(),
    };
    let place = if path.is_empty() { what.to_owned() } else { [what, " at `", &path, "`"].concat() };
    Error::new([place.as_str(), ": ", &error.to_string()].concat())
}

/// A schema and the documentation comment of its type.
pub(crate) struct Documented {
    /// JSON text.
    pub(crate) schema: String,
    /// The type's own comment; it is no longer part of the schema.
    pub(crate) description: Option<String>,
}

/// The JSON Schema of a type: one document without references to itself where the type is not recursive.
pub(crate) fn schema<T: JsonSchema>() -> Documented {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    Plain.transform(&mut schema);
    let description = match schema.remove("description") {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    // The title is the Rust name of the type, which tells a model nothing.
    schema.remove("title");
    if schema.get("type").is_some_and(|kind| kind == "object") && schema.get("properties").is_none() {
        schema.insert("properties".to_owned(), Value::Object(serde_json::Map::new()));
    }
    Documented { schema: schema.to_value().to_string(), description }
}

/// Takes out what models do not need: Rust's number formats, `null` beside the type of what may be left out, and the line
/// breaks with which comments fit a source file.
struct Plain;

impl Transform for Plain {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(object) = schema.as_object_mut() {
            let number = ["uint", "int", "double", "float"];
            if object.get("format").and_then(Value::as_str).is_some_and(|format| {
                number.contains(&format.trim_end_matches(|character: char| character.is_ascii_digit()))
            }) {
                object.remove("format");
            }
            if let Some(Value::String(text)) = object.get_mut("description") {
                *text = unwrapped(text);
            }
            if object.get("default") == Some(&Value::Null) {
                object.remove("default");
            }
            if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
                if let [Value::Object(only)] = choices.as_slice() {
                    let only = only.clone();
                    object.remove("anyOf");
                    for (key, value) in only {
                        // The comment of the field says more about it than the comment of its type.
                        object.entry(key).or_insert(value);
                    }
                }
            }
            if let Some(Value::Array(kinds)) = object.get_mut("type") {
                kinds.retain(|kind| kind != "null");
                if let [only] = kinds.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
        }
        transform_subschemas(self, schema);
    }
}

/// A comment with one line for each paragraph and list item.
fn unwrapped(text: &str) -> String {
    let mut whole = String::new();
    let mut in_code = false;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        let stands_alone =
            in_code || is_fence || line.is_empty() || line.starts_with([' ', '-', '*', '|', '#', '>']);
        let is_numbered = line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        if !whole.is_empty() {
            let after_break = whole.ends_with('\n') || whole.ends_with("```");
            whole.push(if stands_alone || is_numbered || after_break { '\n' } else { ' ' });
        }
        whole.push_str(line);
        in_code ^= is_fence;
    }
    whole
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
