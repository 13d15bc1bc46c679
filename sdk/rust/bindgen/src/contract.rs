//! The types and functions of the contract, as `wit-bindgen` writes them.

use std::path::Path;

use wit_bindgen_core::wit_parser::{Resolve, WorldId};
use wit_bindgen_core::{Files, WorldGenerator};

use crate::error::Error;

/// Where the generator's own export macro begins. That macro exports a whole world at once; the SDK exports one
/// interface at a time, so what follows is cut off.
const EXPORT_MACRO: &str = "\n/// Generates `#[unsafe(no_mangle)]`";

/// The generator shows an error in its debug form. People read these texts, so the SDK implements `Display` itself.
const DISPLAY: &str = "impl ::core::fmt::Display for HostError";
const AFTER_DISPLAY: &str = "impl ::core::error::Error for HostError";

/// The parsed contract and its widest world.
pub(crate) struct Contract {
    pub(crate) resolve: Resolve,
    pub(crate) world: WorldId,
}

/// Reads the folder of one contract version.
pub(crate) fn parse(folder: &Path) -> Result<Contract, Error> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve
        .push_path(folder)
        .map_err(|source| Error::Contract { path: folder.to_path_buf(), source: source.into() })?;
    let world = resolve
        .select_world(&[package], Some("everything"))
        .map_err(|source| Error::NoWorld { source: source.into() })?;
    Ok(Contract { resolve, world })
}

/// Rust source for every type, import and export of the contract.
pub(crate) fn bindings(contract: &Contract) -> Result<String, Error> {
    let options = wit_bindgen_rust::Opts {
        format: true,
        generate_all: true,
        generate_unused_types: true,
        // Makes the macros that export one interface visible to authors' crates.
        pub_export_macro: true,
        // The type sections are the SDK's own, see sections.rs.
        disable_custom_section_link_helpers: true,
        additional_derive_attributes: vec!["PartialEq".to_owned()],
        ..wit_bindgen_rust::Opts::default()
    };
    let mut files = Files::default();
    let mut resolve = contract.resolve.clone();
    options
        .build()
        .generate(&mut resolve, contract.world, &mut files)
        .map_err(|source| Error::Generate { source: source.into() })?;
    let mut text = String::new();
    for (_, bytes) in files.iter() {
        text.push_str(&String::from_utf8_lossy(bytes));
    }
    let end = text.find(EXPORT_MACRO).ok_or(Error::Marker { marker: EXPORT_MACRO })?;
    text.truncate(end);
    text.push('\n');
    let start = text.find(DISPLAY).ok_or(Error::Marker { marker: DISPLAY })?;
    let length = text[start..].find(AFTER_DISPLAY).ok_or(Error::Marker { marker: AFTER_DISPLAY })?;
    text.replace_range(start..start + length, "");
    Ok(text)
}
