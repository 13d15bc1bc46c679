//! The parts that a component can play beside tools and hooks: each does its real work, and each goes wrong in every way
//! there is, with no more harm than its failure rule says.

mod commands;
mod compaction;
mod memories;
mod plans;
mod watching;

use anyhow::Result;
use capstan_engine::{CallError, Extension};
use capstan_tests::guest::Guest;
use capstan_tests::probe::built_guest;
use capstan_tests::product::Product;
use capstan_tests::sandboxed::{Granted, Place};
use std::error::Error;

const TRAP: &str = "unreachable";
const SPIN: &str = "(loop $l (br $l)) unreachable";
const GROW: &str = "(loop $l (br_if $l (i32.ne (memory.grow (i32.const 64)) (i32.const -1)))) unreachable";

/// The guest `roles` with a folder for its notes.
async fn roles(place: &Place, granted: Granted) -> Result<Extension> {
    std::fs::create_dir_all(place.workspace().join("notes"))?;
    let inspected = place.sandbox.inspect(&built_guest("roles")?).await?;
    place.put_in_force(inspected, granted)
}

/// The same in the product, with everything allowed that it asks for.
pub(crate) async fn install_roles(product: &Product) -> Result<()> {
    std::fs::create_dir_all(product.workspace().join("notes"))?;
    product.install_bytes("roles.wasm", &std::fs::read(built_guest("roles")?)?)?;
    product.run(&["ext", "allow", "roles", "--yes"]).await?.with_code(0);
    Ok(())
}

/// Ways to go wrong: each with what is said of it, and a guest that does so with the body made for it.
pub(crate) fn bad_guests(make: impl Fn(Guest, &str) -> Guest) -> [(&'static str, Guest); 4] {
    // A result has two cases, so there is no ninth.
    let (guest, garbage) = Guest::new("garbage").answer(9, "");
    [
        ("trapped", make(Guest::new("trapper"), TRAP)),
        ("did not answer within", make(Guest::new("spinner"), SPIN)),
        ("used up its memory", make(Guest::new("grower"), GROW)),
        ("does not allow", make(guest, &garbage)),
    ]
}

/// Whether a call that failed lies beneath an error.
fn lies_beneath(error: &dyn Error) -> bool {
    error.source().is_some_and(|source| source.downcast_ref::<CallError>().is_some())
}
