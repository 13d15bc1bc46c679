//! Which capabilities are shown by a test: the ids in `tests/acceptance.tsv` against those that the sources name.

use crate::extensions;
use crate::run::Workspace;
use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// One line of the list.
struct Capability<'a> {
    id: &'a str,
    what: &'a str,
    later: bool,
}

/// Prints covered and total for each seed. Fails on an id that no test names, on one that is marked `later` and is named, and
/// on one that is named and not in the list.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let list = workspace.path("tests/acceptance.tsv");
    let text =
        std::fs::read_to_string(&list).with_context(|| format!("{} cannot be read", list.display()))?;
    let capabilities = parse(&text)?;
    let mut named = BTreeSet::new();
    for folder in ["host", "tests", "sdk", "extensions"] {
        extensions::each_source(&workspace.path(folder), &mut |path: &Path, source: &str| {
            if path.ends_with("contract.rs") && path.to_string_lossy().contains("bindings") {
                return;
            }
            named.extend(ids(source).map(str::to_owned));
        })?;
    }
    let mut seeds: BTreeMap<&str, (usize, usize, usize)> = BTreeMap::new();
    let mut problems = Vec::new();
    for capability in &capabilities {
        let covered = named.remove(capability.id);
        let seed = capability.id.split_once('-').map_or("", |(seed, _)| seed);
        let (n_covered, total, later) = seeds.entry(seed).or_default();
        *total += 1;
        *n_covered += usize::from(covered);
        *later += usize::from(capability.later);
        match (covered, capability.later) {
            (false, false) => problems.push(format!("no test names {}: {}", capability.id, capability.what)),
            (true, true) => problems.push(format!("{} is shown now: take its `later` away", capability.id)),
            (true, false) | (false, true) => {}
        }
    }
    problems.extend(named.iter().map(|id| format!("{id} is named by a test and not in {}", list.display())));
    for (seed, (covered, total, later)) in &seeds {
        println!("{seed:>4}  {covered:>3} of {total:>3} shown, {later:>3} later");
    }
    if problems.is_empty() { Ok(()) } else { bail!("{}", problems.join("\n")) }
}

fn parse(text: &str) -> Result<Vec<Capability<'_>>> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| {
            let mut columns = line.split('\t');
            let (id, what) =
                columns.next().zip(columns.next()).with_context(|| format!("no capability: {line}"))?;
            match columns.next() {
                None | Some("") => Ok(Capability { id, what, later: false }),
                Some("later") => Ok(Capability { id, what, later: true }),
                Some(other) => bail!("{id}: `{other}` is no state"),
            }
        })
        .collect()
}

/// Ids in comments and names: three digits or `X`, a dash, two or three digits, and nothing of a word around them.
fn ids(source: &str) -> impl Iterator<Item = &str> {
    let lines = source.lines().filter_map(|line| line.split_once("//").map(|(_, comment)| comment));
    lines.flat_map(|comment| {
        comment.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').filter(|word| {
            word.split_once('-').is_some_and(|(seed, number)| {
                let seed_fits = seed == "X" || ["000", "001", "003", "004"].contains(&seed);
                let wanted = if seed == "X" { 2 } else { 3 };
                seed_fits && number.len() == wanted && number.bytes().all(|b| b.is_ascii_digit())
            })
        })
    })
}
