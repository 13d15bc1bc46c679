//! The contract's WIT files, for build tools of languages that generate their bindings anew in each build.

use std::fs;
use std::path::Path;

use crate::error::BuilderError;

/// The files of `wit/v0.1` by their names.
const FILES: [(&str, &str); 6] = [
    ("types.wit", include_str!("../../../wit/v0.1/types.wit")),
    ("descriptor.wit", include_str!("../../../wit/v0.1/descriptor.wit")),
    ("host.wit", include_str!("../../../wit/v0.1/host.wit")),
    ("hooks.wit", include_str!("../../../wit/v0.1/hooks.wit")),
    ("roles.wit", include_str!("../../../wit/v0.1/roles.wit")),
    ("worlds.wit", include_str!("../../../wit/v0.1/worlds.wit")),
];

/// Writes them into an empty folder.
pub(crate) fn write(folder: &Path) -> Result<(), BuilderError> {
    fs::create_dir_all(folder).map_err(BuilderError::io("create", folder))?;
    for (name, text) in FILES {
        let file = folder.join(name);
        fs::write(&file, text).map_err(BuilderError::io("write", file))?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "contract_tests.rs"]
mod tests;
