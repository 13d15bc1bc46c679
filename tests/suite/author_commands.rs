//! The commands for those who write extensions, and for those who ask what one did: `capstan ext explain|check|run|test|new`.

mod check;
mod explain;
mod new;
mod parts;
mod run;
mod test;

use anyhow::Result;
use capstan_tests::guest::Guest;
use capstan_tests::product::Product;

/// A tool that answers its name.
fn tool(id: &str, name: &str) -> Guest {
    let (guest, body) = Guest::new(id).text_result(name);
    guest.tool(name, &body)
}

/// A gate that answers this verdict (0 pass, 1 rewrite, 2 block, 3 defer, 4 ask) for these tools.
fn gate(id: &str, tools: &[&str], case: u8, text: &str) -> Guest {
    let (guest, body) = Guest::new(id).verdict(case, text);
    guest.gate(tools, &body)
}

/// Writes a guest beside the workspace, where it is not installed.
fn file(product: &Product, guest: &Guest) -> Result<String> {
    let path = product.beside(&format!("{}.wasm", guest.id));
    std::fs::write(&path, guest.build()?)?;
    Ok(path.to_string_lossy().into_owned())
}
