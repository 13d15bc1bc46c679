//! How large components are: what an author's first ones come to, in each engine. Nothing is timed.

use crate::Subject;
use crate::figure::{Figures, Unit};
use anyhow::{Context, Result};

/// Each figure, its guest, and the most bytes that it should have.
const GUESTS: [(&str, &str, Option<f64>); 4] = [
    ("size_hook", "minimal-gate.wasm", Some(40_000.0)),
    ("size_tool", "minimal-tool.wasm", Some(250_000.0)),
    ("size_javascript", "javascript-gate-quickjs.wasm", Some(1_300_000.0)),
    ("size_python", "python-everything.wasm", None),
];

/// Measures the sizes of the guests that are built.
pub(crate) fn measure(subject: &Subject, figures: &mut Figures) -> Result<()> {
    for (name, file, goal) in GUESTS {
        if !figures.wants("guest_size", name) {
            continue;
        }
        let path = subject.guests.join(file);
        if !path.is_file() {
            eprintln!("    {name}: left out, {} is not built", path.display());
            continue;
        }
        let bytes = path.metadata().with_context(|| format!("{} cannot be read", path.display()))?.len();
        // Far below what a float holds exactly.
        figures.values(name, Unit::Bytes, goal, vec![bytes as f64]);
    }
    Ok(())
}
