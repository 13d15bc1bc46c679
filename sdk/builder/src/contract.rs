//! The contract, for languages whose tools read it: carried along, so that no SDK needs a copy.

use std::fs;
use std::path::Path;

use crate::error::BuilderError;

macro_rules! files {
    ($($name:literal),+) => { [$(($name, include_str!(concat!("../../../wit/v0.1/", $name)))),+] };
}

/// Every file of the contract with its text.
const FILES: [(&str, &str); 6] =
    files!("descriptor.wit", "hooks.wit", "host.wit", "roles.wit", "types.wit", "worlds.wit");

/// Writes the contract's files into a folder, which is made.
pub(crate) fn write_to(folder: &Path) -> Result<(), BuilderError> {
    fs::create_dir_all(folder).map_err(BuilderError::io("create", folder))?;
    for (name, text) in FILES {
        let path = folder.join(name);
        fs::write(&path, text).map_err(BuilderError::io("write", path))?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "contract_tests.rs"]
mod tests;
