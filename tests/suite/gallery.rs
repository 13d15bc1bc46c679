//! The extensions of `extensions/` in the built program, each at its work.

mod audit_log;
mod markdown_plan;
mod output_trimmer;
mod secret_redactor;
mod sliding_window;
mod summarize;
mod table;
mod todo;
mod web_fetch;

use anyhow::Result;
use capstan_tests::product::Product;

/// Installs a built extension and grants what it asks for.
async fn grant(product: &Product, name: &str) -> Result<()> {
    product.install_built(name)?;
    product.run(&["ext", "allow", name, "--yes"]).await?.with_code(0);
    Ok(())
}
