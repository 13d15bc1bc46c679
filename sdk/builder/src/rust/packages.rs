//! The distribution's way: Debian packages a compiler together with the sources of its standard library.
//!
//! Packages are added, never taken away: `--no-remove` makes apt refuse a solution that would cost the user another
//! Rust, such as that of the `rustup` package.

use std::path::Path;
use std::time::Duration;

use crate::error::BuilderError;
use crate::process::CommandSpec;
use crate::rust::machine::{Compiler, Machine};
use crate::rust::sysroot::wasi_libc;
use crate::rust::target::GuestTarget;

/// The packages are about 200 MB to fetch and 1 GB to unpack.
const INSTALL_LIMIT: Duration = Duration::from_secs(15 * 60);
/// Fetching the package lists, on a slow mirror.
const UPDATE_LIMIT: Duration = Duration::from_secs(3 * 60);
/// Asking who we are, or whether sudo wants a password.
const ASK_LIMIT: Duration = Duration::from_secs(10);

/// Older compilers know neither edition 2024 nor `wasm32-wasip2` well enough for guests.
const OLDEST_RELEASE: (u32, u32) = (1, 85);

/// How packages may be installed without asking anybody for a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Privilege {
    Root,
    Sudo,
}

/// The compiler whose standard library can be built here, together with everything that this takes.
pub(crate) fn source_compiler(compilers: &[Compiler]) -> Option<&Compiler> {
    compilers.iter().find(|compiler| recent(&compiler.release) && compiler.library().is_some())
}

/// Debian's names for what is missing before a sysroot for `target` can be made; empty when nothing is.
pub(crate) fn missing(machine: &Machine, compilers: &[Compiler], target: GuestTarget) -> Vec<String> {
    let mut packages = Vec::new();
    let source = source_compiler(compilers);
    if source.is_none() {
        packages.extend(["rustc-web", "rust-web-src"].map(str::to_owned));
    }
    if target == GuestTarget::Wasip2 && wasi_libc(machine).is_none() {
        packages.push("wasi-libc".to_owned());
    }
    if machine.cargo.is_none() {
        packages.push("cargo-web".to_owned());
    }
    if !compilers.iter().any(|compiler| machine.linkers(compiler).is_some()) {
        packages.extend(linker_packages(compilers));
    }
    packages
}

/// The packages with the two linkers. The one with the component linker has only a dangling link to the plain one,
/// whose own package is named after the LLVM that the compiler was built with.
pub(crate) fn linker_packages(compilers: &[Compiler]) -> Vec<String> {
    let llvm = source_compiler(compilers).and_then(|compiler| compiler.llvm_major).unwrap_or(22);
    vec!["rust-web-llvm".to_owned(), format!("lld-{llvm}")]
}

/// Whether this process may install packages.
pub(crate) fn privilege() -> Option<Privilege> {
    let asked = |program: &str, args: &[&str]| {
        CommandSpec::new(program).args(args).capture(ASK_LIMIT).ok().filter(|done| done.status.success())
    };
    if asked("id", &["-u"]).is_some_and(|done| done.stdout.trim() == "0") {
        return Some(Privilege::Root);
    }
    asked("sudo", &["-n", "true"]).map(|_| Privilege::Sudo)
}

/// Installs `packages`, after fetching the package lists if apt does not know them.
pub(crate) fn install(
    apt_get: &Path,
    privilege: Privilege,
    packages: &[String],
    report: &dyn Fn(&str),
) -> Result<(), BuilderError> {
    let simulation = CommandSpec::new(apt_get).args(install_args(packages)).arg("--simulate");
    if !simulation.capture(UPDATE_LIMIT)?.status.success() {
        report("fetching the distribution's package lists");
        apt(apt_get, privilege, ["update"]).capture_ok(UPDATE_LIMIT)?;
        simulation.capture_ok(UPDATE_LIMIT)?;
    }
    report(&format!("installing {} (once, up to 200 MB to fetch)", packages.join(" ")));
    apt(apt_get, privilege, install_args(packages)).capture_ok(INSTALL_LIMIT).map(|_| ())
}

/// The command that a person types for the same result.
pub(crate) fn by_hand(packages: &[String]) -> String {
    format!("sudo apt-get install --no-install-recommends {}", packages.join(" "))
}

fn install_args(packages: &[String]) -> Vec<String> {
    let fixed =
        ["install", "--yes", "--no-install-recommends", "--no-remove", "-o", "DPkg::Lock::Timeout=60"];
    fixed.into_iter().map(str::to_owned).chain(packages.iter().cloned()).collect()
}

fn apt<A: Into<std::ffi::OsString>>(
    apt_get: &Path,
    privilege: Privilege,
    args: impl IntoIterator<Item = A>,
) -> CommandSpec {
    let command = match privilege {
        Privilege::Root => CommandSpec::new("env"),
        // sudo drops the environment, so the variable is set behind it.
        Privilege::Sudo => CommandSpec::new("sudo").args(["-n", "env"]),
    };
    command.arg("DEBIAN_FRONTEND=noninteractive").arg(apt_get).args(args)
}

fn recent(release: &str) -> bool {
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    matches!((numbers.next(), numbers.next()), (Some(major), Some(minor)) if (major, minor) >= OLDEST_RELEASE)
}

#[cfg(test)]
#[path = "packages_tests.rs"]
mod tests;
