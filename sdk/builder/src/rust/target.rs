//! The two compilation targets that lead to a component.

use std::fmt;
use std::str::FromStr;

use crate::error::BuilderError;

/// What a Rust guest is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum GuestTarget {
    /// `wasm32-unknown-unknown`: no WASI at all. Components are small, start fastest and import nothing but what the
    /// extension contract offers; `std::fs`, `std::env` and the like answer "operation not supported".
    #[default]
    Unknown,
    /// `wasm32-wasip2`: the standard library works through WASI 0.2, as far as the user grants it. Larger, slower to
    /// start.
    Wasip2,
}

impl GuestTarget {
    /// Every target, the default first.
    pub const ALL: [Self; 2] = [Self::Unknown, Self::Wasip2];

    /// The name that rustc uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "wasm32-unknown-unknown",
            Self::Wasip2 => "wasm32-wasip2",
        }
    }

    /// The middle part of cargo's `CARGO_TARGET_…_LINKER` and `…_RUSTFLAGS` variables.
    pub(crate) fn env_part(self) -> &'static str {
        match self {
            Self::Unknown => "WASM32_UNKNOWN_UNKNOWN",
            Self::Wasip2 => "WASM32_WASIP2",
        }
    }
}

impl fmt::Display for GuestTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for GuestTarget {
    type Err = BuilderError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|target| target.as_str() == text)
            .ok_or_else(|| BuilderError::UnknownTarget { value: text.to_owned() })
    }
}

#[cfg(test)]
#[path = "target_tests.rs"]
mod tests;
