//! Making a sysroot: the standard library for one target, compiled from the compiler's own sources.
//!
//! The result is a folder that rustc takes with `--sysroot`, with a `bin/rustc` that does so. Extension authors then
//! need neither nightly features nor flags. A folder gets its final name only when it is complete, so whatever has
//! that name can be used; two processes that want the same one wait for each other.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::BuilderError;
use crate::guest_target_folder;
use crate::lock::take_lock;
use crate::process::CommandSpec;
use crate::rust::machine::{Compiler, Linkers, Machine, has_std};
use crate::rust::stamp::Stamp;
use crate::rust::target::GuestTarget;
use crate::toolchain_folder;

/// Twenty times what a slow two-core machine needs. Beyond it the network is stuck.
const STD_BUILD_LIMIT: Duration = Duration::from_secs(20 * 60);

/// The name of the empty crate for which the standard library is built.
const SEED_CRATE: &str = "capstan-std-seed";

/// A complete sysroot in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sysroot {
    pub(crate) path: PathBuf,
    pub(crate) stamp: Stamp,
    pub(crate) host: String,
    /// Whether this run made it.
    pub(crate) fresh: bool,
}

impl Sysroot {
    /// The compiler to hand to cargo as `RUSTC`.
    pub(crate) fn rustc(&self) -> PathBuf {
        self.path.join("bin/rustc")
    }

    /// The component linker inside the sysroot.
    pub(crate) fn linker(&self) -> PathBuf {
        self.path.join("lib/rustlib").join(&self.host).join("bin/wasm-component-ld")
    }

    /// Separates cargo's output by the making of the standard library; see [`Stamp::made`].
    pub(crate) fn key(&self) -> String {
        let name = self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        format!("{name}-{}", self.stamp.made())
    }
}

/// A sysroot from an earlier run that fits `compiler` as it is today.
pub(crate) fn existing(cache: &Path, compiler: &Compiler, target: GuestTarget) -> Option<Sysroot> {
    let path = path_for(cache, compiler, target);
    let stamp = Stamp::read(&path).filter(|stamp| stamp.fits(compiler, target))?;
    let complete = has_std(&path, target) && path.join("bin/rustc").is_file();
    complete.then(|| Sysroot { path, stamp, host: compiler.host.clone(), fresh: false })
}

/// Makes the sysroot, or takes it from another process that was quicker.
pub(crate) fn make(
    machine: &Machine,
    cargo: &Path,
    cache: &Path,
    compiler: &Compiler,
    target: GuestTarget,
    report: &dyn Fn(&str),
) -> Result<Sysroot, BuilderError> {
    let folder = toolchain_folder(cache);
    fs::create_dir_all(&folder).map_err(BuilderError::io("create", &folder))?;
    let lock = take_lock(&folder.join(format!("{target}.lock")), || {
        report(&format!("waiting for another process that is making the {target} standard library"));
    })?;
    if let Some(sysroot) = existing(cache, compiler, target) {
        return Ok(sysroot);
    }
    let started = Instant::now();
    report(&format!(
        "building the {target} standard library from the sources of rustc {} (once, about a minute)",
        compiler.release
    ));
    // We hold the lock, so whatever an interrupted run left half made belongs to nobody.
    let making = format!(".making-{target}-");
    remove_starting_with(&folder, &making, None)?;
    let scratch = tempfile::Builder::new()
        .prefix(&making)
        .tempdir_in(&folder)
        .map_err(BuilderError::io("create a folder in", &folder))?;
    let (work, built) = (scratch.path().join("work"), scratch.path().join("sysroot"));
    build_std(machine, cargo, compiler, target, &work)?;
    assemble(machine, compiler, target, &work, &built)?;
    Stamp::now(compiler, target).write(&built)?;

    let path = path_for(cache, compiler, target);
    if path.exists() {
        fs::remove_dir_all(&path).map_err(BuilderError::io("remove the outdated", &path))?;
    }
    fs::rename(&built, &path).map_err(BuilderError::io("rename a new sysroot to", &path))?;
    // Sysroots of compilers that have since been replaced, and what was built against them, serve nobody any more.
    let family = format!("{target}-");
    remove_starting_with(&folder, &family, path.file_name())?;
    remove_starting_with(&guest_target_folder(cache), &family, None)?;
    report(&format!("the {target} standard library is ready after {} s", started.elapsed().as_secs()));
    drop(lock);
    existing(cache, compiler, target).map(|sysroot| Sysroot { fresh: true, ..sysroot }).ok_or_else(|| {
        BuilderError::NoArtifact { path: path.join("lib/rustlib").join(target.as_str()).join("lib") }
    })
}

/// Points a sysroot's linkers at programs that exist: an update of rustup's toolchain may have taken the former ones.
pub(crate) fn link_linkers(sysroot: &Path, host: &str, linkers: &Linkers) -> Result<(), BuilderError> {
    let bin = sysroot.join("lib/rustlib").join(host).join("bin");
    fs::create_dir_all(&bin).map_err(BuilderError::io("create", &bin))?;
    for (name, program) in [("wasm-component-ld", &linkers.component), ("rust-lld", &linkers.lld)] {
        let link = bin.join(name);
        if link.is_file() {
            continue;
        }
        match fs::remove_file(&link) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(BuilderError::io("remove", link)(error));
            }
            _ => {}
        }
        match symlink(program, &link) {
            // Another process mended the same link at the same moment.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            linked => linked.map_err(BuilderError::io("link", link))?,
        }
    }
    Ok(())
}

/// Where wasi-libc lies on Debian and its kin; newer releases use the newer target names.
pub(crate) fn wasi_libc(machine: &Machine) -> Option<PathBuf> {
    ["wasm32-wasip2", "wasm32-wasip1", "wasm32-wasi"]
        .iter()
        .map(|name| machine.system.join("lib").join(name))
        .find(|folder| folder.join("libc.a").is_file() && folder.join("crt1-reactor.o").is_file())
}

/// Readable on purpose, and one folder per build of the compiler, so that an update never disturbs a build in progress.
fn path_for(cache: &Path, compiler: &Compiler, target: GuestTarget) -> PathBuf {
    toolchain_folder(cache).join(format!("{target}-{}-r{}", compiler.key(), crate::rust::stamp::RECIPE))
}

fn build_std(
    machine: &Machine,
    cargo: &Path,
    compiler: &Compiler,
    target: GuestTarget,
    work: &Path,
) -> Result<(), BuilderError> {
    let source = work.join("src");
    fs::create_dir_all(&source).map_err(BuilderError::io("create", &source))?;
    let manifest = format!(
        "[package]\nname = \"{SEED_CRATE}\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[profile.release]\npanic = \"abort\"\n\n[workspace]\n"
    );
    for (path, text) in [(work.join("Cargo.toml"), manifest.as_str()), (source.join("lib.rs"), "")] {
        fs::write(&path, text).map_err(BuilderError::io("write", path))?;
    }
    let wrap =
        |source| BuilderError::StdBuild { target, rustc: compiler.rustc.clone(), source: Box::new(source) };
    // Debian's copy of the crates that std depends on makes this work offline. It lacks the object files that the
    // WASI crates bring along, so for that target, or when the copy is missing or damaged, crates.io has to serve.
    let vendored = compiler.library().map(|library| library.join("vendor")).filter(|vendor| vendor.is_dir());
    if let (GuestTarget::Unknown, Some(vendor)) = (target, &vendored) {
        let offline = std_command(machine, cargo, compiler, target, work, Some(vendor));
        if offline.capture_ok(STD_BUILD_LIMIT).is_ok() {
            return Ok(());
        }
    }
    let online = std_command(machine, cargo, compiler, target, work, None);
    online.capture_ok(STD_BUILD_LIMIT).map(|_| ()).map_err(wrap)
}

fn std_command(
    machine: &Machine,
    cargo: &Path,
    compiler: &Compiler,
    target: GuestTarget,
    work: &Path,
    vendor: Option<&Path>,
) -> CommandSpec {
    let mut command = CommandSpec::new(cargo)
        .args(["build", "--quiet", "--release", "-Zbuild-std=std,panic_abort", "--target", target.as_str()])
        .in_dir(Some(work))
        .without(machine.leaks.iter().cloned())
        .env("RUSTC", &compiler.rustc)
        // `-Zbuild-std` is closed to stable compilers without it; the result depends on nothing unstable.
        .env("RUSTC_BOOTSTRAP", "1")
        // Without bitcode in the libraries, guests with `lto = true` fail at link time.
        .env(format!("CARGO_TARGET_{}_RUSTFLAGS", target.env_part()), "-Cembed-bitcode=yes")
        .env("CARGO_TARGET_DIR", work.join("target"));
    if let Some(vendor) = vendor {
        // TOML's literal strings take any path that has no quote in it.
        command = command.args([
            "--offline".to_owned(),
            "--config".to_owned(),
            "source.crates-io.replace-with='vendored'".to_owned(),
            "--config".to_owned(),
            format!("source.vendored.directory='{}'", vendor.display()),
        ]);
    }
    command
}

fn assemble(
    machine: &Machine,
    compiler: &Compiler,
    target: GuestTarget,
    work: &Path,
    sysroot: &Path,
) -> Result<(), BuilderError> {
    let rustlib = sysroot.join("lib/rustlib");
    let (guest_lib, host_dir) = (rustlib.join(target.as_str()).join("lib"), rustlib.join(&compiler.host));
    let self_contained = guest_lib.join("self-contained");
    for folder in [&self_contained, &host_dir, &sysroot.join("bin")] {
        fs::create_dir_all(folder).map_err(BuilderError::io("create", folder))?;
    }
    let built = work.join("target").join(target.as_str()).join("release/deps");
    let seed = format!("lib{}-", SEED_CRATE.replace('-', "_"));
    for entry in fs::read_dir(&built).map_err(BuilderError::io("read", &built))? {
        let path = entry.map_err(BuilderError::io("read", &built))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.ends_with(".rlib") && !name.starts_with(&seed) {
            fs::rename(&path, guest_lib.join(&name)).map_err(BuilderError::io("move", &path))?;
        }
    }
    if let (GuestTarget::Wasip2, Some(libc)) = (target, wasi_libc(machine)) {
        for name in ["crt1-command.o", "crt1-reactor.o", "libc.a"] {
            let from = libc.join(name);
            fs::copy(&from, self_contained.join(name)).map_err(BuilderError::io("copy", from))?;
        }
    }
    // Procedural macros and build scripts run on the host and need the compiler's own libraries.
    let host_lib = compiler.sysroot.join("lib/rustlib").join(&compiler.host).join("lib");
    symlink(&host_lib, &host_dir.join("lib")).map_err(BuilderError::io("link", host_lib))?;
    if let Some(linkers) = machine.linkers(compiler) {
        link_linkers(sysroot, &compiler.host, &linkers)?;
    }
    write_wrapper(&sysroot.join("bin/rustc"), &compiler.rustc)
}

/// A script rather than a link: through a link rustc would find its usual sysroot. It goes by its own place, so the
/// folder may be renamed and moved.
fn write_wrapper(path: &Path, rustc: &Path) -> Result<(), BuilderError> {
    let rustc = rustc.display().to_string().replace('\'', r"'\''");
    let script = format!("#!/bin/sh\nexec '{rustc}' --sysroot \"${{0%/bin/rustc}}\" \"$@\"\n");
    fs::write(path, script).and_then(|()| make_executable(path)).map_err(BuilderError::io("write", path))
}

fn remove_starting_with(
    folder: &Path,
    prefix: &str,
    keep: Option<&std::ffi::OsStr>,
) -> Result<(), BuilderError> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let matches = name.to_string_lossy().starts_with(prefix) && Some(name.as_os_str()) != keep;
        if matches && entry.path().is_dir() {
            fs::remove_dir_all(entry.path()).map_err(BuilderError::io("remove", entry.path()))?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn symlink(original: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(original, link)
}

#[cfg(unix)]
fn make_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

/// The recipe is for Linux distributions; elsewhere rustup brings the targets.
#[cfg(not(unix))]
fn symlink(_original: &Path, _link: &Path) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

#[cfg(test)]
#[path = "sysroot_tests.rs"]
mod tests;
