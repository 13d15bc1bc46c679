//! Prints what a component imports and exports.

use std::fs;
use std::path::Path;

use wit_component::DecodedWasm;

use crate::error::Error;

/// Prints name, size, imports and exports of one file.
pub(crate) fn print(path: &Path) -> Result<(), Error> {
    let bytes = fs::read(path).map_err(|source| Error::Read { path: path.to_path_buf(), source })?;
    let decoded = wit_component::decode(&bytes)
        .map_err(|source| Error::Component { path: path.to_path_buf(), source: source.into() })?;
    let DecodedWasm::Component(resolve, world) = decoded else {
        return Err(Error::Component { path: path.to_path_buf(), source: "it holds a WIT package".into() });
    };
    println!("{}: {} bytes", path.display(), bytes.len());
    let world = &resolve.worlds[world];
    for key in world.imports.keys() {
        println!("  import {}", resolve.name_world_key(key));
    }
    for key in world.exports.keys() {
        println!("  export {}", resolve.name_world_key(key));
    }
    Ok(())
}
