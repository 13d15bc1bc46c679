//! As much of addresses as requests need. The host judges them; this only takes them apart.

use super::Error;

/// An address, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Url<'a> {
    pub(crate) scheme: &'a str,
    pub(crate) authority: &'a str,
    /// With its slash, or empty.
    path: &'a str,
    /// With its question mark, or empty.
    query: &'a str,
}

impl<'a> Url<'a> {
    pub(crate) fn parse(text: &'a str) -> Result<Self, Error> {
        let invalid = |why: &str| Error::Invalid { what: "the address", why: format!("`{text}` {why}") };
        // White space at the ends comes from models and files; within, it would end the request line.
        if text.trim().chars().any(|character| character.is_whitespace() || character.is_control()) {
            return Err(invalid("has white space in it; write %20"));
        }
        let Some((scheme, rest)) = text.trim().split_once("://") else {
            return Err(invalid("does not begin with http:// or https://"));
        };
        if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
            return Err(invalid("does not begin with http:// or https://"));
        }
        let rest = rest.split_once('#').map_or(rest, |(before, _)| before);
        let (authority, path_and_query) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        if authority.is_empty() {
            return Err(invalid("has no host"));
        }
        let (path, query) = path_and_query.split_at(path_and_query.find('?').unwrap_or(path_and_query.len()));
        Ok(Self { scheme, authority, path, query })
    }

    /// Scheme, host and port, in lower case, without the scheme's own port.
    pub(crate) fn origin(&self) -> String {
        let scheme = self.scheme.to_ascii_lowercase();
        let own_port = if scheme == "http" { ":80" } else { ":443" };
        let authority = self.authority.to_ascii_lowercase();
        // What stands before an `@` may be a password.
        let host = authority.rsplit_once('@').map_or(authority.as_str(), |(_, host)| host);
        scheme + "://" + host.strip_suffix(own_port).unwrap_or(host)
    }

    /// What stands in the request line.
    #[cfg(any(test, target_arch = "wasm32"))]
    pub(crate) fn path_with_query(&self) -> String {
        let slash = if self.path.is_empty() { "/" } else { "" };
        [slash, self.path, self.query].concat()
    }

    /// The address that a `location` header names, seen from here.
    pub(crate) fn join(&self, location: &str) -> Result<String, Error> {
        let location = location.trim();
        let base = [self.scheme, "://", self.authority].concat();
        let whole = if Self::has_scheme(location) {
            location.to_owned()
        } else if location.starts_with("//") {
            [self.scheme, ":", location].concat()
        } else if location.starts_with('/') {
            base + location
        } else if location.is_empty() || location.starts_with(['?', '#']) {
            [base.as_str(), if self.path.is_empty() { "/" } else { self.path }, location].concat()
        } else {
            let folder = self.path.rfind('/').map_or("", |slash| &self.path[..slash]);
            base + &without_dots(&[folder, "/", location].concat())
        };
        Url::parse(&whole)?;
        Ok(whole)
    }

    fn has_scheme(location: &str) -> bool {
        let end = location.find([':', '/', '?', '#']).unwrap_or(location.len());
        end > 0 && location[end..].starts_with(':')
    }
}

/// A path with `.` and `..` carried out, up to a query or fragment.
fn without_dots(path: &str) -> String {
    let (path, rest) = path.split_at(path.find(['?', '#']).unwrap_or(path.len()));
    let mut kept: Vec<&str> = Vec::new();
    let mut is_folder = false;
    for part in path.split('/').skip(1) {
        is_folder = matches!(part, "." | "..");
        match part {
            "." => {}
            ".." => {
                kept.pop();
            }
            part => kept.push(part),
        }
    }
    ["/", &kept.join("/"), if is_folder && !kept.is_empty() { "/" } else { "" }, rest].concat()
}

#[cfg(test)]
#[path = "url_tests.rs"]
mod tests;
