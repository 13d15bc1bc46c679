//! The contract does not change by accident: a component that was built against an interface finds it as it was.

use anyhow::{Context, Result};
use similar::TextDiff;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use wit_component::WitPrinter;
use wit_parser::Resolve;

/// Set to write the record anew. Right before a release of a new interface; never for one that is published.
const RECORD: &str = "CAPSTAN_RECORD_CONTRACT";

fn path(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(below)
}

/// The contract as the parser understands it, without comments, so that better words are no change.
fn canonical() -> Result<String> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(path("../wit/v0.1"))?;
    let mut printer = WitPrinter::default();
    printer.emit_docs(false);
    printer.print(&resolve, package, &[])?;
    Ok(printer.output.to_string())
}

/// Interfaces and worlds by name.
fn parts(text: &str) -> BTreeMap<String, String> {
    let mut parts = BTreeMap::new();
    let mut name = None;
    for line in text.lines() {
        if let Some(head) = line.strip_suffix(" {").filter(|_| !line.starts_with(' ')) {
            name = Some(head.to_owned());
        }
        if let Some(name) = &name {
            // Writing to a string does not fail.
            let _infallible = writeln!(parts.entry(name.clone()).or_insert_with(String::new), "{line}");
        }
        if line == "}" {
            name = None;
        }
    }
    parts
}

fn hash(text: &str) -> String {
    // Not for secrecy: it only has to be short and to notice every change.
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
        .to_string()
}

fn hashes(text: &str) -> String {
    parts(text).iter().map(|(name, part)| format!("{name} {}\n", hash(part))).collect()
}

#[test]
fn no_interface_changed_since_it_was_recorded() -> Result<()> {
    let (text_file, hash_file) = (path("golden/contract-0.1.wit"), path("golden/contract-0.1.hashes"));
    let now = canonical()?;
    if std::env::var_os(RECORD).is_some() {
        std::fs::write(&text_file, &now)?;
        std::fs::write(&hash_file, hashes(&now))?;
        return Ok(());
    }
    let recorded = std::fs::read_to_string(&hash_file).with_context(|| format!("{}", hash_file.display()))?;
    if recorded == hashes(&now) {
        return Ok(());
    }
    let before = std::fs::read_to_string(&text_file)?;
    let diff = TextDiff::from_lines(&before, &now)
        .unified_diff()
        .context_radius(4)
        .header("recorded", "now")
        .to_string();
    panic!(
        "the contract changed:\n{diff}\nComponents that were built against it may stop loading. Add a new interface instead, \
         or, before 0.1.0 is released, record the change with {RECORD}=1 cargo test -p capstan-tests contract"
    );
}

#[test]
fn the_record_holds_every_interface_with_its_functions() -> Result<()> {
    let parts = parts(&canonical()?);
    for interface in capstan_engine::Interface::ALL {
        let text = parts.get(&format!("interface {}", interface.name())).context(interface.name())?;
        assert!(text.contains(": func("), "{text}");
    }
    for world in ["tool", "gate", "tool-hooks", "planner", "compaction", "everything"] {
        assert!(parts.contains_key(&format!("world {world}")), "{world}");
    }
    Ok(())
}

#[test]
fn every_type_and_function_of_the_contract_is_documented() -> Result<()> {
    for file in std::fs::read_dir(path("../wit/v0.1"))? {
        let file = file?.path();
        let text = std::fs::read_to_string(&file)?;
        let mut documented = false;
        for (n, line) in text.lines().enumerate() {
            let line = line.trim();
            let item = ["interface ", "world ", "record ", "variant ", "enum "]
                .iter()
                .any(|kind| line.starts_with(kind));
            assert!(
                !item || documented || !line.starts_with("interface"),
                "{}:{}: {line}",
                file.display(),
                n + 1
            );
            documented = line.starts_with("///") || (documented && line.starts_with('@'));
        }
    }
    Ok(())
}
