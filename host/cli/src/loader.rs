//! The sandbox of a session and what it is needed for: looking at the extensions, and compiling beside.

use crate::catalog::{self, Catalog, Look, State};
use crate::config::Config;
use crate::home::Home;
use crate::load::Memory;
use crate::screen;
use capstan_engine::{Inspected, LoadError, Sandbox, Services};
use capstan_policy::Grants;
use capstan_ports::extension::Digest;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// The sandbox, once one is needed, and what was learnt of the extensions.
pub(crate) struct Loader {
    pub(crate) sandbox: Option<Sandbox>,
    pub(crate) memory: Memory,
    /// What the host lends to extensions.
    pub(crate) services: Services,
    compiling: HashSet<Digest>,
    compiled: (mpsc::UnboundedSender<Compiled>, mpsc::UnboundedReceiver<Compiled>),
}

struct Compiled {
    digest: Digest,
    result: Result<Inspected, LoadError>,
}

/// Says one line to the user.
pub(crate) type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// A compilation that is over sooner is not announced; its result is.
const WORTH_A_WORD: Duration = Duration::from_millis(250);

impl Default for Loader {
    fn default() -> Self {
        Self {
            sandbox: None,
            memory: Memory::default(),
            services: Services::default(),
            compiling: HashSet::new(),
            compiled: mpsc::unbounded_channel(),
        }
    }
}

impl Loader {
    /// One that leaves what has to be compiled for later.
    pub(crate) fn beside() -> Self {
        Self { memory: Memory::beside(), ..Self::default() }
    }

    /// Looks at the folders; see [`Look::again`].
    ///
    /// # Errors
    /// When the sandbox cannot be set up, or a folder cannot be read.
    pub(crate) async fn look(
        &mut self,
        home: &Home,
        config: &Config,
        grants: &Grants,
        extra: &[PathBuf],
    ) -> anyhow::Result<Catalog> {
        if self.sandbox.is_none() && extra.is_empty() && !catalog::has_candidates(home, extra) {
            return Ok(Catalog { active: Vec::new(), found: Vec::new() });
        }
        let sandbox = match &self.sandbox {
            Some(sandbox) => sandbox.clone(),
            None => self.sandbox.insert(catalog::sandbox(home)?).clone(),
        };
        let look = Look { home, config, grants, extra, services: &self.services };
        look.again(&sandbox, &mut self.memory).await
    }

    /// Compiles beside what a look left out; [`Loader::compiled`] takes up the results.
    pub(crate) fn compile(&mut self, catalog: &Catalog, say: &Say) {
        let Some(sandbox) = self.sandbox.clone() else { return };
        for found in &catalog.found {
            let State::Compiling(digest) = found.state else { continue };
            if !self.compiling.insert(digest) {
                continue;
            }
            let (sandbox, path, done) = (sandbox.clone(), found.path.clone(), self.compiled.0.clone());
            let (say, line) = (say.clone(), format!("compiling {}; it joins when it is ready", found.name()));
            tokio::spawn(async move {
                let inspecting = sandbox.inspect(&path);
                tokio::pin!(inspecting);
                let result = tokio::select! {
                    result = &mut inspecting => result,
                    () = tokio::time::sleep(WORTH_A_WORD) => {
                        say(&screen::visible(&line));
                        inspecting.await
                    }
                };
                // Nobody listens any more when the session is over.
                drop(done.send(Compiled { digest, result }));
            });
        }
    }

    /// Whether anything is being compiled.
    pub(crate) fn is_compiling(&self) -> bool {
        !self.compiling.is_empty()
    }

    /// Waits until something has been compiled, for the next look to find. Without end when nothing is being compiled.
    pub(crate) async fn compiled(&mut self) {
        // A sender is in this very value, so the channel does not close.
        if let Some(compiled) = self.compiled.1.recv().await {
            self.compiling.remove(&compiled.digest);
            self.memory.learn(compiled.digest, compiled.result);
        }
    }
}
