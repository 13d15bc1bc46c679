//! What holds the shape of the project: who may depend on whom, and how large a file may grow.

use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

// 003-010
/// What each crate of the host may depend on, of the others (design: `ports ← policy, session, storage, provider, tools, engine,
/// agent, mcp`; `policy ← tools, engine, agent`; `agent ← runtime`; `cli` sees all).
const ARROWS: [(&str, &[&str]); 10] = [
    ("capstan-ports", &[]),
    ("capstan-policy", &["capstan-ports"]),
    ("capstan-session", &["capstan-ports"]),
    ("capstan-storage", &["capstan-ports"]),
    ("capstan-provider", &["capstan-ports"]),
    ("capstan-tools", &["capstan-ports", "capstan-policy"]),
    ("capstan-engine", &["capstan-ports", "capstan-policy"]),
    ("capstan-agent", &["capstan-ports", "capstan-policy"]),
    ("capstan-runtime", &["capstan-ports", "capstan-agent"]),
    ("capstan-mcp", &["capstan-ports"]),
];

/// Crates that only one crate of the host may link, or two that use it for different things: hyper sends what components ask
/// for, and serves MCP clients.
const DOORS: [(&str, &[&str]); 8] = [
    ("wasmtime", &["capstan-engine"]),
    ("wasmtime-wasi", &["capstan-engine"]),
    ("wasmtime-wasi-http", &["capstan-engine"]),
    ("hyper", &["capstan-engine", "capstan-mcp"]),
    ("rusqlite", &["capstan-storage"]),
    ("reqwest", &["capstan-provider"]),
    ("rmcp", &["capstan-mcp"]),
    ("clap", &["capstan-cli"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Dependencies of each workspace member, dev-dependencies left out.
fn dependencies() -> Result<BTreeMap<String, BTreeSet<String>>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()?;
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().context("packages")?;
    Ok(packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().into_iter().flatten();
            let names = dependencies
                .filter(|dependency| dependency["kind"] != "dev")
                .filter_map(|dependency| dependency["name"].as_str().map(str::to_owned));
            (package["name"].as_str().unwrap_or_default().to_owned(), names.collect())
        })
        .collect())
}

// 001-020: the agent, and with it the messages that it knows, are built without anything that keeps or shows them.
#[test]
fn crates_depend_only_along_the_arrows() -> Result<()> {
    let dependencies = dependencies()?;
    for (package, allowed) in ARROWS {
        let found = dependencies.get(package).with_context(|| format!("{package} is no member"))?;
        let ours: Vec<_> = found.iter().filter(|name| name.starts_with("capstan-")).collect();
        for name in ours {
            assert!(allowed.contains(&name.as_str()), "{package} must not depend on {name}");
        }
    }
    Ok(())
}

#[test]
fn each_heavy_dependency_has_its_door() -> Result<()> {
    // The suites may link anything.
    for (package, found) in dependencies()?.into_iter().filter(|(package, _)| package != "capstan-tests") {
        for (heavy, doors) in DOORS {
            let may = doors.contains(&package.as_str());
            assert!(
                may || !found.contains(heavy),
                "{package} links {heavy}; only {} may",
                doors.join(" and ")
            );
        }
    }
    Ok(())
}

/// Files that git knows or would know, with this ending.
fn files(ending: &str) -> Result<Vec<PathBuf>> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()?;
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let listed = String::from_utf8(output.stdout)?;
    Ok(listed
        .lines()
        .filter(|name| name.ends_with(ending))
        .map(|name| root().join(name))
        .filter(|path| path.is_file())
        .collect())
}

#[test]
fn no_source_file_is_longer_than_600_lines() -> Result<()> {
    let sources = files(".rs")?;
    assert!(sources.len() > 50, "the sources were not found");
    for path in sources {
        // Generated from the contract, never read as a whole.
        if path.to_string_lossy().contains("/bindings/") {
            continue;
        }
        let lines = std::fs::read_to_string(&path)?.lines().count();
        assert!(lines <= 600, "{} has {lines} lines; split it by concern", path.display());
    }
    Ok(())
}

#[test]
fn nothing_that_was_built_is_committed() -> Result<()> {
    for ending in [".wasm", ".cwasm", ".so", ".a", ".o"] {
        assert_eq!(files(ending)?, Vec::<PathBuf>::new(), "{ending}");
    }
    Ok(())
}

#[test]
fn unsafe_code_is_only_where_the_design_allows_it() -> Result<()> {
    for path in files(".rs")? {
        let text = path.to_string_lossy().into_owned();
        // The cache loads compiled code; the guests' allocator and generated bindings are in the SDK.
        if text.ends_with("engine/src/cache.rs")
            || text.contains("/sdk/rust/")
            || text.ends_with("architecture.rs")
        {
            continue;
        }
        let source = std::fs::read_to_string(&path)?;
        let code =
            source.lines().any(|line| !line.trim_start().starts_with("//") && line.contains("unsafe {"));
        assert!(!code, "{}", path.display());
    }
    Ok(())
}

// 004-161: what CI runs builds everything without warnings, the documentation too.
#[test]
fn ci_denies_warnings_of_compiler_lints_and_documentation() -> Result<()> {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).with_context(|| name.to_owned());
    assert!(read(".ci/run")?.lines().any(|line| line.trim() == "cargo xtask test"));
    let tasks = read(".cargo/xtask/src/tests.rs")?;
    let lint = tasks.split_once("pub(crate) fn lint(").context("the lints")?.1;
    let lint = lint.split_once("\n}\n").context("their end")?.0;
    for needed in ["\"clippy\", \"--workspace\", \"--all-targets\"", "\"--deny\"", "\"doc\", \"--workspace\""]
    {
        assert!(lint.contains(needed), "{needed}");
    }
    assert!(tasks.matches("lint(workspace)").count() >= 1, "the tests begin with the lints");
    Ok(())
}

// 004-162: what the documents say of each other is there.
#[test]
fn every_link_within_the_project_leads_somewhere() -> Result<()> {
    let mut n_links = 0;
    for path in files(".md")? {
        let text = std::fs::read_to_string(&path)?;
        let folder = path.parent().context("a folder")?;
        // Only what stands outside of code is a link.
        let prose = text.split("```").step_by(2).collect::<String>();
        for link in prose.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(link, _)| link)) {
            let target = link.split_once('#').map_or(link, |(target, _)| target);
            if target.is_empty() || target.contains("://") || target.contains(char::is_whitespace) {
                continue;
            }
            n_links += 1;
            assert!(folder.join(target).exists(), "{}: {link} leads nowhere", path.display());
        }
    }
    assert!(n_links > 10, "the links were not found");
    Ok(())
}

// 001-178: what seed 001 keeps apart is apart here, and each part has its tests.
#[test]
fn entries_contexts_sessions_tools_extensions_and_the_agent_session_are_modules_of_their_own() -> Result<()> {
    let host = root().join("host");
    let read = |file: &str| std::fs::read_to_string(host.join(file)).with_context(|| file.to_owned());
    let parts = [
        // Types and messages. What an entry says to a model is all there is to test of one.
        ("ports/src/lib.rs", "entry", None),
        ("ports/src/entry.rs", "context", Some("ports/src/entry/context_tests.rs")),
        // The session manager.
        ("session/src/lib.rs", "tree", Some("session/src/tree_tests.rs")),
        ("session/src/lib.rs", "file", Some("session/src/file_tests.rs")),
        ("tools/src/lib.rs", "tools", Some("tools/src/lib_tests.rs")),
        // Extensions, and the agent in a session.
        ("agent/src/lib.rs", "extension", None),
        ("agent/src/lib.rs", "extension_runtime", Some("agent/src/extension_runtime_tests.rs")),
        ("agent/src/lib.rs", "session", Some("agent/src/session_tests.rs")),
    ];
    for (parent, module, tests) in parts {
        assert!(read(parent)?.contains(&format!("mod {module};")), "{parent} has no module {module}");
        if let Some(tests) = tests {
            assert!(read(tests)?.contains("fn "), "{tests} tests nothing");
        }
    }
    Ok(())
}

// 000-188
#[test]
fn queue_loop_agent_and_state_are_modules_of_their_own_each_with_its_tests() -> Result<()> {
    let source = root().join("host/agent/src");
    let read = |file: &str| std::fs::read_to_string(source.join(file)).with_context(|| file.to_owned());
    let modules = read("lib.rs")?;
    for module in ["queue", "run", "agent", "state"] {
        assert!(modules.contains(&format!("mod {module};")), "{module} is no module of its own");
        let tests = format!("{module}_tests.rs");
        assert!(read(&format!("{module}.rs"))?.contains(&format!("#[path = \"{tests}\"]")), "{module}");
        assert!(read(&tests)?.contains("fn "), "{tests} tests nothing");
    }
    Ok(())
}

// 003-160
#[test]
fn the_licence_is_there_and_every_package_names_it() -> Result<()> {
    let text = std::fs::read_to_string(root().join("LICENSE"))?;
    assert!(text.contains("Apache License") && text.contains("Version 2.0"));
    let output = Command::new("git").args(["ls-files", "*Cargo.toml"]).current_dir(root()).output()?;
    let manifests = String::from_utf8(output.stdout)?;
    assert!(manifests.lines().count() > 15, "{manifests}");
    for manifest in manifests.lines() {
        let text = std::fs::read_to_string(root().join(manifest))?;
        let names =
            ["license = \"Apache-2.0\"", "license.workspace = true"].iter().any(|line| text.contains(line));
        assert!(names, "{manifest} names no licence");
    }
    Ok(())
}
