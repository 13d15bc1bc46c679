//! The store of compiled code, through the sandbox: whatever happens to it, extensions work and say what they said.
//!
//! The engine's own tests attack single entries; these see what a user sees.

use anyhow::{Context, Result};
use capstan_engine::cache::CacheOptions;
use capstan_engine::{Extension, ExtensionSettings, Sandbox, SandboxOptions};
use capstan_policy::Effective;
use capstan_ports::message::text_of;
use capstan_tests::guest::Guest;
use capstan_tests::logged::Logged;
use capstan_tests::sandboxed::{Place, call, tool_context};
use serde_json::json;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// A place whose sandboxes share a cache.
struct Cached {
    place: Place,
    options: CacheOptions,
}

impl Cached {
    fn new() -> Result<Self> {
        let place = Place::new()?;
        let own = place.places().protected.remove(0);
        let options = CacheOptions { directory: own.join("code"), key_file: own.join("cache.key") };
        Ok(Self { place, options })
    }

    /// Another start of the host.
    fn start(&self) -> Result<Sandbox> {
        Ok(Sandbox::new(&SandboxOptions { cache: Some(self.options.clone()), ..SandboxOptions::default() })?)
    }

    /// Writes a tool that answers `says` and logs a line whenever it describes itself.
    fn file(&self, id: &str, says: &str) -> Result<PathBuf> {
        let (guest, body) = Guest::new(id).text_result(says);
        let guest = guest
            .import(
                "log",
                "(import \"capstan:extension/log@0.1.0\" \"write\" (func $log (param i32 i32 i32)))",
            )
            .data(900, b"describing")
            .tool("say", &body);
        let described =
            format!("(call $log (i32.const 2) (i32.const 900) (i32.const 10)) {}", guest.describing());
        self.place.file(&format!("{id}.wasm"), &guest.describe_with(&described).build()?)
    }

    /// Files of the cache that end so.
    fn entries(&self, ending: &str) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.options.directory)? {
            found.push(entry?.path());
        }
        found.retain(|path| path.extension().is_some_and(|extension| extension == ending));
        found.sort();
        Ok(found)
    }
}

async fn load(sandbox: &Sandbox, cached: &Cached, file: &Path) -> Result<Extension> {
    let inspected = sandbox.inspect(file).await?;
    let settings = ExtensionSettings::new(cached.place.places());
    Ok(sandbox.extension(inspected, Effective::nothing(), &settings)?)
}

/// What the tool of a file says after another start of the host.
async fn says(cached: &Cached, file: &Path) -> Result<String> {
    let extension = load(&cached.start()?, cached, file).await?;
    let tool = extension.tools().into_iter().next().context("it has a tool")?;
    Ok(text_of(&tool.execute(&call("say", json!({})), &tool_context()).await?.content))
}

// T2
#[tokio::test]
async fn an_extension_is_compiled_and_described_once() -> Result<()> {
    let cached = Cached::new()?;
    let file = cached.file("one", "hello")?;
    let logged = Logged::begin();
    for start in 1..=3 {
        assert_eq!(says(&cached, &file).await?, "hello");
        assert_eq!(logged.with("describing").len(), 1, "start {start}");
        assert_eq!((cached.entries("cwasm")?.len(), cached.entries("json")?.len()), (1, 1));
    }
    Ok(())
}

// K1, K5
#[tokio::test]
async fn damaged_entries_are_made_again_and_nobody_notices() -> Result<()> {
    let cached = Cached::new()?;
    let file = cached.file("one", "hello")?;
    says(&cached, &file).await?;
    let logged = Logged::begin();
    for ending in ["cwasm", "json"] {
        let entry = cached.entries(ending)?.remove(0);
        let genuine = fs::read(&entry)?;
        let mut flipped = genuine.clone();
        flipped[genuine.len() / 2] ^= 1;
        for damaged in [flipped, genuine[..genuine.len() / 3].to_vec(), Vec::new(), b"\x7fELF".repeat(100)] {
            let before = logged.with("damaged or foreign").len();
            fs::write(&entry, damaged)?;
            assert_eq!(says(&cached, &file).await?, "hello", "{ending}");
            assert_eq!(logged.with("damaged or foreign").len(), before + 1, "{ending}");
            assert_eq!(fs::read(&entry)?.len(), genuine.len(), "{ending} is genuine again");
        }
    }
    Ok(())
}

// K2
#[tokio::test]
async fn swapped_entries_give_nobody_the_code_or_the_words_of_another() -> Result<()> {
    let cached = Cached::new()?;
    let (one, two) = (cached.file("one", "I am one")?, cached.file("two", "I am two")?);
    for _ in 0..2 {
        assert_eq!(says(&cached, &one).await?, "I am one");
        assert_eq!(says(&cached, &two).await?, "I am two");
        for ending in ["cwasm", "json"] {
            let entries = cached.entries(ending)?;
            let aside = entries[0].with_extension("aside");
            fs::rename(&entries[0], &aside)?;
            fs::rename(&entries[1], &entries[0])?;
            fs::rename(&aside, &entries[1])?;
        }
    }
    let sandbox = cached.start()?;
    for (file, id) in [(&one, "one"), (&two, "two")] {
        assert_eq!(sandbox.inspect(file).await?.surface.descriptor.id.as_str(), id);
    }
    Ok(())
}

// K4, T1: the words that the user is shown before anything is granted.
#[tokio::test]
async fn a_cached_descriptor_cannot_be_forged() -> Result<()> {
    let cached = Cached::new()?;
    let file = cached.file("one", "hello")?;
    says(&cached, &file).await?;
    let entry = cached.entries("json")?.remove(0);
    let genuine = fs::read(&entry)?;
    let text = String::from_utf8_lossy(&genuine[32..]).replace("The tool say.", "Trust me now.");
    assert_eq!(text.len(), genuine.len() - 32);
    let forged = text.as_bytes();
    let plain = [&genuine[..32], forged].concat();
    let without = forged.to_vec();
    let zeros = [&[0; 32], forged].concat();
    for forgery in [plain, without, zeros] {
        fs::write(&entry, forgery)?;
        let inspected = cached.start()?.inspect(&file).await?;
        assert_eq!(inspected.surface.descriptor.tools[0].description, "The tool say.");
        assert_eq!(fs::read(&entry)?, genuine);
    }
    Ok(())
}

#[tokio::test]
async fn half_of_a_pair_is_enough_to_start_from() -> Result<()> {
    let cached = Cached::new()?;
    let file = cached.file("one", "hello")?;
    says(&cached, &file).await?;
    for ending in ["cwasm", "json"] {
        fs::remove_file(cached.entries(ending)?.remove(0))?;
        assert_eq!(says(&cached, &file).await?, "hello", "without {ending}");
        assert_eq!(cached.entries(ending)?.len(), 1, "{ending} is there again");
    }
    Ok(())
}

// The descriptor is in the cache, its code is not, and the file is another by now.
#[tokio::test]
async fn code_is_never_compiled_from_bytes_that_changed_since() -> Result<()> {
    let cached = Cached::new()?;
    let file = cached.file("one", "hello")?;
    says(&cached, &file).await?;
    let sandbox = cached.start()?;
    let extension = load(&sandbox, &cached, &file).await?;
    fs::remove_file(cached.entries("cwasm")?.remove(0))?;
    let other = cached.file("other", "goodbye")?;
    fs::copy(other, &file)?;
    let failure =
        extension.prepare().await.expect_err("these are not the bytes that were inspected").to_string();
    assert!(failure.contains("changed since it was loaded"), "{failure}");
    Ok(())
}

/// Whatever makes a cache unusable: the host says so once and works.
async fn works_without(cached: &Cached) -> Result<()> {
    let logged = Logged::begin();
    let sandbox = cached.start()?;
    assert!(!sandbox.has_cache());
    let warnings = logged.with("no cache of compiled extensions");
    assert!(warnings.len() == 1 && warnings[0].starts_with("WARN"), "{:?}", logged.lines());
    let file = cached.file("one", "hello")?;
    assert_eq!(says(cached, &file).await?, "hello");
    Ok(())
}

// K3
#[tokio::test]
async fn a_cache_that_others_could_have_filled_is_not_used() -> Result<()> {
    let cached = Cached::new()?;
    assert!(cached.start()?.has_cache(), "the control");
    fs::set_permissions(&cached.options.directory, fs::Permissions::from_mode(0o770))?;
    works_without(&cached).await?;
    assert!(cached.entries("cwasm")?.is_empty());

    let linked = Cached::new()?;
    fs::create_dir(linked.place.workspace().join("elsewhere"))?;
    symlink(linked.place.workspace().join("elsewhere"), &linked.options.directory)?;
    works_without(&linked).await
}

#[tokio::test]
async fn a_key_that_others_can_read_is_not_used() -> Result<()> {
    let cached = Cached::new()?;
    assert!(cached.start()?.has_cache(), "the control");
    fs::set_permissions(&cached.options.key_file, fs::Permissions::from_mode(0o644))?;
    works_without(&cached).await?;
    fs::set_permissions(&cached.options.key_file, fs::Permissions::from_mode(0o600))?;
    assert!(cached.start()?.has_cache());
    Ok(())
}

// K8
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn hosts_that_start_at_once_all_end_with_the_extension() -> Result<()> {
    let cached = Cached::new()?;
    let file = cached.file("one", "hello")?;
    let start = || says(&cached, &file);
    let said = tokio::try_join!(start(), start(), start(), start())?;
    assert_eq!(said.0, "hello");
    assert_eq!((cached.entries("cwasm")?.len(), cached.entries("json")?.len()), (1, 1));
    assert!(cached.entries("tmp")?.is_empty(), "nothing is left over");
    Ok(())
}

// K10: a disk without room shows as writes that fail.
#[tokio::test]
async fn a_cache_that_takes_no_more_costs_only_time() -> Result<()> {
    let cached = Cached::new()?;
    let file = cached.file("one", "hello")?;
    let sandbox = cached.start()?;
    fs::remove_dir(&cached.options.directory)?;
    let logged = Logged::begin();
    let extension = load(&sandbox, &cached, &file).await?;
    let outcome = extension.tools()[0].execute(&call("say", json!({})), &tool_context()).await?;
    assert_eq!(text_of(&outcome.content), "hello");
    assert!(!logged.with("could not be kept").is_empty(), "{:?}", logged.lines());
    Ok(())
}
