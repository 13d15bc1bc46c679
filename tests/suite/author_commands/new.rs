//! `capstan ext new`. That what it makes builds and passes its own tests takes a guest toolchain and is a step of
//! `cargo xtask test`.

use anyhow::Result;
use capstan_tests::product;
use std::path::Path;

#[tokio::test]
async fn a_new_project_holds_everything_and_nothing_is_left_to_fill_in() -> Result<()> {
    let product = product!()?;
    for kind in ["tool", "hook", "plan-parser", "compressor"] {
        let name = format!("my-{kind}");
        let made = product.run(&["ext", "new", &name, "--kind", kind]).await?.with_code(0);
        let folder = product.workspace().join(&name);
        assert_eq!(Path::new(made.stdout.trim_end()), folder);
        for part in ["Cargo.toml", ".gitignore", "README.md", "src/lib.rs", &format!("{name}.cases.toml")] {
            let text = std::fs::read_to_string(folder.join(part))?;
            assert!(
                !text.contains("{{") || part == "src/lib.rs" && !text.contains("{{name"),
                "{part}: {text}"
            );
        }
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml"))?;
        assert!(
            manifest.contains(&format!("name = \"{name}\"")) && manifest.contains("sdk/rust"),
            "{manifest}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn what_is_there_is_not_overwritten_and_names_must_be_ids() -> Result<()> {
    let product = product!()?;
    let taken = product.workspace().join("taken");
    std::fs::create_dir(&taken)?;
    product.run(&["ext", "new", "taken"]).await?.with_code(0);
    let again = product.run(&["ext", "new", "taken"]).await?.with_code(1);
    assert!(again.stderr.contains("--dir"), "{}", again.stderr);
    product.run(&["ext", "new", "taken", "--dir", "elsewhere/deep"]).await?.with_code(0);
    assert!(product.workspace().join("elsewhere/deep/src/lib.rs").is_file());
    for name in ["Upper", "a_b", "1st", "../up", "end-"] {
        product.run(&["ext", "new", name]).await?.with_code(1);
    }
    Ok(())
}

#[tokio::test]
async fn the_sdk_is_a_folder_or_a_repository() -> Result<()> {
    let product = product!()?;
    let dependency = async |name: &str, sdk: &str| {
        product.run(&["ext", "new", name, "--sdk", sdk]).await?.with_code(0);
        let manifest = std::fs::read_to_string(product.workspace().join(name).join("Cargo.toml"))?;
        let line = manifest.lines().find(|line| line.starts_with("capstan-sdk = ")).map(str::to_owned);
        anyhow::Ok(line.unwrap_or_default())
    };
    let git = dependency("from-git", "https://example.com/capstan.git").await?;
    assert_eq!(git, "capstan-sdk = { git = \"https://example.com/capstan.git\" }");
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let expected = format!("capstan-sdk = {{ path = \"{}\" }}", checkout.join("sdk/rust").display());
    assert_eq!(dependency("from-checkout", &checkout.to_string_lossy()).await?, expected);
    assert_eq!(dependency("from-folder", &checkout.join("sdk/rust").to_string_lossy()).await?, expected);

    // A project inside a checkout finds it, wherever the checkout is moved to.
    let sdk = product.workspace().join("sdk/rust");
    std::fs::create_dir_all(&sdk)?;
    std::fs::write(sdk.join("Cargo.toml"), "[package]\nname = \"capstan-sdk\"\n")?;
    product.run(&["ext", "new", "inside", "--dir", "extensions/inside"]).await?.with_code(0);
    let manifest = std::fs::read_to_string(product.workspace().join("extensions/inside/Cargo.toml"))?;
    assert!(manifest.contains("capstan-sdk = { path = \"../../sdk/rust\" }"), "{manifest}");
    let nowhere = product.run(&["ext", "new", "lost", "--sdk", "nowhere"]).await?.with_code(1);
    assert!(nowhere.stderr.contains("holds no capstan-sdk"), "{}", nowhere.stderr);
    Ok(())
}
