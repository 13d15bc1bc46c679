//! A running session follows what happens to its extensions: files that come, change and go, grants that are given and taken
//! back in another terminal, configuration.
//!
//! What was seen to change is left alone until it has been still for a moment, then looked at as a whole; what cannot be used
//! changes nothing. So a file that is being written is not taken for a broken one, and nothing is in force by halves.

use crate::args::Setup;
use crate::catalog::{self, Catalog, State};
use crate::config::{self, Config};
use crate::home::Home;
use crate::live::Live;
use crate::load::Stamp;
use crate::loader::{Loader, Say};
use crate::project;
use crate::reload::{ClosedGates, changes};
use crate::screen;
use crate::usage;
use anyhow::Result;
use capstan_engine::Extension;
use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, watch};

/// How long everything must have been still. Editors and copies write a file in one go; what takes longer is not done yet.
const STILL: Duration = Duration::from_millis(60);

/// How long a file that cannot be used must have been still before that is said: a slow writer may be resting.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the folders are looked at although nobody told of a change: links lead out of what is watched, and folders
/// appear that could not be watched before.
const TICK: Duration = Duration::from_secs(1);

/// The same where the system tells of nothing.
const TICK_UNTOLD: Duration = Duration::from_millis(500);

/// After so many looks at what never comes to rest, the others wait no longer for it.
const MAX_LOOKS: u32 = 20;

/// Follows the extensions of one session.
pub(crate) struct Follower {
    home: Home,
    setup: Setup,
    live: Arc<Live>,
    loader: Loader,
    say: Say,
    closed: ClosedGates,
    /// What the user has been told about extensions that are not in force.
    told: HashSet<String>,
    ready: watch::Sender<bool>,
    changed: Arc<Notify>,
    watcher: Option<RecommendedWatcher>,
    /// Folders that the system tells about, by their inode: one that was made anew has to be watched anew.
    watched: BTreeMap<PathBuf, Stamp>,
}

type Looked = (Catalog, Config, Option<String>);

/// Everything that was looked at, in the state in which it was.
type Sight = BTreeMap<PathBuf, Option<Stamp>>;

impl Follower {
    /// Begins with what `catalog` put into force; `notices` have been said about its parts. Compiling what it left out begins at once.
    pub(crate) fn new(
        home: Home,
        setup: Setup,
        live: Arc<Live>,
        loader: Loader,
        catalog: &Catalog,
        notices: &[String],
        say: Say,
    ) -> Self {
        // Said at the start by those who put the session together.
        let left_out = config::load_grants(&home).and_then(|grants| Ok(Config::read(&home, &grants)?.1));
        let told = catalog.found.iter().filter_map(catalog::Found::notice);
        let told = told.chain(notices.iter().cloned()).chain(left_out.ok().flatten()).collect();
        let changed = Arc::new(Notify::new());
        let watcher = watcher(changed.clone());
        let mut follower = Self {
            home,
            setup,
            live,
            loader,
            say,
            closed: ClosedGates::begin(catalog),
            told,
            ready: watch::Sender::new(true),
            changed,
            watcher,
            watched: BTreeMap::new(),
        };
        follower.loader.compile(catalog, &follower.say);
        follower.ready.send_replace(!follower.loader.is_compiling());
        follower
    }

    /// Turns true once everything that was there at the start is in force or has been refused. Before that, a gate may be
    /// missing.
    pub(crate) fn ready(&self) -> watch::Receiver<bool> {
        self.ready.subscribe()
    }

    /// Follows without end.
    pub(crate) async fn follow(mut self) {
        self.watch_folders();
        let mut applied = self.sight();
        // Between the first look and this one something may have changed already.
        let mut is_due = true;
        loop {
            if !is_due {
                let tick = if self.watcher.is_some() { TICK } else { TICK_UNTOLD };
                tokio::select! {
                    () = self.changed.notified() => {}
                    () = self.loader.compiled() => is_due = true,
                    () = tokio::time::sleep(tick) => {}
                }
            }
            self.watch_folders();
            let sight = self.sight();
            if sight == applied && !is_due {
                continue;
            }
            let sight = self.settled(sight, STILL).await;
            applied = self.take_over(sight).await;
            is_due = false;
        }
    }

    /// Looks at everything and puts it into force; answers what it looked like.
    async fn take_over(&mut self, mut sight: Sight) -> Sight {
        let before = self.loader.memory.in_force().to_vec();
        let looked = loop {
            let looked = self.look().await;
            // A look keeps nothing that it replaced, so a second one must still know what was there before the first.
            if !is_fresh_failure(&looked, &sight) {
                break looked;
            }
            self.loader.memory.put_in_force(before.clone());
            sight = self.settled(sight, PATIENCE).await;
        };
        let (catalog, config, left_out) = match looked {
            Ok(looked) => looked,
            Err(error) => {
                self.tell(&format!(
                    "{}. What was in force stays in force.",
                    screen::whole(&error).trim_end_matches('.')
                ));
                return sight;
            }
        };
        self.loader.compile(&catalog, &self.say);
        let lifted = self.closed.follow(&before, &catalog);
        let unused = match self.live.apply(&catalog, &config, &self.closed.hooks()) {
            Ok(unused) => unused,
            Err(error) => {
                self.tell(&format!("{error:#}. What was in force stays in force."));
                self.loader.memory.put_in_force(before);
                return sight;
            }
        };
        for gone in before.iter().filter(|held| has_lost(&held.extension, &catalog)) {
            gone.extension.retire();
        }
        let gone = before.iter().map(|held| &held.extension);
        usage::keep(&self.home, gone.filter(|old| catalog.active.iter().all(|active| !active.is_same(old))));
        let mut notices: HashSet<String> =
            catalog.found.iter().filter_map(catalog::Found::notice).chain(left_out).chain(unused).collect();
        for line in changes(&before, &catalog).into_iter().chain(lifted) {
            self.told.extend(notices.iter().filter(|notice| line.contains(*notice)).cloned());
            self.say(&line);
        }
        // What no longer holds is said again when it holds again.
        self.told.retain(|told| notices.contains(told));
        notices.drain().for_each(|notice| self.tell(&notice));
        self.ready.send_if_modified(|ready| {
            let was = std::mem::replace(ready, *ready || !self.loader.is_compiling());
            was != *ready
        });
        sight
    }

    /// What there is now, and what is to be said about a configuration that does not count.
    async fn look(&mut self) -> Result<Looked> {
        let grants = config::load_grants(&self.home)?;
        let (config, left_out) = Config::read(&self.home, &grants)?;
        let catalog = self.loader.look(&self.home, &config, &grants, &self.setup.extensions).await?;
        Ok((catalog, config, left_out))
    }

    /// Waits until nothing has changed for so long.
    async fn settled(&mut self, mut sight: Sight, still: Duration) -> Sight {
        for _ in 0..MAX_LOOKS {
            tokio::time::sleep(still).await;
            let now = self.sight();
            if now == sight {
                return now;
            }
            sight = now;
        }
        sight
    }

    fn sight(&self) -> Sight {
        // Grants that cannot be read now are reported by the look that follows.
        let grants = config::load_grants(&self.home).unwrap_or_default();
        let extra = &self.setup.extensions;
        let files = catalog::sources(&self.home, &grants, extra).unwrap_or_default();
        let own = [self.home.grants_file(), self.home.config_file()].into_iter();
        let own = own.chain(project::paths(&self.home));
        let folders = catalog::folders(&self.home, &grants, extra).map(|(folder, _)| folder);
        // Of a folder only whether it is there: its own times change with everything in it, also with what does not count.
        let there = folders.filter(|folder| !folder.exists()).map(|folder| (folder, None));
        let seen = files.into_iter().map(|(_, path)| path).chain(own);
        seen.map(|path| (path.clone(), Stamp::of(&path))).chain(there).collect()
    }

    /// Has the system tell about folders that are there now and were not before.
    fn watch_folders(&mut self) {
        let grants = config::load_grants(&self.home).unwrap_or_default();
        let extensions = catalog::folders(&self.home, &grants, &self.setup.extensions);
        let own = [self.home.config.clone(), self.home.data.clone(), self.home.project()];
        let folders: Vec<_> = extensions.map(|(folder, _)| folder).chain(own).collect();
        let Some(watcher) = &mut self.watcher else { return };
        for folder in folders {
            let now = Stamp::of(&folder);
            let known = self.watched.get(&folder);
            if now.as_ref().map(Stamp::place) == known.map(Stamp::place) {
                continue;
            }
            self.watched.remove(&folder);
            let Some(now) = now else { continue };
            if let Err(reason) = watcher.watch(&folder, RecursiveMode::NonRecursive) {
                tracing::info!(folder = %folder.display(), %reason, "changes are looked for instead of heard of");
                self.watcher = None;
                return;
            }
            self.watched.insert(folder, now);
        }
    }

    /// Says something that was not said before.
    fn tell(&mut self, text: &str) {
        if self.told.insert(text.to_owned()) {
            self.say(text);
        }
    }

    fn say(&self, text: &str) {
        (self.say)(&screen::visible(text));
    }
}

/// Whether something cannot be used that was touched so lately that it may not be complete.
fn is_fresh_failure(looked: &Result<Looked>, sight: &Sight) -> bool {
    let is_fresh =
        |path: &Path| sight.get(path).and_then(Option::as_ref).is_some_and(|stamp| stamp.age() < PATIENCE);
    match looked {
        Ok((catalog, ..)) => {
            catalog.found.iter().any(|found| matches!(found.state, State::Broken(_)) && is_fresh(&found.path))
        }
        Err(_) => sight.keys().any(|path| is_fresh(path)),
    }
}

/// Whether an extension is not in force any more, or no longer with all of its grants. Those rounds that still hold it must
/// not go on with it. One whose successor has the same grants may end with them.
fn has_lost(extension: &Extension, catalog: &Catalog) -> bool {
    let now = catalog.active.iter().find(|active| active.id() == extension.id());
    now.is_none_or(|now| {
        let held: Vec<_> = now.effective().iter().collect();
        extension.effective().iter().any(|capability| !held.contains(&capability))
    })
}

fn watcher(changed: Arc<Notify>) -> Option<RecommendedWatcher> {
    let heard = move |event: notify::Result<notify::Event>| {
        // Being read, by this very program for example, changes nothing. An error may stand for changes that were lost.
        let is_change = event.is_err()
            || event.is_ok_and(|event| match event.kind {
                EventKind::Access(kind) => kind == AccessKind::Close(AccessMode::Write),
                _ => true,
            });
        if is_change {
            changed.notify_one();
        }
    };
    notify::recommended_watcher(heard)
        .inspect_err(|reason| tracing::info!(%reason, "changes are looked for instead of heard of"))
        .ok()
}
