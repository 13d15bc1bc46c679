//! Which extensions there are, and which of them may run.
//!
//! Folders are read flat. A file that is no extension costs only itself; two files that want one id, or one tool name, are
//! both left out, so that load order never decides.

use crate::args::COMPILE_WORKER;
use crate::config::{Compiling, Config};
use crate::home::Home;
use crate::load::{InForce, Loaded, Memory};
use crate::screen;
use anyhow::{Context, Result};
use capstan_engine::cache::CacheOptions;
use capstan_engine::{
    Compiler, Extension, ExtensionSettings, Inspected, Interface, Sandbox, SandboxOptions, Services,
};
use capstan_policy::{Effective, Grants, Source, Trust, name};
use capstan_ports::extension::{Capability, CapabilityRequest, Descriptor, Digest};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything that was found.
pub(crate) struct Catalog {
    /// In force, in the order of their ids.
    pub(crate) active: Vec<Extension>,
    /// Every file, with what became of it.
    pub(crate) found: Vec<Found>,
}

/// One file.
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) state: State,
    /// What it says of itself; absent where it was not looked at, or could not be understood.
    pub(crate) about: Option<About>,
}

/// What a file says of itself.
pub(crate) struct About {
    pub(crate) digest: Digest,
    pub(crate) descriptor: Descriptor,
    /// The parts of the contract that it has.
    pub(crate) exports: BTreeSet<Interface>,
}

impl About {
    pub(crate) fn of(file: &Inspected) -> Self {
        Self {
            digest: file.digest,
            descriptor: file.surface.descriptor.clone(),
            exports: file.surface.exports.clone(),
        }
    }
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    Active,
    /// It asks for something that the user has not answered.
    Waiting {
        missing: Vec<CapabilityRequest>,
    },
    /// Its bytes changed since the user granted something.
    Modified {
        added: Vec<CapabilityRequest>,
        removed: Vec<Capability>,
    },
    /// The user switched it off.
    Disabled,
    /// It comes with a project that the user has not allowed.
    UntrustedProject,
    /// It is being compiled and joins when that is done. Only where nobody waits for it.
    Compiling(Digest),
    /// It cannot be used; the text says why and what to do.
    Broken(String),
}

impl State {
    /// One word for lists.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Waiting { .. } => "waiting",
            Self::Modified { .. } => "modified",
            Self::Disabled => "off",
            Self::UntrustedProject => "untrusted",
            Self::Compiling(_) => "compiling",
            Self::Broken(_) => "broken",
        }
    }
}

impl Found {
    /// The id, or the file's name where there is none.
    pub(crate) fn name(&self) -> String {
        match &self.about {
            Some(about) => about.descriptor.id.to_string(),
            None => self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        }
    }

    /// What the user should know about a file that is not in force, in one paragraph. `None` where there is nothing to say:
    /// it runs, or the user switched it off.
    pub(crate) fn notice(&self) -> Option<String> {
        let name = self.name();
        let wishes = |requests: &[CapabilityRequest]| {
            let wishes: Vec<_> = requests
                .iter()
                .map(|request| format!("{} ({})", request.capability, request.reason))
                .collect();
            wishes.join("; ")
        };
        match &self.state {
            State::Active | State::Disabled | State::Compiling(_) => None,
            State::Waiting { missing } => Some(format!(
                "the extension {name} is off until you answer what it asks for: {}. To allow: capstan ext allow {name}",
                wishes(missing)
            )),
            State::Modified { added, removed } => {
                let mut text = format!("the extension {name} has changed since you allowed it and is off.");
                if !added.is_empty() {
                    text = format!("{text} New: {}.", wishes(added));
                }
                if !removed.is_empty() {
                    let gone: Vec<_> = removed.iter().map(ToString::to_string).collect();
                    text = format!("{text} No longer: {}.", gone.join("; "));
                }
                Some(format!("{text} To allow the new one: capstan ext allow {name}"))
            }
            State::UntrustedProject => Some(format!(
                "{} comes with this project and is off. To consider this project's extensions: capstan ext allow --project",
                self.path.display()
            )),
            State::Broken(reason) => Some(reason.clone()),
        }
    }
}

/// The sandbox with the user's cache. Whoever wrote the files in the folders, compiling them cannot take the program down:
/// it happens in a process that can be ended.
pub(crate) fn sandbox(home: &Home) -> Result<Sandbox> {
    sandbox_with(home, false)
}

/// A sandbox in which traps of this file name files and lines, if it has them. For an author's own calls by hand: a session never reads that
/// information. What has none shares compiled code with sessions.
pub(crate) fn sandbox_with_lines_of(home: &Home, wasm: &Path) -> Result<Sandbox> {
    let bytes = std::fs::read(wasm).with_context(|| format!("{} cannot be read", screen::path(wasm)))?;
    // The name of a section. That it stands elsewhere in a file costs a compilation.
    let lines = bytes.windows(LINES_SECTION.len()).any(|at| at == LINES_SECTION);
    sandbox_with(home, lines)
}

/// The section of a module that says which line an instruction came from.
const LINES_SECTION: &[u8] = b".debug_line";

fn sandbox_with(home: &Home, lines: bool) -> Result<Sandbox> {
    let compiling = Compiling::load(home)?;
    let cache = CacheOptions { directory: home.compiled(), key_file: home.data.join("cache.key") };
    let compiler = Compiler::Worker {
        program: this_program().context("this program cannot find itself, to compile extensions")?,
        arguments: vec![COMPILE_WORKER.into()],
    };
    let options = SandboxOptions {
        cache: Some(cache),
        cache_bytes: compiling.cache_bytes,
        compiler,
        compile_limit: compiling.limit,
        lines,
        ..SandboxOptions::default()
    };
    Ok(Sandbox::new(&options)?)
}

/// This very program, also when an upgrade has put another one in its place meanwhile: the link of a process leads to the
/// file that it was started from.
fn this_program() -> std::io::Result<PathBuf> {
    let link = Path::new("/proc/self/exe");
    if link.exists() { Ok(link.to_owned()) } else { std::env::current_exe() }
}

/// Whether any folder has a file that could be an extension: without one, no engine is needed at all.
pub(crate) fn has_candidates(home: &Home, extra: &[PathBuf]) -> bool {
    folders(home, &Grants::default(), extra)
        .any(|(folder, _)| candidates(&folder).is_ok_and(|files| !files.is_empty()))
}

/// Reads all folders, inspects what is in them and puts into force what may run.
///
/// # Errors
/// When a folder named on the command line is not there. What is wrong with a single file is in its [`State`].
pub(crate) async fn scan(
    home: &Home,
    config: &Config,
    grants: &Grants,
    extra: &[PathBuf],
    sandbox: &Sandbox,
    services: &Services,
) -> Result<Catalog> {
    let look = Look { home, config, grants, extra, services };
    look.again(sandbox, &mut Memory::default()).await
}

/// What a look at the folders goes by.
pub(crate) struct Look<'a> {
    pub(crate) home: &'a Home,
    pub(crate) config: &'a Config,
    pub(crate) grants: &'a Grants,
    /// Folders named on the command line.
    pub(crate) extra: &'a [PathBuf],
    pub(crate) services: &'a Services,
}

impl Look<'_> {
    /// Reads all folders, knowing what was found the last time: what did not change keeps its objects, and what was in force
    /// stays so while its file is broken or being compiled.
    ///
    /// # Errors
    /// As [`scan`].
    pub(crate) async fn again(&self, sandbox: &Sandbox, memory: &mut Memory) -> Result<Catalog> {
        let (mut found, mut files) = (Vec::new(), Vec::new());
        for (source, path) in sources(self.home, self.grants, self.extra)? {
            // A stranger's file is not even compiled before the project is trusted.
            if source == Source::UntrustedProject {
                found.push(Found { path, state: State::UntrustedProject, about: None });
            } else {
                files.push((source, path));
            }
        }
        let paths: Vec<_> = files.iter().map(|(_, path)| path.clone()).collect();
        let mut inspected = Vec::new();
        for ((source, path), loaded) in files.iter().zip(memory.load(sandbox, &paths).await) {
            let state = match loaded {
                Loaded::Understood(file) => {
                    inspected.push(Candidate { source: *source, path: path.clone(), file });
                    continue;
                }
                Loaded::Compiling(digest) => State::Compiling(digest),
                Loaded::Broken(reason) => State::Broken(reason),
            };
            found.push(Found { path: path.clone(), state, about: None });
        }
        // The same bytes in two folders are one extension.
        let mut seen = HashSet::new();
        inspected.retain(|candidate| seen.insert(candidate.file.digest));
        let clashes = clashes(&inspected, self.grants);
        let mut in_force = Vec::new();
        for Candidate { source, path, file } in inspected {
            let about = About::of(&file);
            let trust =
                self.grants.trust(source, &about.descriptor.id, &about.digest, &about.descriptor.requests);
            let state = match (clashes.get(&file.digest), trust) {
                (_, Trust::Disabled) => State::Disabled,
                (Some(clash), _) => State::Broken(format!("{}: {clash}", path.display())),
                (None, Trust::Waiting { missing }) => State::Waiting { missing },
                (None, Trust::Modified { added, removed, .. }) => State::Modified { added, removed },
                (None, Trust::UntrustedProject) => State::UntrustedProject,
                (None, Trust::Ready(effective)) => {
                    match self.put_in_force(sandbox, file, effective, memory) {
                        Ok(extension) => {
                            in_force.push(InForce { path: path.clone(), source, extension });
                            State::Active
                        }
                        Err(error) => State::Broken(screen::whole(&error)),
                    }
                }
            };
            found.push(Found { path, state, about: Some(about) });
        }
        self.hold_on(memory, &mut in_force, &mut found);
        let mut active: Vec<_> = in_force.iter().map(|held| held.extension.clone()).collect();
        memory.put_in_force(in_force);
        active.sort_by(|a, b| a.id().cmp(b.id()));
        found.sort_by(|a, b| (a.name(), &a.path).cmp(&(b.name(), &b.path)));
        Ok(Catalog { active, found })
    }

    /// Keeps in force what was so before and whose file is of no use now, provided that the user still grants it exactly what
    /// it has, and that nothing else took its names.
    fn hold_on(&self, memory: &Memory, in_force: &mut Vec<InForce>, found: &mut [Found]) {
        for held in memory.in_force() {
            let (extension, descriptor) = (&held.extension, held.extension.descriptor());
            let Some(now) = found.iter_mut().find(|found| {
                found.path == held.path && matches!(found.state, State::Broken(_) | State::Compiling(_))
            }) else {
                continue;
            };
            let digest = extension.inspected().digest;
            let trust = self.grants.trust(held.source, &descriptor.id, &digest, &descriptor.requests);
            let is_granted = matches!(trust, Trust::Ready(effective) if effective == *extension.effective());
            let is_taken =
                in_force.iter().any(|other| shares_names(other.extension.descriptor(), descriptor));
            if !is_granted || is_taken {
                continue;
            }
            if let State::Broken(reason) = &mut now.state {
                *reason = format!(
                    "{reason}. Meanwhile {} {} stays in force as it was",
                    descriptor.id, descriptor.version
                );
            }
            in_force.push(held.clone());
        }
    }

    fn put_in_force(
        &self,
        sandbox: &Sandbox,
        file: Arc<Inspected>,
        effective: Effective,
        memory: &Memory,
    ) -> Result<Extension> {
        let config = self.config.extension(file.surface.descriptor.id.as_str())?;
        if let Some(extension) = memory.unchanged(&file.digest, &effective, &config, &self.config.limits) {
            return Ok(extension);
        }
        let places = self.home.places();
        let limits = self.config.limits.clone();
        let settings = ExtensionSettings { config, places, services: self.services.clone(), limits };
        Ok(sandbox.extension(file, effective, &settings)?)
    }
}

fn shares_names(one: &Descriptor, other: &Descriptor) -> bool {
    let skeletons = |descriptor: &Descriptor| -> HashSet<String> {
        descriptor.tools.iter().map(|tool| name::skeleton(&tool.name)).collect()
    };
    one.id == other.id || !skeletons(one).is_disjoint(&skeletons(other))
}

/// Every file that could be an extension, with where it was found.
///
/// # Errors
/// When a folder cannot be read. One of our own that is not there is empty.
pub(crate) fn sources(home: &Home, grants: &Grants, extra: &[PathBuf]) -> Result<Vec<(Source, PathBuf)>> {
    let mut files = Vec::new();
    for (folder, source) in folders(home, grants, extra) {
        let named = extra.contains(&folder);
        match candidates(&folder) {
            Ok(found) => files.extend(found.into_iter().map(|path| (source, path))),
            Err(reason) if !named && reason.kind() == std::io::ErrorKind::NotFound => {}
            Err(reason) => {
                return Err(reason)
                    .with_context(|| format!("the folder {} cannot be read", folder.display()));
            }
        }
    }
    Ok(files)
}

/// The folders of extensions, each with what it stands for.
pub(crate) fn folders(
    home: &Home,
    grants: &Grants,
    extra: &[PathBuf],
) -> impl Iterator<Item = (PathBuf, Source)> {
    let project = match grants.trusts_project(&home.workspace) {
        true => Source::TrustedProject,
        false => Source::UntrustedProject,
    };
    let own = [(home.extensions(), Source::User), (home.project().join("extensions"), project)];
    own.into_iter().chain(extra.iter().cloned().map(|folder| (folder, Source::User)))
}

/// Files named `*.wasm`, in the order of their names. A link counts by what it leads to; folders, sockets and the like
/// are passed on, for inspection to say what is wrong with them.
fn candidates(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.extension().is_some_and(|extension| extension == "wasm") && !hidden {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Files that cannot be told apart by the user (one id) or by the model (one tool name), with the reason.
///
/// What the user put into their own folder stands before what came with a project, and what was granted something before
/// what was not: a newcomer must not be able to switch a gate off by taking its name. Among equals all are left out.
fn clashes(inspected: &[Candidate], grants: &Grants) -> HashMap<Digest, String> {
    let mut ids: BTreeMap<String, Vec<Claim<'_>>> = BTreeMap::new();
    let mut tools: BTreeMap<String, Vec<Claim<'_>>> = BTreeMap::new();
    for candidate in inspected {
        let Candidate { source, file, .. } = candidate;
        let descriptor = &file.surface.descriptor;
        let trust = grants.trust(*source, &descriptor.id, &file.digest, &descriptor.requests);
        // What the user switched off takes no name from anybody.
        if trust == Trust::Disabled {
            continue;
        }
        let rank = (*source != Source::User, grants.of(&file.digest).is_none());
        let claim = |name| Claim { candidate, name, rank };
        ids.entry(descriptor.id.to_string()).or_default().push(claim(descriptor.id.as_str()));
        for tool in &descriptor.tools {
            tools.entry(name::skeleton(&tool.name)).or_default().push(claim(&tool.name));
        }
    }
    let mut clashes = HashMap::new();
    for (kind, groups) in [("id", &ids), ("tool", &tools)] {
        for (claim, other) in groups.values().flat_map(|claims| losers(claims)) {
            clashes.entry(claim.candidate.file.digest).or_insert_with(|| {
                format!(
                    "its {kind} {} cannot be told from {} of {}; remove one of the two",
                    claim.name,
                    other.name,
                    screen::path(&other.candidate.path)
                )
            });
        }
    }
    clashes
}

/// A file that is an extension, and may come into force.
struct Candidate {
    source: Source,
    path: PathBuf,
    file: Arc<Inspected>,
}

/// A file that wants a name.
struct Claim<'a> {
    candidate: &'a Candidate,
    name: &'a str,
    /// Lower stands before higher.
    rank: (bool, bool),
}

/// Those that do not get the name, each with one that it clashes with.
fn losers<'a>(claims: &'a [Claim<'a>]) -> Vec<(&'a Claim<'a>, &'a Claim<'a>)> {
    let first = claims.iter().map(|claim| claim.rank).min();
    let alone = claims.iter().filter(|claim| Some(claim.rank) == first).count() == 1;
    claims
        .iter()
        .filter(|claim| !(alone && Some(claim.rank) == first))
        .filter_map(|claim| {
            let others =
                claims.iter().filter(|other| other.candidate.file.digest != claim.candidate.file.digest);
            others.min_by_key(|other| other.rank).map(|other| (claim, other))
        })
        .collect()
}
