//! From a file to an extension that is understood but not yet granted anything.

use crate::abi::{Interface, Named, VERSION, compatible};
use crate::cache;
use crate::call::{Code, failure};
use crate::configuration;
use crate::descriptor;
use crate::error::{LoadError, LoadProblem};
use crate::import::printable;
use crate::limits::{Limits, MAX_FILE_BYTES, Role};
use crate::sandbox::Sandbox;
use crate::state::{Identity, Scope, State};
use crate::wasi::{Captured, deterministic_context};
use capstan_ports::extension::{Descriptor, Digest};
use capstan_ports::session::SessionId;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use wasmtime::component::Component;

/// What can be seen of a component from outside. Kept in the cache under the digest of the bytes, so `describe` is asked once
/// and cannot answer differently later (reliability T2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Surface {
    /// Names of all imports, as in the file.
    pub imports: Vec<String>,
    /// Interfaces of the contract that it exports.
    pub exports: BTreeSet<Interface>,
    /// Everything else that it exports; some guest toolchains add exports of their own, which are never called.
    pub other_exports: Vec<String>,
    /// Its own words, checked.
    pub descriptor: Descriptor,
}

/// A file that is an extension. Nothing is granted to it and nothing runs.
pub struct Inspected {
    /// Where it was found.
    pub path: PathBuf,
    /// SHA-256 of its bytes.
    pub digest: Digest,
    /// Its size.
    pub bytes: u64,
    /// What can be seen of it.
    pub surface: Surface,
    /// Its compiled code, once somebody needed it.
    pub(crate) code: OnceCell<Arc<Code>>,
}

/// What a look at a file told.
pub enum Glance {
    /// It was inspected before, and the cache holds its code.
    Known(Box<Inspected>),
    /// It has to be compiled first, with [`Sandbox::inspect`].
    Uncompiled(Digest),
}

impl Inspected {
    /// Whether a configuration table is one that it takes.
    ///
    /// # Errors
    /// When the table does not fit the schema in the descriptor; the error names the places.
    pub fn takes(&self, table: &Value) -> Result<(), LoadProblem> {
        let descriptor = &self.surface.descriptor;
        configuration::check(descriptor.id.as_str(), descriptor.config_schema.as_ref(), table)
    }
}

impl Sandbox {
    /// Reads, checks, compiles and describes one file; from the cache where that was done before.
    ///
    /// # Errors
    /// When the file is no loadable extension. The error names the file, what is wrong with it and what to do.
    pub async fn inspect(&self, path: &Path) -> Result<Inspected, LoadError> {
        self.inspect_file(path).await.map_err(|problem| LoadError { file: path.to_owned(), problem })
    }

    /// Looks at one file without compiling: answers what it is where the cache knows, and otherwise only its digest.
    ///
    /// # Errors
    /// When the file cannot be read, is too large, or does not begin as a component does.
    pub fn glance(&self, path: &Path) -> Result<Glance, LoadError> {
        let glanced = || {
            let bytes = read(path)?;
            let (digest, size) = (cache::digest(&bytes), bytes.len() as u64);
            match self.cached_surface(&digest) {
                Some(surface) => {
                    let code = OnceCell::new();
                    let path = path.to_owned();
                    Ok(Glance::Known(Box::new(Inspected { path, digest, bytes: size, surface, code })))
                }
                None => check_header(&bytes).map(|()| Glance::Uncompiled(digest)),
            }
        };
        glanced().map_err(|problem| LoadError { file: path.to_owned(), problem })
    }

    async fn inspect_file(&self, path: &Path) -> Result<Inspected, LoadProblem> {
        let bytes = read(path)?;
        let digest = cache::digest(&bytes);
        let size = bytes.len() as u64;
        if let Some(surface) = self.cached_surface(&digest) {
            let code = OnceCell::new();
            return Ok(Inspected { path: path.to_owned(), digest, bytes: size, surface, code });
        }
        check_header(&bytes)?;
        let component = self.compile(bytes, digest).await?;
        let (imports, exports, other_exports) = self.names(&component)?;
        let code = Arc::new(
            Code::link(self.linker(), &component)
                .map_err(|reason| LoadProblem::TypeMismatch { reason: one_line(&reason) })?,
        );
        let raw = self.describe(&code).await?;
        let descriptor = descriptor::check(raw, &exports)?;
        let surface = Surface { imports, exports, other_exports, descriptor };
        self.store_surface(&digest, &surface);
        Ok(Inspected {
            path: path.to_owned(),
            digest,
            bytes: size,
            surface,
            code: OnceCell::new_with(Some(code)),
        })
    }

    /// The compiled code of an extension: as compiled a moment ago, from the cache, or compiled again.
    pub(crate) async fn code(&self, inspected: &Inspected) -> Result<Arc<Code>, LoadProblem> {
        let code = inspected.code.get_or_try_init(|| async {
            let component = match self.cached_code(&inspected.digest) {
                Some(component) => component,
                None => {
                    let bytes = read(&inspected.path)?;
                    if cache::digest(&bytes) != inspected.digest {
                        return Err(LoadProblem::Invalid {
                            reason: "the file changed since it was loaded; start again to load the new one"
                                .to_owned(),
                        });
                    }
                    self.compile(bytes, inspected.digest).await?
                }
            };
            Code::link(self.linker(), &component)
                .map(Arc::new)
                .map_err(|reason| LoadProblem::TypeMismatch { reason: one_line(&reason) })
        });
        code.await.cloned()
    }

    /// Compiles within limits and keeps the result in the cache.
    async fn compile(&self, bytes: Vec<u8>, digest: Digest) -> Result<Component, LoadProblem> {
        let code = self.workshop().compile(self.engine(), bytes).await?;
        let sandbox = self.clone();
        // Large code takes a while to make executable and to write.
        let loaded = tokio::task::spawn_blocking(move || {
            let component = code.load(sandbox.engine())?;
            sandbox.store_code(&digest, &code);
            wasmtime::Result::Ok(component)
        });
        match loaded.await {
            Ok(Ok(component)) => Ok(component),
            // Code is held to what the pool of instances can give only when it is loaded.
            Ok(Err(reason)) => Err(LoadProblem::Invalid { reason: one_line(&reason) }),
            Err(reason) => Err(LoadProblem::CompilerStopped { reason: reason.to_string() }),
        }
    }

    /// Imports and exports by name, with everything refused that this host does not speak.
    fn names(&self, component: &Component) -> Result<Names, LoadProblem> {
        let ty = component.component_type();
        let mut exports = BTreeSet::new();
        let mut others = Vec::new();
        for (name, _) in ty.exports(self.engine()) {
            let known = Named::parse(name).and_then(|named| {
                let interface = Interface::ALL.iter().find(|known| known.name() == named.interface)?;
                (named.package == crate::abi::PACKAGE).then_some((named, *interface))
            });
            match known {
                Some((named, interface)) if named.is_spoken() => {
                    exports.insert(interface);
                }
                Some(_) => {
                    return Err(LoadProblem::ContractVersion {
                        found: printable(name, 200),
                        wanted: VERSION,
                    });
                }
                // Somebody expects to be called there: left out in silence, a gate would stand open.
                None if is_unknown_of_ours(name) => {
                    return Err(LoadProblem::UnknownExport { export: printable(name, 200) });
                }
                None => others.push(printable(name, 200)),
            }
        }
        if exports.is_empty() {
            let found = if others.is_empty() { "nothing".to_owned() } else { others.join(", ") };
            return Err(LoadProblem::NotAnExtension { found: printable(&found, 400) });
        }
        if !exports.contains(&Interface::Extension) {
            return Err(LoadProblem::NoDescriptor);
        }
        let imports: Vec<_> = ty.imports(self.engine()).map(|(name, _)| name.to_owned()).collect();
        for import in &imports {
            check_import(import)?;
        }
        Ok((imports, exports, others))
    }

    async fn describe(
        &self,
        code: &Code,
    ) -> Result<crate::bindings::exports::capstan::extension::extension::Descriptor, LoadProblem> {
        let limits = Limits::of(Role::Describe);
        let captured = Captured::default();
        let scope = Scope::new(Identity::unnamed(), SessionId::new(""), CancellationToken::new(), &limits);
        let state = State::new(Some(deterministic_context(&captured)), captured, scope, &limits);
        let work = async {
            let mut guest = code.instantiate(self.engine(), state, &limits).await?;
            if let Err(reason) = code.indices.check(&mut guest.store, &guest.instance) {
                return Ok(Err(LoadProblem::TypeMismatch { reason: one_line(&reason) }));
            }
            let answer = async {
                let exports = code.indices.extension.load(&mut guest.store, &guest.instance)?;
                exports.call_describe(&mut guest.store).await
            };
            answer.await.map(Ok).map_err(|reason| failure(reason, &mut guest.store))
        };
        crate::call::bounded(limits.deadline, &CancellationToken::new(), work)
            .await
            .map_err(|source| LoadProblem::Describe { source })?
    }
}

/// Whether an export claims to be of the contract. `types` has nothing to call, so it does no harm.
fn is_unknown_of_ours(name: &str) -> bool {
    Named::parse(name).is_some_and(|named| named.package == crate::abi::PACKAGE && named.interface != "types")
}

/// Imports, exports of the contract, and other exports.
type Names = (Vec<String>, BTreeSet<Interface>, Vec<String>);

/// Host packages that the linker provides.
const WASI: [&str; 7] =
    ["wasi:cli", "wasi:io", "wasi:clocks", "wasi:filesystem", "wasi:random", "wasi:sockets", "wasi:http"];

fn check_import(name: &str) -> Result<(), LoadProblem> {
    let unknown = || LoadProblem::UnknownImport { import: printable(name, 200) };
    let named = Named::parse(name).ok_or_else(unknown)?;
    if named.package == crate::abi::PACKAGE {
        return if named.is_spoken() {
            Ok(())
        } else {
            Err(LoadProblem::ContractVersion { found: printable(name, 200), wanted: VERSION })
        };
    }
    let version_fits = named.version.is_some_and(|version| compatible(version, "0.2.0"));
    if WASI.contains(&named.package) && version_fits { Ok(()) } else { Err(unknown()) }
}

fn read(path: &Path) -> Result<Vec<u8>, LoadProblem> {
    let unreadable = |source| LoadProblem::Unreadable { source };
    // Opening a pipe would wait for its other end.
    let mut options = std::fs::OpenOptions::new();
    options.read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    let mut file = options.open(path).map_err(unreadable)?;
    let found = file.metadata().map_err(unreadable)?;
    if !found.is_file() {
        return Err(unreadable(std::io::Error::other("it is not a regular file")));
    }
    if found.len() > MAX_FILE_BYTES {
        return Err(LoadProblem::TooLarge { bytes: found.len(), limit: MAX_FILE_BYTES });
    }
    let mut bytes = Vec::with_capacity(found.len() as usize);
    // The file may grow while it is read.
    let read = file.by_ref().take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)? as u64;
    if read > MAX_FILE_BYTES {
        return Err(LoadProblem::TooLarge { bytes: read, limit: MAX_FILE_BYTES });
    }
    Ok(bytes)
}

/// The first eight bytes of WebAssembly: magic, then version and layer.
fn check_header(bytes: &[u8]) -> Result<(), LoadProblem> {
    const MAGIC: &[u8] = b"\0asm";
    const MODULE: &[u8] = &[1, 0, 0, 0];
    match bytes.get(..8).map(|header| header.split_at(4)) {
        Some((MAGIC, MODULE)) => Err(LoadProblem::CoreModule),
        Some((MAGIC, _)) => Ok(()),
        _ => {
            let hex: Vec<_> = bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
            let beginning = if hex.is_empty() { "nothing".to_owned() } else { hex.join(" ") };
            Err(LoadProblem::NotWasm { beginning })
        }
    }
}

/// All causes of an error in one bounded line.
fn one_line(reason: &wasmtime::Error) -> String {
    printable(&format!("{reason:#}").replace('\n', " "), 600)
}
