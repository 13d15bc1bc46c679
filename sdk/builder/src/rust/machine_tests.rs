use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Compiler, has_std, leaking};
use crate::error::BuilderError;
use crate::rust::fakes::FakeMachine;
use crate::rust::target::GuestTarget;

const VERBOSE: &str = "rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)\nbinary: rustc\n\
    commit-hash: ac68faa20c58cbccd01ee7208bf3b6e93a7d7f96\nhost: x86_64-unknown-linux-gnu\nrelease: 1.96.0\n\
    LLVM version: 22.1.8\n";

#[test]
fn a_version_report_is_taken_apart() {
    let compiler = Compiler::parse(Path::new("rustc"), VERBOSE.into(), PathBuf::from("/nowhere")).unwrap();
    assert_eq!(compiler.release, "1.96.0");
    assert_eq!(compiler.host, "x86_64-unknown-linux-gnu");
    assert_eq!(compiler.llvm_major, Some(22));
    assert_eq!(compiler.key(), "1.96.0-ac68faa20");
}

#[test]
fn a_compiler_built_outside_git_still_has_a_key() {
    let compiler =
        Compiler::parse(Path::new("rustc"), "host: h\nrelease: 1.90.0\n".into(), PathBuf::from("/n"))
            .unwrap();
    assert_eq!((compiler.key().as_str(), compiler.llvm_major), ("1.90.0-unknown", None));
}

#[test]
fn a_program_that_is_no_compiler_is_refused_by_name() {
    let error = Compiler::parse(Path::new("/bin/true"), "hello".into(), PathBuf::from("/n")).unwrap_err();
    assert!(matches!(error, BuilderError::NotRustc { field: "release", .. }), "{error}");
    assert!(error.to_string().contains("/bin/true"), "{error}");
}

#[test]
fn a_target_counts_only_with_both_core_and_std() {
    let root = tempfile::tempdir().unwrap();
    let lib = root.path().join("lib/rustlib/wasm32-wasip2/lib");
    assert!(!has_std(root.path(), GuestTarget::Wasip2));
    fs::create_dir_all(&lib).unwrap();
    fs::write(lib.join("libcore-1.rlib"), "").unwrap();
    fs::write(lib.join("libstd-1.rmeta"), "").unwrap();
    assert!(!has_std(root.path(), GuestTarget::Wasip2));
    fs::write(lib.join("libstd-1.rlib"), "").unwrap();
    assert!(has_std(root.path(), GuestTarget::Wasip2));
    assert!(!has_std(root.path(), GuestTarget::Unknown));
}

#[test]
fn what_an_outer_cargo_says_about_its_own_package_does_not_reach_a_guest() {
    let names = [
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTC_WRAPPER",
        "CARGO_TARGET_DIR",
        "CARGO_BUILD_TARGET",
        "CARGO_MANIFEST_DIR",
        "CARGO_PKG_VERSION",
        "CARGO_PROFILE_RELEASE_LTO",
        "CARGO_INCREMENTAL",
        "OUT_DIR",
    ];
    let leaks = leaking(names.map(OsString::from));
    assert_eq!(leaks.len(), names.len(), "{leaks:?}");
}

#[test]
fn what_a_guest_build_needs_from_the_environment_stays() {
    let names = [
        "PATH",
        "HOME",
        "CARGO",
        "CARGO_HOME",
        "CARGO_NET_OFFLINE",
        "CARGO_HTTP_PROXY",
        "CARGO_REGISTRIES_INHOUSE_INDEX",
        "CARGO_TERM_COLOR",
        "CARGO_BUILD_JOBS",
        "RUSTUP_TOOLCHAIN",
        "RUSTC",
        "https_proxy",
    ];
    assert!(leaking(names.map(OsString::from)).is_empty());
}

#[test]
fn the_distribution_s_compiler_is_found_behind_the_default_one() {
    let fake = FakeMachine::new();
    fake.distribution_compiler();
    let compilers = fake.machine.compilers();
    assert_eq!(compilers.iter().map(|c| c.release.as_str()).collect::<Vec<_>>(), ["1.95.0", "1.96.0"]);
}

#[test]
fn a_compiler_that_does_not_answer_is_left_out() {
    let mut fake = FakeMachine::new();
    fake.machine.rustc = PathBuf::from("/nowhere/rustc");
    assert!(fake.machine.compilers().is_empty());
    fake.distribution_compiler();
    assert_eq!(fake.machine.compilers().len(), 1);
}

#[test]
fn linkers_are_taken_from_any_rustup_toolchain() {
    let fake = FakeMachine::new();
    fake.distribution_compiler();
    let distribution = fake.machine.compilers().remove(1);
    assert_eq!(fake.machine.linkers(&distribution), None);
    fake.rustup_linkers();
    let linkers = fake.machine.linkers(&distribution).unwrap();
    assert!(linkers.component.ends_with("bin/wasm-component-ld") && linkers.lld.ends_with("bin/rust-lld"));
}

#[test]
fn a_component_linker_without_the_plain_one_is_not_enough() {
    let fake = FakeMachine::new();
    fake.rustup_linkers();
    let compiler = fake.machine.compilers().remove(0);
    fs::remove_file(fake.machine.linkers(&compiler).unwrap().lld).unwrap();
    assert_eq!(fake.machine.linkers(&compiler), None);
}
