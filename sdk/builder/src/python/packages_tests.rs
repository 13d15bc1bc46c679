use std::fs;
use std::path::{Path, PathBuf};

use super::Wanted;
use crate::error::BuilderError;
use crate::python::environment::Environment;
use crate::python::interpreter::Surroundings;
use crate::python::project::Project;

fn project(dir: &Path, dependencies: &str) -> Project {
    let text = format!(
        "[project]\nname = \"a\"\ndependencies = [{dependencies}]\n[dependency-groups]\ntest = [\"pytest\"]\n\
         [tool.capstan]\nsdk = {:?}\n",
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../python")
    );
    Project::parse(&dir.join("pyproject.toml"), &text).unwrap()
}

fn environment() -> Environment {
    Environment { folder: PathBuf::from("/cache/componentize-py-1-python-3.12.1") }
}

fn offline() -> Surroundings {
    Surroundings { chosen: None, path: Vec::new(), may_install: false, has_apt: false }
}

#[test]
fn nothing_is_made_where_nothing_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = Wanted::by_extension(&project(folder.path(), "")).unwrap();
    assert_eq!(wanted.install(folder.path(), &offline(), &environment(), &|_| {}).unwrap(), None);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn each_set_of_packages_has_a_folder_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let key = |dependencies: &str| {
        Wanted::by_extension(&project(folder.path(), dependencies)).unwrap().key(&environment())
    };
    let first = key("\"one\"");
    assert_eq!(first, key("\"one\""));
    assert_ne!(first, key("\"one\", \"two\""));
    // What a sandbox and what this machine gets may be different files of one package.
    assert_ne!(key("\"pytest\""), Wanted::by_tests(&project(folder.path(), "")).key(&environment()));
    fs::write(folder.path().join("requirements.lock"), "one==1\n").unwrap();
    assert_ne!(first, key("\"one\""));
    let other = Environment { folder: PathBuf::from("/cache/componentize-py-1-python-3.13.1") };
    assert_ne!(Wanted::by_extension(&project(folder.path(), "\"one\"")).unwrap().key(&other), key("\"one\""));
}

#[test]
fn nothing_is_fetched_where_that_is_forbidden_but_what_is_there_serves() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = Wanted::by_extension(&project(folder.path(), "\"one>=1\"")).unwrap();
    let install = || wanted.install(folder.path(), &offline(), &environment(), &|_| {});
    let error = install().unwrap_err();
    assert!(matches!(&error, BuilderError::NotInstalled { what, .. } if what == "one>=1"), "{error}");
    let there = folder.path().join("python/packages").join(wanted.key(&environment()));
    fs::create_dir_all(&there).unwrap();
    assert_eq!(install().unwrap(), Some(there));
}
