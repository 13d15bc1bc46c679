//! `capstan ext remove`: an extension, and everything that the host keeps about it.

use super::Place;
use crate::config;
use crate::home::Home;
use crate::lock::Lock;
use crate::screen::{self, GOOD};
use anyhow::{Context, Result, bail};
use capstan_ports::extension::ExtensionId;
use std::path::Path;
use std::process::ExitCode;

/// Removes the file, its entry in the lock and its grants; with `purge` also what it has stored.
pub(super) async fn run(home: Home, name: &str, purge: bool) -> Result<ExitCode> {
    let mut place = Place::open(home).await?;
    let home = place.home.clone();
    let mut lock = Lock::read(&home)?;
    // A file that cannot be understood goes by its own name, which is that of its id if it was installed.
    let id: Option<ExtensionId> = name.parse().ok();
    let is_known = |id: &ExtensionId| lock.of(id).is_some();
    let mut done = Vec::new();
    match place.find(name) {
        Ok(found) if found.path.parent() == Some(&home.extensions()) => {
            std::fs::remove_file(&found.path)
                .with_context(|| format!("{} cannot be removed", found.path.display()))?;
            done.push(format!("the file {}", screen::path(&found.path)));
        }
        Ok(found) => bail!(
            "{name} is not in your folder {} but comes with {}; to switch it off: capstan ext revoke {name}",
            home.extensions().display(),
            found.path.display()
        ),
        // Somebody removed the file; what is left of it goes, too.
        Err(_) if id.as_ref().is_some_and(is_known) => {}
        Err(error) => return Err(error),
    }
    if let Some(id) = &id {
        if lock.forget(id) {
            lock.write(&home)?;
            done.push("its entry in extensions.lock".to_owned());
        }
        if place.grants.forget(id) {
            config::save_grants(&home, &place.grants)?;
            done.push("its grants".to_owned());
        }
        let stored = home.storage().join(id.as_str());
        if purge && remove_folder(&stored)? {
            done.push(format!("what it had stored in {}", screen::path(&stored)));
        } else if !purge && stored.exists() {
            screen::note(&format!(
                "What it has stored stays in {}; capstan ext remove --purge removes that, too.",
                screen::path(&stored)
            ));
        }
    }
    screen::note(&format!("{GOOD}removed{GOOD:#} {name}: {}", done.join(", ")));
    Ok(ExitCode::SUCCESS)
}

fn remove_folder(folder: &Path) -> Result<bool> {
    match std::fs::remove_dir_all(folder) {
        Ok(()) => Ok(true),
        Err(reason) if reason.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(reason) => Err(reason).with_context(|| format!("{} cannot be removed", folder.display())),
    }
}
