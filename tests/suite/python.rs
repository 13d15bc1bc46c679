//! The parts of an extension in Python, each across the border of the sandbox, as its recorded cases say. Left out, with a line that says
//! so, where there is no Python to build it.

use anyhow::Result;
use capstan_tests::{probe, product, python};
use std::collections::BTreeSet;
use std::path::Path;

// One test, because a Python takes many seconds to compile and every home has a store of its own.
#[tokio::test]
async fn every_part_in_python_works_in_the_sandbox() -> Result<()> {
    if !python::is_installed() {
        eprintln!("left out: python3 with venv is not installed");
        return Ok(());
    }
    let component = probe::built_guest("python-everything")?;
    let component = component.to_string_lossy();
    let cases = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("guests/python-everything/python-everything.cases.toml")
        .to_string_lossy()
        .into_owned();
    let product = product!()?;
    let tested = product.run(&["ext", "test", &component, "--cases", &cases]).await?;
    assert_eq!(tested.code, Some(0), "{}\n{}", tested.stdout, tested.stderr);

    // A snapshot of a started Python would give the same numbers to all.
    let mut seen = BTreeSet::new();
    for _ in 0..3 {
        let thrown = product.run(&["ext", "run", &component, "--tool", "dice"]).await?.with_code(0);
        seen.insert(thrown.stdout);
    }
    assert_eq!(seen.len(), 3, "{seen:?}");
    Ok(())
}
