//! Languages with bodies in braces and declarations that begin with a word.

use super::{first_words, signature};

/// `pub(crate) async unsafe fn name(…)` and the other items.
pub(super) fn rust(line: &str) -> Option<String> {
    const MODIFIERS: [&str; 10] =
        ["pub", "crate", "super", "in", "self", "async", "unsafe", "extern", "default", "C"];
    const ITEMS: [&str; 11] =
        ["fn", "struct", "enum", "trait", "impl", "mod", "type", "static", "union", "macro_rules!", "const"];
    if line.starts_with(['/', '#', '}', '"']) {
        return None;
    }
    let item = first_words(line).find(|word| !MODIFIERS.contains(word))?;
    let found = ITEMS.contains(&item)
        && starts_as_declaration(line, &["pub", "async", "unsafe", "extern", "default"], &ITEMS);
    found.then(|| signature(line, &[" {", "{", ";", " =", " where"]))
}

/// `func`, `type`, and single `const` and `var`.
pub(super) fn go(line: &str) -> Option<String> {
    let word = first_words(line).next()?;
    let found =
        matches!(word, "func" | "type" | "const" | "var") && line.starts_with(word) && !line.ends_with('(');
    found.then(|| match word {
        // The body of `type T struct {` starts at the brace; a function's parameters may hold `struct{}`.
        "type" => signature(line, &[" {", "{"]),
        "func" => signature(line, &[" {"]),
        _ => signature(line, &[" =", "{"]),
    })
}

/// Types, namespaces, macros with parameters, and definitions of functions.
pub(super) fn c(line: &str) -> Option<String> {
    const TYPES: [&str; 6] = ["struct", "class", "union", "enum", "namespace", "typedef"];
    const NO_FUNCTIONS: [&str; 11] =
        ["if", "for", "while", "switch", "return", "else", "do", "case", "using", "goto", "static_assert"];
    if let Some(rest) = line.strip_prefix("#define ") {
        let name = first_words(rest).next()?;
        // What stands before the first word makes it no macro's name.
        return rest.trim_start().strip_prefix(name)?.starts_with('(').then(|| format!("#define {name}(…)"));
    }
    if line.starts_with(['#', '/', '}', '{', '*', '"', ')']) {
        return None;
    }
    let first = first_words(line).next()?;
    if !line.starts_with(first) || NO_FUNCTIONS.contains(&first) {
        return None;
    }
    if first == "template" || line.trim_end().ends_with(':') {
        return None;
    }
    let open = line.find('(');
    let is_type = first_words(line).take(3).any(|word| TYPES.contains(&word)) && open.is_none();
    if is_type {
        // Without a body it is only a mention, except for `typedef`.
        let counts = line.contains('{') || !line.trim_end().ends_with(';') || first == "typedef";
        return counts.then(|| signature(line, &[" {", "{", ";"]));
    }
    let open = open?;
    // A prototype ends in `;`, and an initialised variable has `=` before its call.
    let is_function = !line.trim_end().ends_with(';')
        && !line[..open].contains('=')
        && line[..open]
            .trim_end()
            .ends_with(|last: char| last.is_alphanumeric() || last == '_' || last == ')')
        && (line[..open].split_whitespace().count() > 1 || line.contains("::"));
    is_function.then(|| signature(line, &[" {", "{"]))
}

/// Classes, interfaces, enums, records and annotations.
pub(super) fn java(line: &str) -> Option<String> {
    const MODIFIERS: [&str; 9] =
        ["public", "protected", "private", "abstract", "final", "static", "sealed", "non", "strictfp"];
    const TYPES: [&str; 5] = ["class", "interface", "enum", "record", "@interface"];
    if line.starts_with(['/', '*', '}']) {
        return None;
    }
    let word = first_words(line).find(|word| !MODIFIERS.contains(word))?;
    let found = TYPES.contains(&word) && starts_as_declaration(line, &MODIFIERS, &TYPES);
    found.then(|| signature(line, &[" {", "{"]))
}

/// Whether the first word of the line is one that can begin a declaration.
fn starts_as_declaration(line: &str, modifiers: &[&str], items: &[&str]) -> bool {
    first_words(line).next().is_some_and(|first| {
        line.starts_with(first) && (modifiers.contains(&first) || items.contains(&first))
    })
}
