use std::fs;

use super::Language;
use crate::error::BuilderError;

#[test]
fn a_folder_is_of_the_language_of_its_manifest() {
    let folder = tempfile::tempdir().unwrap();
    for language in Language::ALL {
        let project = folder.path().join(language.manifest().replace('.', "-"));
        fs::create_dir(&project).unwrap();
        fs::write(project.join(language.manifest()), "").unwrap();
        let manifest = project.canonicalize().unwrap().join(language.manifest());
        assert_eq!(Language::of(&project).unwrap(), (language, manifest.clone()));
        assert_eq!(Language::of(&manifest).unwrap(), (language, manifest));
    }
}

#[test]
fn a_folder_without_a_manifest_is_refused_with_the_names_that_were_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let error = Language::of(folder.path()).unwrap_err();
    assert!(matches!(error, BuilderError::NoProject { .. }), "{error}");
    assert!(error.to_string().contains("Cargo.toml"), "{error}");
    assert!(matches!(Language::of(&folder.path().join("none")), Err(BuilderError::Io { .. })));
}
