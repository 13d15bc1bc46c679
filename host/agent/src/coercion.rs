//! Converts argument values of the wrong type where nothing is lost.
//!
//! The validator's own errors say where to look and which type was expected, so `$ref`, `allOf` and conditional
//! schemas need no second interpretation here. Values that are valid already are never touched.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError, Validator};
use serde_json::{Map, Number, Value};

/// One conversion can uncover the next (a list that came as text holds numbers that came as text); real arguments
/// need two or three passes.
const MAX_PASSES: usize = 4;

/// Conversions of one pass; a bound for absurd input, not for real calls.
const MAX_FIXES: usize = 256;

/// `value` with every conversion applied that helps; possibly still invalid.
pub(crate) fn coerce(validator: &Validator, schema: &Value, mut value: Value) -> Value {
    for _ in 0..MAX_PASSES {
        let fixes: Vec<Fix> = validator
            .iter_errors(&value)
            .take(MAX_FIXES)
            .flat_map(|error| fixes_for(&error, schema))
            .collect();
        if fixes.is_empty() {
            break;
        }
        for fix in fixes {
            fix.apply(&mut value);
        }
        if validator.is_valid(&value) {
            break;
        }
    }
    value
}

/// A change at a JSON pointer.
struct Fix {
    pointer: String,
    /// `None` removes an optional property.
    replacement: Option<Value>,
}

impl Fix {
    fn apply(self, root: &mut Value) {
        match self.replacement {
            Some(value) => {
                if let Some(place) = root.pointer_mut(&self.pointer) {
                    *place = value;
                }
            }
            None => {
                if let Some((parent, name)) = self.pointer.rsplit_once('/')
                    && let Some(Value::Object(object)) = root.pointer_mut(parent)
                {
                    object.shift_remove(&unescape(name));
                }
            }
        }
    }
}

/// What would cure `error`; empty when nothing can.
fn fixes_for(error: &ValidationError<'_>, schema: &Value) -> Vec<Fix> {
    match error.kind() {
        ValidationErrorKind::Type { kind } => type_fix(error, kind, schema).into_iter().collect(),
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => context
            .iter()
            .find_map(|branch| {
                let fixes: Vec<Vec<Fix>> = branch.iter().map(|error| fixes_for(error, schema)).collect();
                let cures = !fixes.is_empty() && fixes.iter().all(|fixes| !fixes.is_empty());
                cures.then(|| fixes.into_iter().flatten().collect())
            })
            .unwrap_or_default(),
        _ => Vec::new(),
    }
}

fn type_fix(error: &ValidationError<'_>, kind: &TypeKind, schema: &Value) -> Option<Fix> {
    let pointer = error.instance_path().as_str().to_owned();
    let replacement = match error.instance().as_ref() {
        Value::Null => return null_fix(pointer, error.schema_path().as_str(), schema),
        Value::String(text) => ORDER.iter().filter(|t| expects(kind, **t)).find_map(|t| from_text(text, *t)),
        scalar @ (Value::Number(_) | Value::Bool(_)) => {
            expects(kind, JsonType::String).then(|| Value::String(scalar.to_string()))
        }
        Value::Array(_) | Value::Object(_) => None,
    };
    replacement.map(|value| Fix { pointer, replacement: Some(value) })
}

/// The narrowest reading of a text comes first.
const ORDER: [JsonType; 5] =
    [JsonType::Integer, JsonType::Number, JsonType::Boolean, JsonType::Array, JsonType::Object];

fn expects(kind: &TypeKind, wanted: JsonType) -> bool {
    match kind {
        TypeKind::Single(single) => *single == wanted,
        TypeKind::Multiple(several) => several.iter().any(|one| one == wanted),
    }
}

fn from_text(text: &str, wanted: JsonType) -> Option<Value> {
    let text = text.trim();
    match wanted {
        JsonType::Integer => integer(text).map(Value::Number),
        JsonType::Number => integer(text).or_else(|| Number::from_f64(text.parse().ok()?)).map(Value::Number),
        JsonType::Boolean => text.parse().ok().map(Value::Bool),
        // Some models write nested JSON as a text.
        JsonType::Array => serde_json::from_str::<Vec<Value>>(text).ok().map(Value::Array),
        JsonType::Object => serde_json::from_str::<Map<String, Value>>(text).ok().map(Value::Object),
        JsonType::Null | JsonType::String => None,
    }
}

fn integer(text: &str) -> Option<Number> {
    text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from)).ok()
}

/// A null where none is allowed means "not given": the default, or nothing at all for an optional property.
fn null_fix(pointer: String, schema_path: &str, schema: &Value) -> Option<Fix> {
    let node_path = schema_path.strip_suffix("/type")?;
    if let Some(default) = schema.pointer(node_path).and_then(|node| node.get("default")) {
        return Some(Fix { pointer, replacement: Some(default.clone()) });
    }
    let (object_path, name) = node_path.rsplit_once("/properties/")?;
    let name = unescape(name);
    let owner = schema.pointer(object_path)?;
    let required = owner.get("required").and_then(Value::as_array);
    let is_required = required.is_some_and(|names| names.iter().any(|n| n.as_str() == Some(&name)));
    (!is_required).then_some(Fix { pointer, replacement: None })
}

fn unescape(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}
