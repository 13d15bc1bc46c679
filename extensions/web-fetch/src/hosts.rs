//! The hosts that this extension may ever be granted. What it can ask for is part of its bytes, so adding one makes an extension
//! of another digest, which the user is shown and allows anew.

use capstan_sdk::prelude::*;

/// Patterns as grants have them, and what each is for.
const HOSTS: [(&str, &str); 22] = [
    ("https://docs.rs", "Documentation of Rust crates."),
    ("https://doc.rust-lang.org", "Documentation of Rust and its standard library."),
    ("https://docs.python.org", "Documentation of Python and its standard library."),
    ("https://*.readthedocs.io", "Documentation that projects publish there."),
    ("https://developer.mozilla.org", "Documentation of the web's languages and interfaces."),
    ("https://nodejs.org", "Documentation of Node.js."),
    ("https://www.typescriptlang.org", "Documentation of TypeScript."),
    ("https://react.dev", "Documentation of React."),
    ("https://go.dev", "Documentation of Go."),
    ("https://pkg.go.dev", "Documentation of Go packages."),
    ("https://en.cppreference.com", "Documentation of C and C++."),
    ("https://docs.oracle.com", "Documentation of Java."),
    ("https://learn.microsoft.com", "Documentation of .NET, Windows and Azure."),
    ("https://docs.docker.com", "Documentation of Docker."),
    ("https://kubernetes.io", "Documentation of Kubernetes."),
    ("https://www.postgresql.org", "Documentation of PostgreSQL."),
    ("https://sqlite.org", "Documentation of SQLite."),
    ("https://man7.org", "Manual pages of Linux."),
    ("https://www.rfc-editor.org", "Standards of the internet."),
    ("https://en.wikipedia.org", "Articles of the encyclopedia."),
    ("https://github.com", "Pages of public repositories: files, issues, releases."),
    ("https://raw.githubusercontent.com", "Files of public repositories as they are."),
];

/// All of them, each optional: the tool works with those that the user allows.
pub(crate) fn requests() -> impl Iterator<Item = Request> {
    HOSTS.iter().map(|(pattern, reason)| Request::http(pattern, &["GET"], reason).optional())
}

/// Whether the user could allow this origin.
pub(crate) fn is_requested(origin: &str) -> bool {
    let host = origin.strip_prefix("https://");
    HOSTS.iter().any(|(pattern, _)| match pattern.strip_prefix("https://*") {
        Some(below) => host.is_some_and(|host| host.len() > below.len() && host.ends_with(below)),
        None => *pattern == origin,
    })
}

/// Their names, for an error text.
pub(crate) fn names() -> String {
    let names: Vec<&str> = HOSTS.iter().map(|(pattern, _)| pattern.trim_start_matches("https://")).collect();
    names.join(", ")
}
