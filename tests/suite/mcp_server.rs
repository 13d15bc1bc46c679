//! `capstan mcp serve`: the tools of extensions in other programs, with everything that guards them.

mod calls;
mod clients;
mod http;
mod offers;

use anyhow::Result;
use capstan_tests::guest::Guest;
use capstan_tests::probe::built_guest;
use capstan_tests::product;
use capstan_tests::product::Product;

/// The product with the probe in force, which does what it is told to.
async fn with_probe() -> Result<Product> {
    let product = product!()?;
    // It asks for this folder, too.
    std::fs::create_dir(product.workspace().join("rw"))?;
    product.install_bytes("probe.wasm", &std::fs::read(built_guest("probe")?)?)?;
    product.run(&["ext", "allow", "probe", "--yes"]).await?.with_code(0);
    Ok(product)
}

/// An extension with one tool that says this.
fn greeter(id: &str, tool: &str, says: &str) -> Guest {
    let (guest, body) = Guest::new(id).text_result(says);
    guest.tool(tool, &body)
}
