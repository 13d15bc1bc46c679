use std::fs;
use std::path::Path;

use super::Kept;
use crate::python::project::Project;

fn project(dir: &Path) -> Project {
    fs::create_dir_all(dir.join("src")).unwrap();
    fs::create_dir_all(dir.join("sdk/capstan_sdk")).unwrap();
    fs::create_dir_all(dir.join("wit")).unwrap();
    let manifest = dir.join("pyproject.toml");
    fs::write(&manifest, "[project]\nname = \"a\"\n[tool.capstan]\nsdk = \"sdk\"\n").unwrap();
    fs::write(dir.join("src/a.py"), "").unwrap();
    Project::read(&manifest).unwrap()
}

#[test]
fn a_component_is_handed_out_again_until_something_of_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let project = project(dir);
    let kept = || Kept::of(&project, None, &dir.join("wit"), &dir.join("cache"), &|_| {}).unwrap();
    let make = || {
        let kept = kept();
        assert_eq!(kept.component(), None);
        fs::write(kept.place().unwrap(), "made").unwrap();
        kept.keep().unwrap();
    };
    make();
    assert_eq!(fs::read_to_string(kept().component().unwrap()).unwrap(), "made");
    // What Python writes beside sources by itself is no change.
    fs::create_dir(dir.join("src/__pycache__")).unwrap();
    fs::write(dir.join("src/__pycache__/a.pyc"), "x").unwrap();
    assert!(kept().component().is_some());
    for changed in ["src/a.py", "src/new.txt", "sdk/capstan_sdk/tool.py", "wit/types.wit", "pyproject.toml"] {
        let text = fs::read_to_string(dir.join(changed)).unwrap_or_default();
        fs::write(dir.join(changed), format!("{text}# other\n")).unwrap();
        make();
    }
}

#[test]
fn a_build_that_did_not_end_leaves_nothing_to_hand_out() {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path());
    let kept = || {
        Kept::of(&project, None, &folder.path().join("wit"), &folder.path().join("cache"), &|_| {}).unwrap()
    };
    fs::write(kept().place().unwrap(), "half").unwrap();
    assert_eq!(kept().component(), None);
}
