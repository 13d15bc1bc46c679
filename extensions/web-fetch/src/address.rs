//! Addresses of pages, as far as a reader of pages needs them.

/// What a reference means on a page, as browsers resolve it. The fragment stays.
pub(crate) fn join(base: &str, reference: &str) -> String {
    let reference = reference.trim();
    if has_scheme(reference) {
        return reference.to_owned();
    }
    let (scheme, rest) = base.split_once("://").unwrap_or(("https", base));
    if let Some(rest) = reference.strip_prefix("//") {
        return format!("{scheme}://{rest}");
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    if reference.is_empty() {
        return without_fragment(base).to_owned();
    }
    if reference.starts_with('#') {
        return format!("{}{reference}", without_fragment(base));
    }
    if reference.starts_with('?') {
        let path = if path.is_empty() { "/" } else { path };
        return format!("{scheme}://{authority}{path}{reference}");
    }
    let end = reference.find(['?', '#']).unwrap_or(reference.len());
    let (wanted, query) = reference.split_at(end);
    let full = if wanted.starts_with('/') {
        wanted.to_owned()
    } else {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        format!("{folder}/{wanted}")
    };
    format!("{scheme}://{authority}{}{query}", without_dots(&full))
}

/// An address without what follows `#`, which is never sent.
pub(crate) fn without_fragment(address: &str) -> &str {
    address.split('#').next().unwrap_or_default()
}

/// `scheme://host[:port]` of an address, in lower case.
pub(crate) fn origin(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    let authority = rest.split(['/', '?', '#', '\\']).next().filter(|authority| !authority.is_empty())?;
    Some(format!("{scheme}://{authority}").to_ascii_lowercase())
}

fn has_scheme(reference: &str) -> bool {
    let Some((scheme, _)) = reference.split_once(':') else { return false };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

fn without_dots(path: &str) -> String {
    let mut steps: Vec<&str> = Vec::new();
    let all: Vec<&str> = path.split('/').skip(1).collect();
    let last = all.len().saturating_sub(1);
    for (at, step) in all.into_iter().enumerate() {
        match step {
            "." | ".." => {
                if step == ".." {
                    steps.pop();
                }
                if at == last {
                    steps.push("");
                }
            }
            step => steps.push(step),
        }
    }
    format!("/{}", steps.join("/"))
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
