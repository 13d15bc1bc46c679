//! The type sections from which the component linker learns what a component exports.
//!
//! A section demands every export of the world it describes. The SDK must export exactly the interfaces that an author
//! used, so there is one section for each interface; the linker unites those that a component carries.

use std::fmt::Write as _;

use wit_bindgen_core::wit_parser::{Resolve, World, WorldItem};
use wit_component::StringEncoding;

use crate::contract::Contract;
use crate::error::Error;

/// The export that every component has. Its section also carries the imports; the linker drops the unused ones.
const BASE: &str = "extension";

const HEADER: &str = "// Generated from wit/ by sdk/rust/bindgen: run `cargo run` there, do not edit.
//! One encoded world for each interface that an extension can export.
";

/// Rust source with one constant for each exported interface.
pub(crate) fn generate(contract: &Contract) -> Result<String, Error> {
    let mut text = HEADER.to_owned();
    for name in exports(contract) {
        constant(&mut text, &name, &section(contract, &name)?);
    }
    Ok(text)
}

/// The names of all interfaces that the contract lets an extension export.
fn exports(contract: &Contract) -> Vec<String> {
    let items = contract.resolve.worlds[contract.world].exports.values();
    items.filter_map(|item| name_of(&contract.resolve, item)).collect()
}

fn name_of(resolve: &Resolve, item: &WorldItem) -> Option<String> {
    let WorldItem::Interface { id, .. } = item else { return None };
    resolve.interfaces[*id].name.clone()
}

/// A world that exports one interface, encoded for the linker.
fn section(contract: &Contract, name: &str) -> Result<Vec<u8>, Error> {
    let mut resolve = contract.resolve.clone();
    let mut world: World = resolve.worlds[contract.world].clone();
    world.exports.retain(|_, item| name_of(&resolve, item).as_deref() == Some(name));
    if name != BASE {
        // What is left has only types, which the exported interface uses.
        world.imports.retain(|_, item| match item {
            WorldItem::Interface { id, .. } => resolve.interfaces[*id].functions.is_empty(),
            WorldItem::Function(_) | WorldItem::Type { .. } => false,
        });
    }
    world.name = format!("{name}-export");
    let world = resolve.worlds.alloc(world);
    wit_component::metadata::encode(&resolve, world, StringEncoding::UTF8, None)
        .map_err(|source| Error::Generate { source: source.into() })
}

fn constant(text: &mut String, name: &str, bytes: &[u8]) {
    let constant = name.to_uppercase().replace('-', "_");
    // Writing into a `String` cannot fail.
    let _written = write!(
        text,
        "\n/// A component that exports `{name}`.\n#[rustfmt::skip]\npub const {constant}: [u8; {}] = *b\"\\\n",
        bytes.len()
    );
    let mut width = 0;
    for byte in bytes {
        let escaped = byte.escape_ascii().to_string();
        // A space at the start of a line would be swallowed by the line continuation.
        let escaped = if escaped == " " { "\\x20".to_owned() } else { escaped };
        if width + escaped.len() > 110 {
            text.push_str("\\\n");
            width = 0;
        }
        width += escaped.len();
        text.push_str(&escaped);
    }
    text.push_str("\";\n");
}

#[cfg(test)]
#[path = "sections_tests.rs"]
mod tests;
