use std::cell::RefCell;
use std::fs;

use super::{Privilege, apt, by_hand, install, install_args, missing, recent, source_compiler};
use crate::rust::fakes::{FakeMachine, script};
use crate::rust::target::GuestTarget;

#[test]
fn a_bare_machine_lacks_compiler_sources_and_linkers() {
    let fake = FakeMachine::new();
    let compilers = fake.machine.compilers();
    assert_eq!(
        missing(&fake.machine, &compilers, GuestTarget::Unknown),
        ["rustc-web", "rust-web-src", "rust-web-llvm", "lld-22"]
    );
}

#[test]
fn with_rustup_s_linkers_only_compiler_and_sources_are_missing() {
    let fake = FakeMachine::new();
    fake.rustup_linkers();
    let compilers = fake.machine.compilers();
    assert_eq!(missing(&fake.machine, &compilers, GuestTarget::Unknown), ["rustc-web", "rust-web-src"]);
    assert_eq!(
        missing(&fake.machine, &compilers, GuestTarget::Wasip2),
        ["rustc-web", "rust-web-src", "wasi-libc"]
    );
}

#[test]
fn wasi_libc_is_missing_only_for_the_target_that_links_it() {
    let fake = FakeMachine::new();
    fake.rustup_linkers();
    fake.distribution_compiler();
    let compilers = fake.machine.compilers();
    assert!(missing(&fake.machine, &compilers, GuestTarget::Unknown).is_empty());
    assert_eq!(missing(&fake.machine, &compilers, GuestTarget::Wasip2), ["wasi-libc"]);
    let libc = fake.machine.system.join("lib/wasm32-wasi");
    fs::create_dir_all(&libc).unwrap();
    for name in ["libc.a", "crt1-reactor.o"] {
        fs::write(libc.join(name), "").unwrap();
    }
    assert!(missing(&fake.machine, &compilers, GuestTarget::Wasip2).is_empty());
}

#[test]
fn a_machine_without_cargo_gets_the_distribution_s() {
    let mut fake = FakeMachine::new();
    fake.rustup_linkers();
    fake.machine.cargo = None;
    let compilers = fake.machine.compilers();
    assert!(missing(&fake.machine, &compilers, GuestTarget::Unknown).contains(&"cargo-web".to_owned()));
}

#[test]
fn the_default_compiler_serves_as_source_when_it_has_the_rust_src_component() {
    let fake = FakeMachine::new();
    let std = fake.stable().join("lib/rustlib/src/rust/library/std/src");
    fs::create_dir_all(&std).unwrap();
    fs::write(std.join("lib.rs"), "").unwrap();
    let compilers = fake.machine.compilers();
    assert_eq!(source_compiler(&compilers).unwrap().release, "1.95.0");
}

#[test]
fn compilers_from_before_edition_2024_are_no_source() {
    for (release, fit) in [
        ("1.96.0", true),
        ("1.85.0", true),
        ("2.0.0", true),
        ("1.97.0-nightly", true),
        ("1.84.1", false),
        ("x", false),
    ] {
        assert_eq!(recent(release), fit, "{release}");
    }
}

#[test]
fn packages_are_never_installed_at_the_cost_of_others() {
    let args = install_args(&["rustc-web".to_owned()]);
    assert!(args.contains(&"--no-remove".to_owned()) && args.contains(&"--no-install-recommends".to_owned()));
    assert_eq!(by_hand(&["a".into(), "b".into()]), "sudo apt-get install --no-install-recommends a b");
}

#[test]
fn sudo_is_used_only_where_we_are_not_root() {
    let line = |privilege| apt("/usr/bin/apt-get".as_ref(), privilege, ["update"]).to_string();
    assert_eq!(line(Privilege::Root), "env DEBIAN_FRONTEND=noninteractive /usr/bin/apt-get update");
    assert_eq!(line(Privilege::Sudo), "sudo -n env DEBIAN_FRONTEND=noninteractive /usr/bin/apt-get update");
}

#[test]
fn package_lists_are_fetched_only_when_a_package_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let (apt_get, log, lists) =
        (folder.path().join("apt-get"), folder.path().join("log"), folder.path().join("lists"));
    // Knows the package once its lists are there.
    script(
        &apt_get,
        &format!(
            "case \"$*\" in *--simulate*) did=simulate;; *) did=$1;; esac; echo $did >> '{}'\n\
             if [ $did = update ]; then : > '{lists}'; fi\n[ -e '{lists}' ] || {{ echo 'E: Unable to locate package' >&2; exit 100; }}",
            log.display(),
            lists = lists.display()
        ),
    );
    let said = RefCell::new(Vec::new());
    let report = |line: &str| said.borrow_mut().push(line.to_owned());
    let packages = ["rustc-web".to_owned()];
    install(&apt_get, Privilege::Root, &packages, &report).unwrap();
    assert_eq!(fs::read_to_string(&log).unwrap(), "simulate\nupdate\nsimulate\ninstall\n");
    assert_eq!(said.borrow().len(), 2);

    fs::remove_file(&log).unwrap();
    install(&apt_get, Privilege::Root, &packages, &report).unwrap();
    assert_eq!(fs::read_to_string(&log).unwrap(), "simulate\ninstall\n");
}

#[test]
fn a_package_that_no_list_has_is_an_error_before_anything_is_installed() {
    let folder = tempfile::tempdir().unwrap();
    let apt_get = folder.path().join("apt-get");
    script(&apt_get, "[ $1 = update ] || { echo 'E: Unable to locate package rustc-web' >&2; exit 100; }");
    let error = install(&apt_get, Privilege::Root, &["rustc-web".to_owned()], &|_| {}).unwrap_err();
    assert!(error.to_string().contains("Unable to locate package rustc-web"), "{error}");
    assert!(error.to_string().contains("--simulate"), "{error}");
}
