use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use super::{Sysroot, existing, link_linkers, make, path_for};
use crate::rust::fakes::{FakeMachine, HOST, script};
use crate::rust::machine::{Compiler, Linkers};
use crate::rust::stamp::STAMP_FILE;
use crate::rust::target::GuestTarget;

const TARGET: GuestTarget = GuestTarget::Unknown;

fn ready() -> (FakeMachine, Compiler) {
    let fake = FakeMachine::new();
    fake.distribution_compiler();
    fake.rustup_linkers();
    fake.cargo_that_builds_std();
    let compiler = fake.machine.compilers().remove(1);
    (fake, compiler)
}

fn make_in(fake: &FakeMachine, compiler: &Compiler) -> Sysroot {
    let cargo = fake.machine.cargo.clone().unwrap();
    make(&fake.machine, &cargo, &fake.cache(), compiler, TARGET, &|_| {}).unwrap()
}

fn entries(folder: PathBuf) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_sysroot_is_made_once_and_found_again() {
    let (fake, compiler) = ready();
    assert_eq!(existing(&fake.cache(), &compiler, TARGET), None);
    let made = make_in(&fake, &compiler);
    assert!(made.fresh);
    let again = make_in(&fake, &compiler);
    assert!(!again.fresh);
    assert_eq!((&again.path, again.key()), (&made.path, made.key()));
}

#[test]
fn a_sysroot_holds_the_libraries_but_not_the_crate_they_were_built_for() {
    let (fake, compiler) = ready();
    let made = make_in(&fake, &compiler);
    let lib = made.path.join("lib/rustlib/wasm32-unknown-unknown/lib");
    assert_eq!(entries(lib), ["libcore-0.rlib", "libstd-0.rlib", "self-contained"]);
    assert!(made.linker().is_file());
}

#[test]
fn the_wrapper_names_its_own_folder_even_after_a_move() {
    let (fake, compiler) = ready();
    let made = make_in(&fake, &compiler);
    script(&compiler.rustc, "echo \"$@\"");
    let moved = fake.folder.path().join("moved here");
    fs::rename(&made.path, &moved).unwrap();
    let said = Command::new(moved.join("bin/rustc")).args(["-vV", "a b"]).output().unwrap().stdout;
    assert_eq!(String::from_utf8(said).unwrap(), format!("--sysroot {} -vV a b\n", moved.display()));
}

#[test]
fn a_failed_build_leaves_nothing_that_could_be_taken_for_a_sysroot() {
    let (fake, compiler) = ready();
    let cargo = fake.machine.cargo.clone().unwrap();
    script(&cargo, "echo 'error: no space left' >&2; exit 101");
    let error = make(&fake.machine, &cargo, &fake.cache(), &compiler, TARGET, &|_| {}).unwrap_err();
    assert!(crate::error::chain(&error).contains("no space left"), "{error}");
    assert_eq!(entries(fake.cache().join("toolchain")), ["wasm32-unknown-unknown.lock"]);
}

#[test]
fn an_interrupted_run_is_cleared_away_by_the_next() {
    let (fake, compiler) = ready();
    let left = fake.cache().join("toolchain/.making-wasm32-unknown-unknown-x1/sysroot");
    let other = fake.cache().join("toolchain/.making-wasm32-wasip2-x1");
    fs::create_dir_all(&left).unwrap();
    fs::create_dir_all(&other).unwrap();
    make_in(&fake, &compiler);
    assert!(!left.exists() && other.exists());
}

#[test]
fn a_new_compiler_gets_a_new_sysroot_and_the_old_one_goes() {
    let (fake, compiler) = ready();
    let old = make_in(&fake, &compiler);
    let built_with_old = fake.cache().join("guest-target").join(old.key());
    fs::create_dir_all(&built_with_old).unwrap();
    let newer = Compiler { version: "rustc 1.97.0".into(), release: "1.97.0".into(), ..compiler };
    assert_eq!(existing(&fake.cache(), &newer, TARGET), None);
    let new = make_in(&fake, &newer);
    assert!(new.path.exists() && !old.path.exists() && !built_with_old.exists());
}

#[test]
fn a_rebuilt_compiler_of_the_same_version_gets_a_new_sysroot_too() {
    let (fake, compiler) = ready();
    let old = make_in(&fake, &compiler);
    let rebuilt = Compiler { version: format!("{}LLVM version: 23.0.0\n", compiler.version), ..compiler };
    let new = make_in(&fake, &rebuilt);
    assert!(new.fresh && new.path == old.path);
}

#[test]
fn a_sysroot_without_stamp_or_library_does_not_count() {
    for lost in [STAMP_FILE, "bin/rustc", "lib/rustlib/wasm32-unknown-unknown/lib/libstd-0.rlib"] {
        let (fake, compiler) = ready();
        let made = make_in(&fake, &compiler);
        fs::remove_file(made.path.join(lost)).unwrap();
        assert_eq!(existing(&fake.cache(), &compiler, TARGET), None, "{lost}");
        assert!(make_in(&fake, &compiler).fresh, "{lost}");
    }
}

#[test]
fn two_at_once_make_one_sysroot() {
    let (fake, compiler) = ready();
    let made: Vec<Sysroot> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4).map(|_| scope.spawn(|| make_in(&fake, &compiler))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert_eq!(made.iter().filter(|sysroot| sysroot.fresh).count(), 1);
}

#[test]
fn links_to_linkers_that_have_gone_are_renewed() {
    let (fake, compiler) = ready();
    let sysroot = make_in(&fake, &compiler);
    let bin = sysroot.linker().parent().unwrap().to_path_buf();
    fs::remove_file(bin.join("rust-lld")).unwrap();
    symlink("/nowhere/rust-lld", bin.join("rust-lld")).unwrap();
    let linkers: Linkers = fake.machine.linkers(&compiler).unwrap();
    link_linkers(&sysroot.path, HOST, &linkers).unwrap();
    assert_eq!(fs::read_link(bin.join("rust-lld")).unwrap(), linkers.lld);
}

#[test]
fn the_folder_says_target_compiler_and_recipe() {
    let (_fake, compiler) = ready();
    let path = path_for("/c".as_ref(), &compiler, GuestTarget::Wasip2);
    assert_eq!(path, PathBuf::from("/c/toolchain/wasm32-wasip2-1.96.0-012345678-r1"));
}
