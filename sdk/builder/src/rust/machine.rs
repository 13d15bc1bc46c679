//! What this machine offers: compilers, cargo, linkers, rustup. Looking only; nothing here changes anything.

use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::BuilderError;
use crate::process::CommandSpec;
use crate::rust::target::GuestTarget;

/// A version query takes 20 ms; it takes a minute when rustup has to fetch a project's pinned toolchain first.
const QUERY_LIMIT: Duration = Duration::from_secs(120);

/// The machine as the builder sees it. Tests put fake programs here.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    /// Where programs are asked: rustup answers by the folder (`rust-toolchain.toml`).
    pub(crate) dir: Option<PathBuf>,
    /// The default compiler: `$RUSTC`, else `rustc`.
    pub(crate) rustc: PathBuf,
    pub(crate) cargo: Option<PathBuf>,
    pub(crate) rustup: Option<PathBuf>,
    pub(crate) rustup_home: Option<PathBuf>,
    pub(crate) apt_get: Option<PathBuf>,
    /// The root of the distribution's own files, `/usr`.
    pub(crate) system: PathBuf,
    pub(crate) path: Vec<PathBuf>,
    /// Whether targets and packages may be fetched.
    pub(crate) may_install: bool,
    /// Inherited variables that must not reach a guest build.
    pub(crate) leaks: BTreeSet<OsString>,
}

impl Machine {
    /// Reads the environment of this process.
    pub(crate) fn detect(dir: Option<&Path>) -> Self {
        let path: Vec<PathBuf> =
            env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
        let home = env::var_os("HOME").map(PathBuf::from);
        let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Self {
            dir: dir.map(Path::to_path_buf),
            rustc: set("RUSTC").unwrap_or_else(|| PathBuf::from("rustc")),
            // Under an outer `cargo run` this is the very cargo that runs us, so both agree on versions.
            cargo: set("CARGO").filter(|cargo| cargo.is_file()).or_else(|| find_in(&path, "cargo")),
            rustup: find_in(&path, "rustup"),
            rustup_home: set("RUSTUP_HOME").or_else(|| home.map(|home| home.join(".rustup"))),
            apt_get: find_in(&path, "apt-get"),
            system: PathBuf::from("/usr"),
            may_install: set("CAPSTAN_NO_INSTALL").is_none(),
            leaks: leaking(env::vars_os().map(|(name, _)| name)),
            path,
        }
    }

    /// Compilers worth looking at, the default one first. A compiler that does not answer is left out.
    pub(crate) fn compilers(&self) -> Vec<Compiler> {
        let distribution = self.system.join("bin/rustc");
        let asked = [Some(&self.rustc), distribution.is_file().then_some(&distribution)];
        let mut found: Vec<Compiler> = Vec::new();
        for program in asked.into_iter().flatten() {
            if let Ok(compiler) = Compiler::ask(program, self.dir.as_deref())
                && found.iter().all(|other| other.sysroot != compiler.sysroot)
            {
                found.push(compiler);
            }
        }
        found
    }

    /// The same machine after packages were installed.
    pub(crate) fn looked_at_again(&self) -> Self {
        Self {
            cargo: self.cargo.clone().or_else(|| find_in(&self.path, "cargo")),
            rustup: self.rustup.clone().or_else(|| find_in(&self.path, "rustup")),
            ..self.clone()
        }
    }

    /// The linkers for a host platform: beside `compiler` first, then anything this machine has.
    pub(crate) fn linkers(&self, compiler: &Compiler) -> Option<Linkers> {
        let bin = |root: &Path| root.join("lib/rustlib").join(&compiler.host).join("bin");
        let mut folders = vec![bin(&compiler.sysroot)];
        folders.extend(self.rustup_toolchains().iter().map(|root| bin(root)));
        folders.push(bin(&self.system));
        folders.extend(self.path.iter().cloned());
        let component = folders.iter().find_map(|folder| program_in(folder, "wasm-component-ld"))?;
        // The component linker starts the plain one and finds it by name only, so that one has to be known as well.
        let beside = component.parent().map(Path::to_path_buf);
        let lld = beside
            .iter()
            .chain(&self.path)
            .chain([&self.system.join("bin")])
            .find_map(|folder| program_in(folder, "rust-lld"))?;
        Some(Linkers { component, lld })
    }

    /// Newest name first, so that the choice does not depend on the order of the file system.
    fn rustup_toolchains(&self) -> Vec<PathBuf> {
        let Some(entries) =
            self.rustup_home.as_ref().and_then(|home| fs::read_dir(home.join("toolchains")).ok())
        else {
            return Vec::new();
        };
        let mut roots: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        roots.sort();
        roots.reverse();
        roots
    }
}

/// The two programs that turn object files into a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Linkers {
    /// `wasm-component-ld`.
    pub(crate) component: PathBuf,
    /// `rust-lld`, which the former starts.
    pub(crate) lld: PathBuf,
}

/// A Rust compiler and what it says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Compiler {
    /// The program as it was called.
    pub(crate) asked: PathBuf,
    /// The real program, never a rustup proxy: a proxy would answer differently in another folder.
    pub(crate) rustc: PathBuf,
    pub(crate) sysroot: PathBuf,
    /// The whole `rustc -vV`.
    pub(crate) version: String,
    pub(crate) release: String,
    pub(crate) host: String,
    /// The first nine digits, or "unknown" for compilers built outside git.
    pub(crate) commit: String,
    pub(crate) llvm_major: Option<u32>,
}

impl Compiler {
    /// Asks a compiler for its version and sysroot.
    pub(crate) fn ask(program: &Path, dir: Option<&Path>) -> Result<Self, BuilderError> {
        let ask = |args: &[&str]| {
            CommandSpec::new(program).args(args).in_dir(dir).capture_ok(QUERY_LIMIT).map(|done| done.stdout)
        };
        let version = ask(&["-vV"])?;
        let sysroot = PathBuf::from(ask(&["--print", "sysroot"])?.trim_end());
        Self::parse(program, version, sysroot)
    }

    pub(crate) fn parse(program: &Path, version: String, sysroot: PathBuf) -> Result<Self, BuilderError> {
        let field = |name: &'static str| {
            version.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).map(str::to_owned)
        };
        let needed = |name| {
            field(name)
                .ok_or_else(|| BuilderError::NotRustc { program: program.display().to_string(), field: name })
        };
        let inside = sysroot.join("bin").join(format!("rustc{}", env::consts::EXE_SUFFIX));
        Ok(Self {
            asked: program.to_path_buf(),
            rustc: if inside.is_file() { inside } else { program.to_path_buf() },
            release: needed("release")?,
            host: needed("host")?,
            commit: field("commit-hash")
                .map_or_else(|| "unknown".to_owned(), |hash| hash.chars().take(9).collect()),
            llvm_major: field("LLVM version").and_then(|llvm| llvm.split('.').next()?.parse().ok()),
            sysroot,
            version,
        })
    }

    /// Whether the target's standard library lies in the compiler's own sysroot.
    pub(crate) fn knows(&self, target: GuestTarget) -> bool {
        has_std(&self.sysroot, target)
    }

    /// The sources of this compiler's standard library, when they are installed.
    pub(crate) fn library(&self) -> Option<PathBuf> {
        let library = self.sysroot.join("lib/rustlib/src/rust/library");
        library.join("std/src/lib.rs").is_file().then_some(library)
    }

    /// "1.96.0-ac68faa20": tells builds of the compiler apart in folder names.
    pub(crate) fn key(&self) -> String {
        format!("{}-{}", self.release, self.commit)
    }
}

/// Whether a sysroot holds the compiled standard library for `target`.
pub(crate) fn has_std(sysroot: &Path, target: GuestTarget) -> bool {
    let Ok(entries) = fs::read_dir(sysroot.join("lib/rustlib").join(target.as_str()).join("lib")) else {
        return false;
    };
    let names: Vec<OsString> = entries.flatten().map(|entry| entry.file_name()).collect();
    let has = |prefix: &str| {
        names
            .iter()
            .filter_map(|name| name.to_str())
            .any(|name| name.starts_with(prefix) && name.ends_with(".rlib"))
    };
    has("libcore-") && has("libstd-")
}

/// Which inherited variables would change a guest build without its author knowing.
///
/// An outer cargo describes *its* package in `CARGO_…`, and flags or wrappers that suit the host's compiler break a
/// build for WebAssembly. Settings about the network, registries and the terminal stay, because the guest build
/// needs them as much.
pub(crate) fn leaking(names: impl IntoIterator<Item = OsString>) -> BTreeSet<OsString> {
    const KEPT: [&str; 9] = [
        "CARGO_HOME",
        "CARGO_NET_",
        "CARGO_HTTP_",
        "CARGO_REGISTRY_",
        "CARGO_REGISTRIES_",
        "CARGO_SOURCE_",
        "CARGO_TERM_",
        "CARGO_LOG",
        "CARGO_BUILD_JOBS",
    ];
    const DROPPED: [&str; 6] =
        ["RUSTFLAGS", "RUSTDOCFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RUSTC_LINKER", "OUT_DIR"];
    let leaks = |name: &OsStr| {
        let Some(name) = name.to_str() else { return false };
        DROPPED.contains(&name)
            || (name.starts_with("CARGO_") && !KEPT.iter().any(|kept| name.starts_with(kept)))
    };
    names.into_iter().filter(|name| leaks(name)).collect()
}

fn find_in(path: &[PathBuf], name: &str) -> Option<PathBuf> {
    path.iter().find_map(|folder| program_in(folder, name))
}

fn program_in(folder: &Path, name: &str) -> Option<PathBuf> {
    // `is_file` follows links: a link into a toolchain that has gone is no program.
    Some(folder.join(format!("{name}{}", env::consts::EXE_SUFFIX))).filter(|program| program.is_file())
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
