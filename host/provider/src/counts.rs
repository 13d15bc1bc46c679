//! Token counts as servers write them.

use serde_json::Value;

/// A count that is missing, negative or no number is zero; one too large is the largest. An answer does not fail
/// because its bill is odd.
pub(crate) fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| match value.as_f64() {
        // The cast saturates, also at zero.
        Some(number) if number.is_finite() => number as u64,
        Some(_) | None => 0,
    })
}

#[cfg(test)]
#[path = "counts_tests.rs"]
mod tests;
