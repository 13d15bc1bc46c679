//! The extensions of this repository in the real host: each first with what it asks for, then without.

mod audit_log;
mod output_trimmer;
mod secret_redactor;

use anyhow::Result;
use capstan_tests::product::Product;

/// Installs a built extension and grants what it asks for.
async fn grant(product: &Product, name: &str) -> Result<()> {
    product.install_built(name)?;
    product.run(&["ext", "allow", name, "--yes"]).await?.with_code(0);
    Ok(())
}
