//! YAML as JSON values. References within a document are refused: a few lines of them can stand for gigabytes.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// Lists and mappings within each other deeper than this are refused.
const MAX_LEVELS: usize = 64;

/// A list or a mapping that is not complete.
enum Open {
    List(Vec<Value>),
    /// With the key that waits for its value.
    Map(Map<String, Value>, Option<String>),
}

/// The first document of a text. An error names its line, from 1, and says what is wrong.
pub(crate) fn read(text: &str) -> Result<Value, (usize, String)> {
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| (error.marker().line(), error.info().to_owned()))?;
        let line = span.start.line();
        let complete = match event {
            Event::Scalar(text, style, ..) => match style {
                ScalarStyle::Plain => plain(&text),
                _ => Value::String(text.into_owned()),
            },
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() >= MAX_LEVELS => {
                return Err((line, format!("it is nested deeper than {MAX_LEVELS} levels")));
            }
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(Map::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(list)) => Value::Array(list),
                Some(Open::Map(map, _)) => Value::Object(map),
                None => continue,
            },
            Event::Alias(_) => return Err((line, "references such as `*name` are not read".to_owned())),
            Event::DocumentEnd => return Ok(Value::Null),
            _ => continue,
        };
        match open.last_mut() {
            None => return Ok(complete),
            Some(Open::List(list)) => list.push(complete),
            Some(Open::Map(map, key)) => match key.take() {
                Some(key) => {
                    map.insert(key, complete);
                }
                None => match complete {
                    Value::String(text) => *key = Some(text),
                    Value::Array(_) | Value::Object(_) => {
                        return Err((line, "a list or a mapping is no key".to_owned()));
                    }
                    other => *key = Some(other.to_string()),
                },
            },
        }
    }
    Ok(Value::Null)
}

/// Only what plans need: texts, and whether something is done.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" => Value::Null,
        "true" | "True" => Value::Bool(true),
        "false" | "False" => Value::Bool(false),
        _ => Value::String(text.to_owned()),
    }
}

#[cfg(test)]
#[path = "yaml_tests.rs"]
mod tests;
