//! Compiled code and descriptors on disk, so that a start costs neither compilation nor a call of `describe`.
//!
//! Loading compiled code is executing it: wasmtime checks its form only lightly. So an entry counts only if a keyed digest
//! proves that a host of this user wrote it for exactly these bytes, this wasmtime and this configuration. The key lies
//! outside the cache directory; neither is ever inside a grant (`capstan_policy::directory::check_reach`).
//!
//! What this cannot do: protect against somebody who can read the user's own files. That somebody has won already.

mod lanes;
mod room;

use lanes::Sum;
pub use room::{DEFAULT_MAX_BYTES, Entry, Removed, clear, entries};

use crate::compile::Compiled;
use crate::descriptor;
use capstan_ports::extension::Digest;
use hmac::{Hmac, KeyInit, Mac};
use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::{self, Read as _, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use wasmtime::Engine;
use wasmtime::component::Component;

/// Where the cache lives.
#[derive(Debug, Clone)]
pub struct CacheOptions {
    /// Made with mode 0700 if it is missing.
    pub directory: PathBuf,
    /// The secret key, made with mode 0600 if it is missing. Not inside `directory`.
    pub key_file: PathBuf,
}

/// What kind of entry; part of the digest, so that one kind cannot stand in for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Machine code.
    Code,
    /// Exports and descriptor as JSON.
    Surface,
}

impl Kind {
    fn suffix(self) -> &'static str {
        match self {
            Self::Code => "cwasm",
            Self::Surface => "json",
        }
    }
}

/// The store of one engine configuration.
pub(crate) struct Cache {
    directory: PathBuf,
    key: [u8; 32],
    /// Of wasmtime's version, target and configuration, and of the rules by which descriptors are checked.
    compatibility: [u8; 32],
    max_bytes: u64,
}

const MAC_BYTES: usize = 32;

/// How entries are written and digested. Raised when that changes, so that older ones are not taken for damaged.
const FORM: u32 = 2;

impl Cache {
    /// Opens the store, or says why there is none. A host without a cache works; it only starts more slowly.
    pub(crate) fn open(options: &CacheOptions, engine: &Engine) -> io::Result<Self> {
        private_directory(&options.directory)?;
        let key = key(&options.key_file)?;
        let mut hasher = Sha256Hasher(Sha256::new());
        hasher.0.update(FORM.to_le_bytes());
        hasher.0.update(descriptor::RULES.to_le_bytes());
        engine.precompile_compatibility_hash().hash(&mut hasher);
        Ok(Self {
            directory: options.directory.clone(),
            key,
            compatibility: hasher.0.finalize().into(),
            max_bytes: DEFAULT_MAX_BYTES,
        })
    }

    /// With another bound on what it may hold.
    pub(crate) fn holding(self, max_bytes: u64) -> Self {
        Self { max_bytes, ..self }
    }

    /// The verified bytes of an entry, which counts as use. `None` when there is none, or none that this host wrote; such a
    /// one is removed.
    pub(crate) fn read(&self, kind: Kind, digest: &Digest) -> Option<Vec<u8>> {
        let (bytes, file) = self.verified(kind, digest)?;
        touch(&file, &self.path(kind, digest));
        Some(bytes)
    }

    /// The same without counting as use.
    pub(crate) fn peek(&self, kind: Kind, digest: &Digest) -> Option<Vec<u8>> {
        self.verified(kind, digest).map(|(bytes, _)| bytes)
    }

    fn verified(&self, kind: Kind, digest: &Digest) -> Option<(Vec<u8>, fs::File)> {
        let path = self.path(kind, digest);
        let Read { mac, payload, sum, file } = match read_open(&path) {
            Ok(read) => read,
            Err(reason) if reason.kind() == io::ErrorKind::NotFound => return None,
            Err(reason) => {
                tracing::warn!(path = %path.display(), %reason, "a cache entry cannot be read; it is made again");
                return None;
            }
        };
        let expected = self.mac(kind, digest, payload.len(), &sum);
        if expected.is_some_and(|expected| expected.verify_slice(&mac).is_ok()) {
            return Some((payload, file));
        }
        tracing::warn!(path = %path.display(), "a cache entry is damaged or foreign; it is made again");
        if let Err(reason) = fs::remove_file(&path) {
            tracing::debug!(path = %path.display(), %reason, "a foreign cache entry stays");
        }
        None
    }

    /// Whether there is an entry; it may still turn out not to be genuine.
    pub(crate) fn has(&self, kind: Kind, digest: &Digest) -> bool {
        self.path(kind, digest).is_file()
    }

    /// Writes an entry beside its place and renames it there: a reader sees all of it or nothing. What is too much then
    /// goes, the least recently used first.
    pub(crate) fn write(&self, kind: Kind, digest: &Digest, payload: &[u8]) -> io::Result<()> {
        if (MAC_BYTES + payload.len()) as u64 > self.max_bytes {
            return Err(io::Error::other(format!(
                "its {} bytes alone are more than the cache may hold; set cache_mb higher",
                payload.len()
            )));
        }
        let mac = self
            .mac(kind, digest, payload.len(), &lanes::sum(payload))
            .ok_or_else(|| io::Error::other("the cache key is unusable"))?;
        let path = self.path(kind, digest);
        let temporary = temporary(&path)?;
        let written = (|| {
            let mut file = create_new(&temporary)?;
            file.write_all(&mac.finalize().into_bytes())?;
            file.write_all(payload)?;
            fs::rename(&temporary, &path)
        })();
        if written.is_err() && temporary.exists() {
            fs::remove_file(&temporary)?;
        }
        written?;
        match room::make_room(&self.directory, self.compatibility(), self.max_bytes, SystemTime::now()) {
            Ok(removed) if removed != Removed::default() => {
                tracing::info!(entries = removed.entries, bytes = removed.bytes, "the cache made room");
            }
            Ok(_) => {}
            // What was written is there; the next write tries again.
            Err(reason) => tracing::warn!(%reason, "the cache could not make room"),
        }
        Ok(())
    }

    /// Whether an entry is for this wasmtime and this configuration.
    pub(crate) fn is_current(&self, entry: &Entry) -> bool {
        entry.compatibility == self.compatibility()
    }

    /// Compiled code for these bytes, if this host wrote some.
    pub(crate) fn code(&self, engine: &Engine, digest: &Digest) -> Option<Component> {
        let loaded = match self.sealed(digest) {
            Some(sealed) => sealed.load(engine),
            None => Genuine(self.read(Kind::Code, digest)?).load(engine),
        };
        loaded
            .inspect_err(
                |reason| tracing::warn!(%digest, %reason, "cached code does not load; it is compiled again"),
            )
            .ok()
    }

    /// Large code in sealed memory, which costs one copy less than [`Cache::read`]. `None` where it is small, where the system
    /// has no such memory, and where anything is wrong with the entry; reading it in the other way then says what.
    fn sealed(&self, digest: &Digest) -> Option<Sealed> {
        let path = self.path(Kind::Code, digest);
        let file = fs::File::open(&path).ok()?;
        let length = usize::try_from(file.metadata().ok()?.len()).ok()?.checked_sub(MAC_BYTES)?;
        if length < lanes::WORTH_A_THREAD {
            return None;
        }
        let mut mac = [0; MAC_BYTES];
        file.read_exact_at(&mut mac, 0).ok()?;
        let (sealed, sum) = Sealed::copy_of(&file, length)
            .inspect_err(
                |reason| tracing::debug!(%reason, "no sealed memory; the code is read in the usual way"),
            )
            .ok()?;
        self.mac(Kind::Code, digest, length, &sum)?.verify_slice(&mac).ok()?;
        touch(&file, &path);
        Some(sealed)
    }

    fn path(&self, kind: Kind, digest: &Digest) -> PathBuf {
        self.directory.join(format!("{digest}-{:016x}.{}", self.compatibility(), kind.suffix()))
    }

    /// As it stands in names of files.
    fn compatibility(&self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|i| self.compatibility[i]))
    }

    /// The keyed digest of an entry, over the digests of its pieces ([`lanes`]).
    fn mac(&self, kind: Kind, digest: &Digest, length: usize, sum: &Sum) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).ok()?;
        mac.update(kind.suffix().as_bytes());
        mac.update(&[0]);
        mac.update(&digest.0);
        mac.update(&self.compatibility);
        mac.update(&(length as u64).to_le_bytes());
        sum.iter().for_each(|piece| mac.update(piece));
        Some(mac)
    }
}

/// Machine code that this user's host made from WebAssembly, in memory, where nobody can change it any more. There are two
/// ways to one, and both are in the contract of [`Genuine::load`].
pub(crate) struct Genuine(Vec<u8>);

impl Genuine {
    /// What this process's own compiler, or the compiler process that it started, has just answered.
    pub(crate) fn just_compiled(compiled: Compiled) -> Self {
        Self(compiled.into_bytes())
    }

    /// For the store.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Makes it executable.
    pub(crate) fn load(&self, engine: &Engine) -> wasmtime::Result<Component> {
        // SAFETY: `deserialize` requires bytes that `Component::serialize` or `Engine::precompile_component` made. These are
        // such bytes, for a `Genuine` is made in two places only.
        // In `Cache::code`: the keyed digest covers all of the bytes together with the engine's compatibility hash and the
        // digest of the wasm; only `Cache::write` computes it, only with the output of the compiler, under a key that only
        // this user can read. The bytes were read into memory before they were verified.
        // In `just_compiled`: a `Compiled` is the output of `precompile_component`, either in this process, or in a process
        // that `compile` started from the program that the embedder named, over a pipe whose other end only that process
        // held, complete, and only if that process ended well. It got nothing but the wasm; what the wasm says can make it
        // fail, no more than it could in this process.
        // Both are in memory of this process alone, so they cannot change afterwards. Code of another wasmtime or another
        // configuration is an error that `deserialize` itself finds.
        #[allow(unsafe_code, reason = "the one place where compiled code is loaded; see the contract above")]
        unsafe {
            Component::deserialize(engine, &self.0)
        }
    }
}

/// Bytes of an entry in memory of this process that nobody can change any more, this process included.
struct Sealed(fs::File);

impl Sealed {
    /// Copies the bytes after the keyed digest, and seals the copy. The digests are of what was copied.
    #[cfg(target_os = "linux")]
    fn copy_of(file: &fs::File, length: usize) -> io::Result<(Self, Sum)> {
        use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let memory = fs::File::from(memfd_create("capstan-code", flags)?);
        memory.set_len(length as u64)?;
        let sum = lanes::copy(file, MAC_BYTES as u64, length, &memory)?;
        fcntl_add_seals(&memory, SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Ok((Self(memory), sum))
    }

    #[cfg(not(target_os = "linux"))]
    fn copy_of(_file: &fs::File, _length: usize) -> io::Result<(Self, Sum)> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Makes it executable.
    fn load(&self, engine: &Engine) -> wasmtime::Result<Component> {
        use std::os::fd::AsRawFd;
        let path = format!("/proc/self/fd/{}", self.0.as_raw_fd());
        // SAFETY: the contract is that of `Genuine::load`; a `Sealed` reaches this point only from `Cache::code`, after its
        // keyed digest was verified over the digests that were taken of the very bytes that were copied in. It is no file of
        // the cache but memory without a name, sealed against writing, growing and shrinking before it was verified, so what
        // is mapped here cannot change, neither now nor later.
        #[allow(
            unsafe_code,
            reason = "the other place where compiled code is loaded; see the contract above"
        )]
        unsafe {
            Component::deserialize_file(engine, path)
        }
    }
}

/// An entry as it was read.
struct Read {
    mac: [u8; MAC_BYTES],
    payload: Vec<u8>,
    sum: Sum,
    file: fs::File,
}

/// Reads an entry. What is too short has a keyed digest that nothing can have.
fn read_open(path: &Path) -> io::Result<Read> {
    let file = fs::File::open(path)?;
    let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    let mut mac = [0; MAC_BYTES];
    let Some(length) = length.checked_sub(MAC_BYTES) else {
        return Ok(Read { mac, payload: Vec::new(), sum: Sum::new(), file });
    };
    file.read_exact_at(&mut mac, 0)?;
    let (payload, sum) = lanes::read(&file, MAC_BYTES as u64, length)?;
    Ok(Read { mac, payload, sum, file })
}

/// Remembers that an entry was of use, if that was not remembered lately.
fn touch(file: &fs::File, path: &Path) {
    let now = SystemTime::now();
    let touched = file.metadata().and_then(|found| found.modified()).and_then(|last| {
        match now.duration_since(last).is_ok_and(|age| age < room::TOUCH_AFTER) {
            true => Ok(()),
            false => file.set_modified(now),
        }
    });
    if let Err(reason) = touched {
        tracing::debug!(path = %path.display(), %reason, "the use of a cache entry could not be noted");
    }
}

/// SHA-256 of an extension's bytes.
pub(crate) fn digest(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}

/// Makes or checks a directory that only this user can write and that is not reached through a link of another.
fn private_directory(directory: &Path) -> io::Result<()> {
    if let Some(parent) = directory.parent() {
        fs::create_dir_all(parent)?;
    }
    match fs::DirBuilder::new().mode(0o700).create(directory) {
        Ok(()) => {}
        Err(reason) if reason.kind() == io::ErrorKind::AlreadyExists => {}
        Err(reason) => return Err(reason),
    }
    let found = fs::symlink_metadata(directory)?;
    own(&found, directory)?;
    if !found.is_dir() {
        return Err(io::Error::other(format!("{} is not a directory", directory.display())));
    }
    Ok(())
}

fn own(found: &fs::Metadata, path: &Path) -> io::Result<()> {
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other(format!("{} belongs to another user", path.display())));
    }
    if !found.is_symlink() && found.mode() & 0o022 != 0 {
        return Err(io::Error::other(format!("{} can be written by others; chmod go-w it", path.display())));
    }
    Ok(())
}

/// Reads the key, or makes one.
fn key(path: &Path) -> io::Result<[u8; 32]> {
    match read_key(path) {
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => {}
        found => return found,
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(io::Error::other)?;
    // Another process may do the same at this moment: link the finished file in, and take what won.
    let temporary = temporary(path)?;
    create_new(&temporary)?.write_all(&key)?;
    let linked = fs::hard_link(&temporary, path);
    fs::remove_file(&temporary)?;
    match linked {
        Err(reason) if reason.kind() != io::ErrorKind::AlreadyExists => Err(reason),
        Ok(()) | Err(_) => read_key(path),
    }
}

/// Checks and reads one and the same open file.
fn read_key(path: &Path) -> io::Result<[u8; 32]> {
    let mut options = fs::OpenOptions::new();
    // Neither through a link nor waiting for the other end of a pipe.
    options.read(true).custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    let mut file = options.open(path)?;
    let found = file.metadata()?;
    own(&found, path)?;
    if !found.is_file() || found.mode() & 0o077 != 0 {
        return Err(io::Error::other(format!("{} can be read by others; chmod 600 it", path.display())));
    }
    if found.len() != 32 {
        return Err(io::Error::other(format!(
            "{} is no cache key; remove it and a new one is made",
            path.display()
        )));
    }
    let mut key = [0; 32];
    file.read_exact(&mut key)?;
    Ok(key)
}

/// A name beside `path` that nobody else uses, in this process or another.
fn temporary(path: &Path) -> io::Result<PathBuf> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(path.with_extension(format!("{:016x}.tmp", u64::from_le_bytes(random))))
}

fn create_new(path: &Path) -> io::Result<fs::File> {
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// wasmtime gives its compatibility as something to hash; the standard hasher's result is no stable key.
struct Sha256Hasher(Sha256);

impl Hasher for Sha256Hasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let digest: [u8; 32] = self.0.clone().finalize().into();
        u64::from_le_bytes(std::array::from_fn(|i| digest[i]))
    }
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
