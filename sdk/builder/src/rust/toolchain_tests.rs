use std::cell::RefCell;
use std::fs;

use super::{Origin, Toolchain, first_error, resolve};
use crate::error::BuilderError;
use crate::rust::fakes::{FakeMachine, install_std, script};
use crate::rust::target::GuestTarget;

const TARGET: GuestTarget = GuestTarget::Unknown;

fn resolved(fake: &FakeMachine) -> (Result<Toolchain, BuilderError>, Vec<String>) {
    let said = RefCell::new(Vec::new());
    let toolchain =
        resolve(&fake.machine, TARGET, &fake.cache(), &|line| said.borrow_mut().push(line.to_owned()));
    (toolchain, said.into_inner())
}

/// Everything for the way over sources is there.
fn with_sources() -> FakeMachine {
    let fake = FakeMachine::new();
    fake.distribution_compiler();
    fake.rustup_linkers();
    fake.cargo_that_builds_std();
    fake
}

#[test]
fn an_installed_target_is_used_without_a_word() {
    let mut fake = FakeMachine::new();
    fake.rustup_linkers();
    fake.rustup("exit 1");
    script(&fake.folder.path().join("once"), &install_std(&fake.stable(), TARGET));
    std::process::Command::new(fake.folder.path().join("once")).status().unwrap();
    let (toolchain, said) = resolved(&fake);
    let toolchain = toolchain.unwrap();
    assert_eq!((toolchain.origin, toolchain.rustc), (Origin::Installed, None));
    assert_eq!(toolchain.key, "installed-1.95.0-012345678");
    assert!(toolchain.linker.unwrap().ends_with("wasm-component-ld"));
    assert!(said.is_empty(), "{said:?}");
    assert!(!fake.cache().exists());
}

#[test]
fn rustup_adds_the_target_before_anything_is_compiled() {
    let mut fake = with_sources();
    fake.rustup(&install_std(&fake.stable(), TARGET));
    let (toolchain, said) = resolved(&fake);
    let toolchain = toolchain.unwrap();
    assert_eq!((toolchain.origin, toolchain.rustc), (Origin::RustupAdded, None));
    assert_eq!(said, ["asking rustup for wasm32-unknown-unknown (about 25 MB)"]);
}

#[test]
fn when_rustup_fails_its_reason_is_said_in_one_line_and_the_sources_serve() {
    let mut fake = with_sources();
    fake.rustup("printf 'info: downloading\\nerror: no route to host\\n\\nCaused by:\\n  it\\n' >&2; exit 1");
    let (toolchain, said) = resolved(&fake);
    let toolchain = toolchain.unwrap();
    assert!(matches!(toolchain.origin, Origin::Sysroot { fresh: true, .. }));
    assert_eq!(said[1], "rustup could not add wasm32-unknown-unknown: no route to host");
    assert!(said[2].contains("once, about a minute"), "{said:?}");
}

#[test]
fn a_sysroot_of_an_earlier_run_is_used_before_rustup_is_asked() {
    let mut fake = with_sources();
    resolved(&fake).0.unwrap();
    fake.rustup("exit 7");
    let (toolchain, said) = resolved(&fake);
    let toolchain = toolchain.unwrap();
    assert!(matches!(toolchain.origin, Origin::Sysroot { fresh: false, .. }));
    assert!(toolchain.rustc.unwrap().is_file() && toolchain.linker.unwrap().is_file());
    assert!(said.is_empty(), "{said:?}");
}

#[test]
fn the_cached_sysroot_survives_an_update_that_takes_its_linkers() {
    let fake = with_sources();
    resolved(&fake).0.unwrap();
    fs::rename(fake.stable(), fake.folder.path().join("rustup/toolchains/newer")).unwrap();
    let toolchain = resolved(&fake).0.unwrap();
    assert!(toolchain.linker.unwrap().is_file());
}

#[test]
fn nothing_is_fetched_when_the_user_forbids_it() {
    let mut fake = FakeMachine::new();
    fake.machine.may_install = false;
    fake.machine.apt_get = Some(fake.folder.path().join("apt-get"));
    fake.rustup(": > \"${0}.called\"");
    let (toolchain, said) = resolved(&fake);
    let message = toolchain.unwrap_err().to_string();
    assert!(message.contains("CAPSTAN_NO_INSTALL"), "{message}");
    assert!(!fake.folder.path().join("bin/rustup.called").exists());
    assert!(said.is_empty(), "{said:?}");
}

#[test]
fn a_machine_with_nothing_is_told_what_is_missing_and_how_to_mend_it() {
    let fake = FakeMachine::new();
    let message = resolved(&fake).0.unwrap_err().to_string();
    for part in [
        "rustc 1.95.0 has no standard library for wasm32-unknown-unknown",
        "rustup is not installed",
        "rustc-web rust-web-src rust-web-llvm lld-22 are missing and there is no apt-get",
        "To mend it: install rustup (https://rustup.rs), then run: rustup target add wasm32-unknown-unknown",
    ] {
        assert!(message.contains(part), "{part} is not in:\n{message}");
    }
}

#[test]
fn a_target_that_rustup_added_to_another_compiler_is_not_taken_for_success() {
    let mut fake = FakeMachine::new();
    fake.rustup("exit 0");
    let message = resolved(&fake).0.unwrap_err().to_string();
    assert!(message.contains("is RUSTC set?"), "{message}");
    assert!(message.ends_with("To mend it: rustup target add wasm32-unknown-unknown"), "{message}");
}

#[test]
fn the_line_that_matters_is_picked_from_what_rustup_says() {
    assert_eq!(first_error("info: a\nerror: b\n\nCaused by:\n  c\n"), "b");
    assert_eq!(first_error("something else\n\n"), "something else");
    assert_eq!(first_error(""), "it gave no reason");
}
