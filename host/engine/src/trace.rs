//! Where a guest trapped, in words.

use wasmtime::WasmBacktrace;

/// Frames of a trap that are shown, the innermost first.
const SHOWN_FRAMES: usize = 4;

/// Bytes of a function's type arguments that are shown; longer ones say less than the name alone.
const SHOWN_ARGUMENTS: usize = 24;

/// A function that was at work when a guest trapped.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    /// As its author wrote it.
    function: String,
    /// File and line, where the component says it.
    at: Option<String>,
}

/// The innermost functions, without the machinery between a panic and its trap, which is the same in every one. Where a component
/// says so, also those that the compiler has put into others, each with its file and line.
pub(crate) fn places(backtrace: &WasmBacktrace) -> Vec<String> {
    let mut places = Vec::new();
    for frame in backtrace.frames() {
        let before = places.len();
        places.extend(frame.symbols().iter().filter_map(|symbol| {
            let at = symbol.file().map(|file| match symbol.line() {
                Some(line) => format!("{}:{line}", shown_path(file)),
                None => shown_path(file).to_owned(),
            });
            Some(Place { function: function(symbol.name()?), at })
        }));
        if places.len() == before {
            places.extend(frame.func_name().map(|name| Place { function: function(name), at: None }));
        }
    }
    shown(places).iter().map(Place::to_string).collect()
}

fn shown(mut places: Vec<Place>) -> Vec<Place> {
    let authors = places.iter().position(|place| !is_machinery(place)).unwrap_or(0);
    places.drain(..authors);
    // What is called back through a library says nothing about the author's code either.
    places.retain(|place| place.at.is_none() || !is_machinery(place));
    places.truncate(SHOWN_FRAMES);
    places
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.at {
            Some(at) => write!(f, "{} at {at}", self.function),
            None => f.write_str(&self.function),
        }
    }
}

/// A function's name, without type arguments that would hide it.
fn function(name: &str) -> String {
    let name = format!("{:#}", rustc_demangle::demangle(name));
    match name.find('<') {
        Some(at) if at > 0 && name.len() - at > SHOWN_ARGUMENTS => format!("{}<…>", &name[..at]),
        _ => name,
    }
}

/// A path without what says nothing about the code: where cargo keeps what it has fetched, where a compiler was built.
fn shown_path(path: &str) -> &str {
    if let Some((_, below)) = path.split_once("/registry/src/") {
        return below.split_once('/').map_or(below, |(_registry, file)| file);
    }
    match path.strip_prefix("/rustc/") {
        Some(below) => below.split_once('/').map_or(below, |(_commit, file)| file),
        None => path,
    }
}

/// Functions of the standard libraries of Rust and C through which a panic or an exit ends.
fn is_machinery(place: &Place) -> bool {
    const PREFIXES: [&str; 5] = ["std::", "core::", "alloc::", "__rustc", "<"];
    const NAMES: [&str; 6] = ["abort", "exit", "_Exit", "exit_exit", "__wasilibc_exit", "rust_panic"];
    let name = place.function.as_str();
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || NAMES.contains(&name)
        || place.at.as_deref().is_some_and(|at| at.starts_with("library/"))
}

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;
