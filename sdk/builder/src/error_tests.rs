use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::{ArtifactKind, BuilderError, chain};
use crate::rust::target::GuestTarget;

#[test]
fn a_missing_toolchain_lists_what_was_tried_and_ends_with_a_command() {
    let error = BuilderError::NoToolchain {
        target: GuestTarget::Wasip2,
        reasons: vec!["rustc 1.95.0 has no such library".into(), "rustup is not installed".into()],
        remedy: "sudo apt-get install --no-install-recommends rustc-web".into(),
    };
    assert_eq!(
        error.to_string(),
        "no Rust toolchain for wasm32-wasip2 on this machine:\n\
         - rustc 1.95.0 has no such library\n\
         - rustup is not installed\n\
         To mend it: sudo apt-get install --no-install-recommends rustc-web"
    );
}

#[test]
fn a_library_that_is_no_cdylib_is_told_which_lines_to_add() {
    let error = BuilderError::NotCdylib { name: "gate".into(), path: "/p/Cargo.toml".into() };
    let message = error.to_string();
    assert!(message.contains("`gate`") && message.contains("/p/Cargo.toml"), "{message}");
    assert!(message.ends_with("[lib]\ncrate-type = [\"cdylib\"]"), "{message}");
}

#[test]
fn a_core_module_is_called_by_its_name() {
    let error = BuilderError::NotComponent { path: "/t/a.wasm".into(), kind: ArtifactKind::CoreModule };
    assert!(
        error.to_string().starts_with("/t/a.wasm is a core module, not a WebAssembly component"),
        "{error}"
    );
}

#[test]
fn a_stopped_command_says_how_long_it_was_given() {
    let error =
        BuilderError::TimedOut { command: "rustup target add x".into(), limit: Duration::from_secs(60) };
    assert!(error.to_string().contains("after 60 s"), "{error}");
}

#[test]
fn a_chain_keeps_every_cause_in_one_line() {
    let lowest =
        BuilderError::io("read", PathBuf::from("/nowhere"))(io::Error::from(io::ErrorKind::NotFound));
    let error = BuilderError::StdBuild {
        target: GuestTarget::Unknown,
        rustc: "/usr/bin/rustc".into(),
        source: Box::new(lowest),
    };
    let text = chain(&error);
    assert!(text.contains("could not be built with /usr/bin/rustc: cannot read /nowhere: "), "{text}");
}
