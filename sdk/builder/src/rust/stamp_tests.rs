use std::fs;
use std::path::{Path, PathBuf};

use super::{RECIPE, STAMP_FILE, Stamp};
use crate::rust::machine::Compiler;
use crate::rust::target::GuestTarget;

fn compiler(release: &str) -> Compiler {
    let version = format!("rustc {release}\nhost: x86_64-unknown-linux-gnu\nrelease: {release}\n");
    Compiler::parse(Path::new("/opt/bin/rustc"), version, PathBuf::from("/opt")).unwrap()
}

#[test]
fn a_stamp_fits_the_compiler_and_target_it_was_made_for() {
    let stamp = Stamp::now(&compiler("1.96.0"), GuestTarget::Unknown);
    assert!(stamp.fits(&compiler("1.96.0"), GuestTarget::Unknown));
    assert!(!stamp.fits(&compiler("1.96.1"), GuestTarget::Unknown));
    assert!(!stamp.fits(&compiler("1.96.0"), GuestTarget::Wasip2));
}

#[test]
fn the_same_version_at_another_place_does_not_fit() {
    let elsewhere = Compiler { rustc: PathBuf::from("/usr/bin/rustc"), ..compiler("1.96.0") };
    assert!(!Stamp::now(&compiler("1.96.0"), GuestTarget::Unknown).fits(&elsewhere, GuestTarget::Unknown));
}

#[test]
fn an_older_recipe_does_not_fit() {
    let stamp = Stamp { recipe: RECIPE - 1, ..Stamp::now(&compiler("1.96.0"), GuestTarget::Unknown) };
    assert!(!stamp.fits(&compiler("1.96.0"), GuestTarget::Unknown));
}

#[test]
fn a_stamp_reads_back_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let stamp = Stamp::now(&compiler("1.96.0"), GuestTarget::Wasip2);
    stamp.write(folder.path()).unwrap();
    assert_eq!(Stamp::read(folder.path()), Some(stamp));
}

#[test]
fn a_missing_damaged_or_foreign_stamp_counts_as_none() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Stamp::read(folder.path()), None);
    for text in ["recipe = ", "recipe = 1\n", "\u{0}"] {
        fs::write(folder.path().join(STAMP_FILE), text).unwrap();
        assert_eq!(Stamp::read(folder.path()), None, "{text:?}");
    }
}
