//! The file that a build hands over: a component, and never half of one.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::{ArtifactKind, BuilderError};

/// What a file is, by its first bytes.
pub(crate) fn kind_of(path: &Path) -> Result<ArtifactKind, BuilderError> {
    let mut head = Vec::with_capacity(8);
    File::open(path)
        .and_then(|file| file.take(8).read_to_end(&mut head))
        .map_err(BuilderError::io("read", path))?;
    Ok(classify(&head))
}

/// Both kinds share the magic number; the version field of a component has a layer of one.
pub(crate) fn classify(head: &[u8]) -> ArtifactKind {
    match head {
        [0, b'a', b's', b'm', 0x0d, 0, 1, 0, ..] => ArtifactKind::Component,
        [0, b'a', b's', b'm', 1, 0, 0, 0, ..] => ArtifactKind::CoreModule,
        _ => ArtifactKind::Other,
    }
}

/// Copies in two steps: a reader of `out_dir` sees the old file or the new one.
pub(crate) fn publish(artifact: &Path, out_dir: &Path, name: &str) -> Result<(PathBuf, u64), BuilderError> {
    fs::create_dir_all(out_dir).map_err(BuilderError::io("create", out_dir))?;
    // Without the `.wasm` ending, so that a watching host does not take it for an extension.
    let mut copy = tempfile::Builder::new()
        .prefix(&format!(".{name}-"))
        .suffix(".part")
        .tempfile_in(out_dir)
        .map_err(BuilderError::io("create a file in", out_dir))?;
    let mut built = File::open(artifact).map_err(BuilderError::io("read", artifact))?;
    let bytes = io::copy(&mut built, &mut copy).map_err(BuilderError::io("write", copy.path()))?;
    // Temporary files are private to the user; an extension is as readable as its project.
    let permissions =
        built.metadata().map(|meta| meta.permissions()).map_err(BuilderError::io("read", artifact))?;
    fs::set_permissions(copy.path(), permissions)
        .map_err(BuilderError::io("set the mode of", copy.path()))?;
    let wasm = out_dir.join(name);
    copy.persist(&wasm).map_err(|error| BuilderError::io("rename a new file to", &wasm)(error.error))?;
    Ok((wasm, bytes))
}

#[cfg(test)]
#[path = "component_tests.rs"]
mod tests;
