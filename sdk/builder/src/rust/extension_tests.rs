use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::{LockFile, Profile, Settings, build_on, cargo_command};
use crate::Purpose;
use crate::component::classify;
use crate::error::{ArtifactKind, BuilderError};
use crate::process::CommandSpec;
use crate::rust::fakes::{FakeMachine, script};
use crate::rust::machine::Machine;
use crate::rust::project::Project;
use crate::rust::target::GuestTarget;
use crate::rust::toolchain::{Origin, Toolchain, resolve};

const MANIFEST: &str = "[package]\nname = \"tiny-ext\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
    [lib]\ncrate-type = [\"cdylib\"]\n\n[workspace]\n";

fn project(target: GuestTarget) -> Project {
    Project { target, ..Project::parse(PathBuf::from("/p/Cargo.toml"), MANIFEST.to_owned()).unwrap() }
}

fn toolchain(target: GuestTarget) -> Toolchain {
    Toolchain {
        target,
        rustc: Some(PathBuf::from("/s/bin/rustc")),
        cargo: PathBuf::from("/c/cargo"),
        linker: Some(PathBuf::from("/s/bin/wasm-component-ld")),
        origin: Origin::Installed,
        key: "k".into(),
    }
}

fn command(toolchain: &Toolchain, profile: Profile, lock: LockFile) -> CommandSpec {
    let mut machine = FakeMachine::new().machine;
    machine.leaks = [OsString::from("RUSTFLAGS")].into();
    let settings = Settings {
        target_dir: Path::new("/t"),
        profile,
        purpose: Purpose::Use,
        lock,
        path: "/usr/bin:/bin".into(),
    };
    cargo_command(&machine, toolchain, &project(toolchain.target), &settings)
}

/// What a build to be debugged says of the profile, over the project's own or none.
#[test]
fn a_build_to_be_debugged_keeps_lines_whatever_the_projects_profile_strips() {
    for profile in [Profile::Guest, Profile::Project] {
        let settings = Settings {
            target_dir: Path::new("/t"),
            profile,
            purpose: Purpose::Debugging,
            lock: LockFile::Updatable,
            path: "/bin".into(),
        };
        let target = GuestTarget::Unknown;
        let command =
            cargo_command(&FakeMachine::new().machine, &toolchain(target), &project(target), &settings);
        assert_eq!(value(&command, "CARGO_PROFILE_RELEASE_DEBUG"), Some("line-tables-only"));
        assert_eq!(value(&command, "CARGO_PROFILE_RELEASE_STRIP"), Some("none"));
    }
}

fn value<'a>(command: &'a CommandSpec, name: &str) -> Option<&'a str> {
    command.set.get(&OsString::from(name)).and_then(|value| value.to_str())
}

#[test]
fn the_command_names_target_compiler_linker_and_shared_folder() {
    let command = command(&toolchain(GuestTarget::Unknown), Profile::Guest, LockFile::Updatable);
    assert_eq!(command.program, PathBuf::from("/c/cargo"));
    assert_eq!(
        command.args,
        [
            "build",
            "--release",
            "--lib",
            "--target",
            "wasm32-unknown-unknown",
            "--manifest-path",
            "/p/Cargo.toml"
        ]
    );
    assert_eq!(command.dir.as_deref(), Some(Path::new("/p")));
    assert_eq!(value(&command, "RUSTC"), Some("/s/bin/rustc"));
    assert_eq!(value(&command, "CARGO_TARGET_DIR"), Some("/t"));
    assert_eq!(
        value(&command, "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER"),
        Some("/s/bin/wasm-component-ld")
    );
    assert!(command.unset.contains(&OsString::from("RUSTFLAGS")));
}

#[test]
fn the_component_linker_finds_the_plain_one_beside_it() {
    let command = command(&toolchain(GuestTarget::Wasip2), Profile::Guest, LockFile::Updatable);
    assert_eq!(value(&command, "PATH"), Some("/usr/bin:/bin:/s/bin"));
    assert_eq!(value(&command, "CARGO_TARGET_WASM32_WASIP2_LINKER"), Some("/s/bin/wasm-component-ld"));
}

#[test]
fn the_default_compiler_is_left_to_cargo() {
    let installed = Toolchain { rustc: None, ..toolchain(GuestTarget::Unknown) };
    let command = command(&installed, Profile::Guest, LockFile::Updatable);
    assert_eq!(value(&command, "RUSTC"), None);
}

#[test]
fn guests_are_compiled_small_and_keep_the_names_of_their_functions() {
    let command = command(&toolchain(GuestTarget::Unknown), Profile::Guest, LockFile::Updatable);
    assert_eq!(value(&command, "CARGO_PROFILE_RELEASE_OPT_LEVEL"), Some("s"));
    assert_eq!(value(&command, "CARGO_PROFILE_RELEASE_PANIC"), Some("abort"));
    assert_eq!(value(&command, "CARGO_PROFILE_RELEASE_STRIP"), Some("debuginfo"));
}

#[test]
fn a_profile_of_the_project_s_own_is_left_alone() {
    let command = command(&toolchain(GuestTarget::Unknown), Profile::Project, LockFile::Updatable);
    assert!(command.set.keys().all(|name| !name.to_string_lossy().starts_with("CARGO_PROFILE")));
}

#[test]
fn only_build_servers_insist_on_the_lock_file() {
    let toolchain = toolchain(GuestTarget::Unknown);
    let locked = |lock| command(&toolchain, Profile::Guest, lock).args.contains(&OsString::from("--locked"));
    assert!(locked(LockFile::Binding) && !locked(LockFile::Updatable));
}

/// A fake machine whose cargo writes `bytes` (in printf's escapes) as the library.
fn fake_build(bytes: &str, status: u8) -> (Result<super::BuiltExtension, BuilderError>, FakeMachine) {
    let fake = FakeMachine::new();
    fake.distribution_compiler();
    fake.rustup_linkers();
    fake.cargo_that_builds_std();
    resolve(&fake.machine, GuestTarget::Unknown, &fake.cache(), &|_| {}).unwrap();
    script(
        fake.machine.cargo.as_ref().unwrap(),
        &format!(
            "[ $1 = locate-project ] && exit 1\nout=$CARGO_TARGET_DIR/wasm32-unknown-unknown/release; mkdir -p $out\n\
             [ -z '{bytes}' ] || printf '{bytes}' > $out/tiny_ext.wasm\nexit {status}"
        ),
    );
    let dir = fake.folder.path().join("project");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("Cargo.toml"), MANIFEST).unwrap();
    let project = Project::read(&dir).unwrap();
    let built = build_on(
        &fake.machine,
        &project,
        Purpose::Use,
        &fake.cache(),
        &fake.folder.path().join("out"),
        &|_| {},
    );
    (built, fake)
}

#[test]
fn a_component_is_published_under_the_package_s_name() {
    let (built, fake) = fake_build(r"\0asm\015\0\001\0", 0);
    let built = built.unwrap();
    assert_eq!(built.wasm, fake.folder.path().join("out/tiny-ext.wasm"));
    assert_eq!((built.bytes, built.name.as_str()), (8, "tiny-ext"));
}

#[test]
fn nothing_but_a_component_is_published() {
    let (built, fake) = fake_build(r"\0asm\001\0\0\0", 0);
    let error = built.unwrap_err();
    assert!(matches!(error, BuilderError::NotComponent { kind: ArtifactKind::CoreModule, .. }), "{error}");
    assert!(!fake.folder.path().join("out").exists());
}

#[test]
fn a_failing_cargo_is_reported_with_the_extension_s_name() {
    let error = fake_build("", 101).0.unwrap_err();
    assert!(matches!(error, BuilderError::Build { .. }), "{error}");
    assert!(error.to_string().contains("`tiny-ext`"), "{error}");
}

#[test]
fn a_library_that_cargo_did_not_write_is_an_error_of_its_own() {
    let error = fake_build("", 0).0.unwrap_err();
    assert!(matches!(error, BuilderError::NoArtifact { .. }), "{error}");
}

/// The real machine, kept from fetching anything: a test must not change the user's toolchains.
fn real_machine() -> Machine {
    Machine { may_install: false, ..Machine::detect(None) }
}

fn real_cache() -> PathBuf {
    env::var_os("CAPSTAN_GUEST_CACHE").map_or_else(crate::default_cache, PathBuf::from)
}

fn real_project(folder: &Path, answer: u8) -> Project {
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("Cargo.toml"), MANIFEST).unwrap();
    let source = format!(
        "#[unsafe(no_mangle)]\npub extern \"C\" fn answer(n: usize) -> usize {{\n    vec![{answer}u8; n].iter().map(|&b| b as usize).sum()\n}}\n"
    );
    fs::write(folder.join("src/lib.rs"), source).unwrap();
    Project::read(folder).unwrap()
}

/// Whether a real build would have to make its toolchain first.
fn no_toolchain_yet(machine: &Machine, cache: &Path) -> bool {
    let target = GuestTarget::Unknown.as_str();
    let ready = crate::rust::diagnosis::diagnose_on(machine, cache)
        .iter()
        .any(|finding| finding.subject == target && finding.status == crate::Status::Ready);
    if !ready {
        eprintln!("skipped: no toolchain for {target} in {}; run `cargo xtask setup`", cache.display());
    }
    !ready
}

#[test]
fn a_real_project_becomes_a_component() {
    let (machine, cache) = (real_machine(), real_cache());
    if no_toolchain_yet(&machine, &cache) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let project = real_project(&folder.path().join("a"), 7);
    let built =
        build_on(&machine, &project, Purpose::Use, &cache, &folder.path().join("out"), &|_| {}).unwrap();
    let bytes = fs::read(&built.wasm).unwrap();
    assert_eq!(classify(&bytes), ArtifactKind::Component);
    assert_eq!(built.bytes, bytes.len() as u64);
    assert!(bytes.len() < 100_000, "{} bytes for one function", bytes.len());
    // The name section survives, so that a trap can be read.
    assert!(bytes.windows(6).any(|window| window == b"answer"));
}

#[test]
fn two_projects_of_one_name_never_get_each_other_s_component() {
    let (machine, cache) = (real_machine(), real_cache());
    if no_toolchain_yet(&machine, &cache) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let projects = [7, 9].map(|answer| real_project(&folder.path().join(answer.to_string()), answer));
    let build = |project: &Project| {
        fs::read(build_on(&machine, project, Purpose::Use, &cache, &out, &|_| {}).unwrap().wasm).unwrap()
    };
    let first = [build(&projects[0]), build(&projects[1])];
    assert_ne!(first[0], first[1]);
    assert_eq!([build(&projects[0]), build(&projects[1])], first);
}

/// Minutes of compiling: `CAPSTAN_GUEST_CACHE=… cargo test -p capstan-builder -- --ignored`.
#[test]
#[ignore = "compiles two standard libraries"]
fn both_sysroots_are_made_from_the_distribution_s_sources() {
    let (machine, cache) = (real_machine(), real_cache());
    for target in GuestTarget::ALL {
        let started = Instant::now();
        let toolchain = resolve(&machine, target, &cache, &|line| eprintln!("{line}")).unwrap();
        eprintln!("{target}: {:?} after {:?}", toolchain.origin, started.elapsed());
        assert!(toolchain.rustc.is_none_or(|rustc| rustc.is_file()));
    }
}
