//! Which compiler and linker build a guest, and how to come by them.
//!
//! In order: what is installed, what an earlier run left in the cache, what rustup can add, what the distribution's
//! packages allow to build. The cache precedes rustup so that later builds start at once and work offline.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{BuilderError, chain};
use crate::process::CommandSpec;
use crate::rust::machine::{Compiler, Linkers, Machine};
use crate::rust::sysroot::{self, Sysroot};
use crate::rust::target::GuestTarget;
use crate::rust::{diagnosis, packages};

/// A target is 25 MB to fetch. Without a network rustup gives up by itself within seconds; a network that swallows
/// packets must not hold up the other ways for long.
const RUSTUP_LIMIT: Duration = Duration::from_secs(60);

/// Everything that cargo needs to build a guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolchain {
    /// What it builds for.
    pub target: GuestTarget,
    /// The compiler to pass in `RUSTC`; `None` when the default one knows the target.
    pub rustc: Option<PathBuf>,
    /// The cargo to call.
    pub cargo: PathBuf,
    /// `wasm-component-ld`, to pass in `CARGO_TARGET_…_LINKER`. Its folder belongs on `PATH`, because it looks for
    /// `rust-lld` there. `None` would leave the choice to rustc.
    pub linker: Option<PathBuf>,
    /// How the machine came by it.
    pub origin: Origin,
    /// Different for standard libraries whose compiled guests must not be mixed; names a folder of cargo's output.
    pub key: String,
}

/// How the machine came by a toolchain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The target was already installed.
    Installed,
    /// This run asked rustup for the target.
    RustupAdded,
    /// The standard library was compiled from sources into a folder of the cache.
    Sysroot {
        /// The folder.
        path: PathBuf,
        /// Whether this run made it.
        fresh: bool,
    },
}

/// Finds or makes a toolchain for `target`.
///
/// `cache` is a folder such as [`default_cache`](crate::default_cache) gives. `report` gets one short line for each
/// step that takes time or changes the machine. With `CAPSTAN_NO_INSTALL` set to anything, neither rustup nor the
/// package manager is asked to fetch something.
///
/// # Errors
/// [`BuilderError::NoToolchain`] lists what was tried and the command that mends it; [`BuilderError::StdBuild`] says
/// why the standard library did not compile.
pub fn toolchain(
    target: GuestTarget,
    cache: &Path,
    report: &dyn Fn(&str),
) -> Result<Toolchain, BuilderError> {
    resolve(&Machine::detect(None), target, cache, report)
}

/// [`toolchain`] on a given machine.
pub(crate) fn resolve(
    machine: &Machine,
    target: GuestTarget,
    cache: &Path,
    report: &dyn Fn(&str),
) -> Result<Toolchain, BuilderError> {
    // cargo runs in the project's folder, so a relative cache would mean two different places.
    let cache = std::path::absolute(cache).map_err(BuilderError::io("resolve", cache))?;
    let mut machine = machine.clone();
    let mut compilers = machine.compilers();
    if let Some(ready) = ready(&machine, &compilers, target, &cache)? {
        return Ok(ready);
    }
    let mut reasons = vec![shortfall(&machine, &compilers, target)];

    match rustup_add(&machine, target, report) {
        Ok(()) => {
            compilers = machine.compilers();
            if let Some(added) = installed(&machine, &compilers, target) {
                return Ok(Toolchain { origin: Origin::RustupAdded, ..added });
            }
            reasons.push(format!("rustup added {target}, but not to the compiler in use; is RUSTC set?"));
        }
        Err(reason) => reasons.push(reason),
    }

    let needed = packages::missing(&machine, &compilers, target);
    if !needed.is_empty() {
        if let Err(reason) = install_packages(&machine, &needed, report) {
            reasons.push(reason);
            return Err(BuilderError::NoToolchain {
                target,
                reasons,
                remedy: diagnosis::remedy(&machine, target, &needed),
            });
        }
        // Programs may have appeared that were not there when the machine was looked at.
        machine = machine.looked_at_again();
        compilers = machine.compilers();
    }
    let made = packages::source_compiler(&compilers).zip(machine.cargo.clone());
    let Some((compiler, cargo)) = made else {
        let needed = packages::missing(&machine, &compilers, target);
        reasons.push(format!("after installing packages there is still no {}", needed.join(", ")));
        return Err(BuilderError::NoToolchain {
            target,
            reasons,
            remedy: diagnosis::remedy(&machine, target, &needed),
        });
    };
    let sysroot = sysroot::make(&machine, &cargo, &cache, compiler, target, report)?;
    Ok(from_sysroot(sysroot, target, cargo))
}

/// What can be used this moment, offline and without changing more than the links of a cached sysroot.
fn ready(
    machine: &Machine,
    compilers: &[Compiler],
    target: GuestTarget,
    cache: &Path,
) -> Result<Option<Toolchain>, BuilderError> {
    if let Some(installed) = installed(machine, compilers, target) {
        return Ok(Some(installed));
    }
    let Some(cargo) = &machine.cargo else { return Ok(None) };
    for compiler in compilers {
        if let (Some(sysroot), Some(linkers)) =
            (sysroot::existing(cache, compiler, target), any_linkers(machine, compilers))
        {
            sysroot::link_linkers(&sysroot.path, &compiler.host, &linkers)?;
            return Ok(Some(from_sysroot(sysroot, target, cargo.clone())));
        }
    }
    Ok(None)
}

/// A compiler with the target in its own sysroot.
pub(crate) fn installed(machine: &Machine, compilers: &[Compiler], target: GuestTarget) -> Option<Toolchain> {
    let cargo = machine.cargo.clone()?;
    let compiler = compilers.iter().find(|compiler| compiler.knows(target))?;
    let linkers = machine.linkers(compiler)?;
    Some(Toolchain {
        target,
        rustc: (compiler.asked != machine.rustc).then(|| compiler.rustc.clone()),
        cargo,
        linker: Some(linkers.component),
        origin: Origin::Installed,
        key: format!("installed-{}", compiler.key()),
    })
}

pub(crate) fn any_linkers(machine: &Machine, compilers: &[Compiler]) -> Option<Linkers> {
    compilers.iter().find_map(|compiler| machine.linkers(compiler))
}

fn from_sysroot(sysroot: Sysroot, target: GuestTarget, cargo: PathBuf) -> Toolchain {
    Toolchain {
        target,
        rustc: Some(sysroot.rustc()),
        cargo,
        linker: Some(sysroot.linker()),
        key: sysroot.key(),
        origin: Origin::Sysroot { path: sysroot.path, fresh: sysroot.fresh },
    }
}

/// Why what is installed does not do.
fn shortfall(machine: &Machine, compilers: &[Compiler], target: GuestTarget) -> String {
    let Some(compiler) = compilers.first() else {
        return format!("there is no working `{}`", machine.rustc.display());
    };
    if machine.cargo.is_none() {
        return "there is no cargo".to_owned();
    }
    if compilers.iter().any(|compiler| compiler.knows(target)) {
        return format!(
            "the {target} standard library is installed, but wasm-component-ld or rust-lld is not"
        );
    }
    format!("rustc {} has no standard library for {target}", compiler.release)
}

/// The error is a reason for the user, not for the caller: other ways follow.
fn rustup_add(machine: &Machine, target: GuestTarget, report: &dyn Fn(&str)) -> Result<(), String> {
    let Some(rustup) = &machine.rustup else { return Err("rustup is not installed".to_owned()) };
    if !machine.may_install {
        return Err("rustup was not asked, because CAPSTAN_NO_INSTALL is set".to_owned());
    }
    report(&format!("asking rustup for {target} (about 25 MB)"));
    let command =
        CommandSpec::new(rustup).args(["target", "add", target.as_str()]).in_dir(machine.dir.as_deref());
    let reason = match command.capture(RUSTUP_LIMIT) {
        Ok(done) if done.status.success() => return Ok(()),
        Ok(done) => format!("rustup could not add {target}: {}", first_error(&done.stderr)),
        Err(error) => chain(&error),
    };
    report(&reason);
    Err(reason)
}

fn install_packages(machine: &Machine, needed: &[String], report: &dyn Fn(&str)) -> Result<(), String> {
    let list = needed.join(" ");
    let Some(apt_get) = &machine.apt_get else {
        return Err(format!(
            "the standard library could be built from sources, but Debian's {list} are missing and there is no apt-get"
        ));
    };
    if !machine.may_install {
        return Err(format!("{list} are missing and were not installed, because CAPSTAN_NO_INSTALL is set"));
    }
    let Some(privilege) = packages::privilege() else {
        return Err(format!("{list} are missing, and installing them takes root or sudo without a password"));
    };
    packages::install(apt_get, privilege, needed, report).map_err(|error| chain(&error))
}

/// rustup prints progress before and a backtrace behind the one line that matters.
fn first_error(stderr: &str) -> &str {
    let spoken = |line: &&str| !line.trim().is_empty();
    stderr
        .lines()
        .find_map(|line| line.strip_prefix("error: "))
        .or_else(|| stderr.lines().rfind(spoken))
        .unwrap_or("it gave no reason")
}

#[cfg(test)]
#[path = "toolchain_tests.rs"]
mod tests;
