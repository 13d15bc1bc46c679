//! A machine made of shell scripts: its compilers, rustup and cargo do just enough to be found and asked.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::rust::machine::Machine;
use crate::rust::target::GuestTarget;

pub(crate) const HOST: &str = "x86_64-unknown-linux-gnu";

/// Lives in a folder of its own, with a cache beside it.
pub(crate) struct FakeMachine {
    pub(crate) folder: TempDir,
    pub(crate) machine: Machine,
}

impl FakeMachine {
    /// A default compiler 1.95.0 without any guest target, and a cargo that does nothing.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        write_compiler(&root.join("rustup/toolchains/stable"), "1.95.0");
        let cargo = root.join("bin/cargo");
        script(&cargo, "exit 0");
        let machine = Machine {
            dir: None,
            rustc: root.join("rustup/toolchains/stable/bin/rustc"),
            cargo: Some(cargo),
            rustup: None,
            rustup_home: Some(root.join("rustup")),
            apt_get: None,
            system: root.join("usr"),
            path: Vec::new(),
            may_install: true,
            leaks: BTreeSet::new(),
        };
        Self { folder, machine }
    }

    pub(crate) fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    pub(crate) fn stable(&self) -> PathBuf {
        self.folder.path().join("rustup/toolchains/stable")
    }

    /// A compiler 1.96.0 with the sources of its standard library, as Debian's packages install it.
    pub(crate) fn distribution_compiler(&self) {
        write_compiler(&self.machine.system, "1.96.0");
        let std = self.machine.system.join("lib/rustlib/src/rust/library/std/src");
        fs::create_dir_all(&std).unwrap();
        fs::write(std.join("lib.rs"), "").unwrap();
    }

    pub(crate) fn rustup_linkers(&self) {
        let bin = self.stable().join("lib/rustlib").join(HOST).join("bin");
        for name in ["wasm-component-ld", "rust-lld"] {
            script(&bin.join(name), "exit 0");
        }
    }

    /// A cargo that "builds" the standard library by leaving the libraries where cargo would.
    pub(crate) fn cargo_that_builds_std(&self) {
        let body = r#"
while [ $# -gt 0 ]; do [ "$1" = --target ] && target=$2; shift; done
out=$CARGO_TARGET_DIR/$target/release/deps
mkdir -p "$out"
for lib in core std capstan_std_seed; do : > "$out/lib$lib-0.rlib"; done
"#;
        script(self.machine.cargo.as_ref().unwrap(), body);
    }

    /// A rustup that runs `body` for whatever it is asked.
    pub(crate) fn rustup(&mut self, body: &str) {
        let program = self.folder.path().join("bin/rustup");
        script(&program, body);
        self.machine.rustup = Some(program);
    }
}

/// Shell lines that put the target's libraries into a sysroot.
pub(crate) fn install_std(sysroot: &Path, target: GuestTarget) -> String {
    let lib = sysroot.join("lib/rustlib").join(target.as_str()).join("lib");
    format!("mkdir -p '{0}' && : > '{0}/libcore-0.rlib' && : > '{0}/libstd-0.rlib'", lib.display())
}

/// Written by another process: while this one has a script open for writing, a test in another thread may fork, and
/// starting the script would then fail with "text file busy".
pub(crate) fn script(path: &Path, body: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let write = r#"printf '#!/bin/sh\n%s\n' "$2" > "$1" && chmod 755 "$1""#;
    let status = Command::new("sh").args(["-c", write, "sh"]).arg(path).arg(body).status().unwrap();
    assert!(status.success());
}

fn write_compiler(sysroot: &Path, release: &str) {
    let body = format!(
        "case $1 in\n-vV) printf 'rustc {release}\\ncommit-hash: 0123456789abcdef\\nhost: {HOST}\\nrelease: {release}\\nLLVM version: 22.1.8\\n';;\n--print) echo '{}';;\nesac",
        sysroot.display()
    );
    script(&sysroot.join("bin/rustc"), &body);
}
