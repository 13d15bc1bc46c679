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

#[tokio::test]
async fn a_new_project_in_javascript_or_typescript_holds_everything_too() -> Result<()> {
    let product = product!()?;
    for (lang, ending) in [("js", "js"), ("ts", "ts"), ("typescript", "ts")] {
        for kind in ["tool", "hook", "plan-parser", "compressor"] {
            let name = format!("my-{lang}-{kind}");
            product.run(&["ext", "new", &name, "--lang", lang, "--kind", kind]).await?.with_code(0);
            let folder = product.workspace().join(&name);
            let (module, test) = (format!("src/extension.{ending}"), format!("src/extension.test.{ending}"));
            let cases = format!("{name}.cases.toml");
            for part in ["package.json", ".npmrc", ".gitignore", "README.md", &module, &test, &cases] {
                let text = std::fs::read_to_string(folder.join(part))?;
                assert!(!text.contains("{{"), "{part}: {text}");
            }
            assert_eq!(folder.join("tsconfig.json").is_file(), ending == "ts");
            let manifest = std::fs::read_to_string(folder.join("package.json"))?;
            let manifest: serde_json::Value = serde_json::from_str(&manifest)?;
            assert_eq!((&manifest["name"], &manifest["capstan"]["entry"]), (&name.into(), &module.into()));
            let sdk = manifest["dependencies"]["capstan-sdk"].as_str().unwrap_or_default();
            assert!(sdk.starts_with("file:/") && sdk.ends_with("sdk/javascript"), "{sdk}");
        }
    }
    let git = ["ext", "new", "from-git", "--lang", "js", "--sdk", "https://example.com/capstan.git"];
    let refused = product.run(&git).await?.with_code(1);
    assert!(refused.stderr.contains("clone"), "{}", refused.stderr);
    Ok(())
}

#[tokio::test]
async fn a_new_project_in_python_names_the_sdk_for_builds_and_editors() -> Result<()> {
    let product = product!()?;
    for kind in ["tool", "hook", "plan-parser", "compressor"] {
        let name = format!("my-{kind}");
        product.run(&["ext", "new", &name, "--lang", "python", "--kind", kind]).await?.with_code(0);
        let folder = product.workspace().join(&name);
        let cases = format!("{name}.cases.toml");
        for part in [".gitignore", "README.md", "src/extension.py", "tests/test_extension.py", &cases] {
            let text = std::fs::read_to_string(folder.join(part))?;
            assert!(!text.contains("{{"), "{part}: {text}");
        }
    }
    let table = |name: &str| -> Result<toml::Table> {
        Ok(std::fs::read_to_string(product.workspace().join(name).join("pyproject.toml"))?.parse()?)
    };
    let project = table("my-tool")?;
    let sdk = project["tool"]["capstan"]["sdk"].as_str().unwrap_or_default();
    assert!(Path::new(sdk).join("capstan_sdk").is_dir(), "{sdk}");
    assert!(project["tool"]["pyright"]["extraPaths"].to_string().contains(sdk));

    let address = "https://example.com/capstan.git";
    product.run(&["ext", "new", "from-git", "--lang", "python", "--sdk", address]).await?.with_code(0);
    let project = table("from-git")?;
    let wanted = "capstan-sdk @ git+https://example.com/capstan.git#subdirectory=sdk/python";
    assert_eq!(project["project"]["dependencies"][0].as_str(), Some(wanted));
    assert!(!project["tool"]["capstan"].as_table().is_some_and(|table| table.contains_key("sdk")));
    Ok(())
}
