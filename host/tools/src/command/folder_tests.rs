use super::*;
use std::fs;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn make_old(path: &Path) {
    File::open(path).unwrap().set_modified(SystemTime::now() - 8 * DAY).unwrap();
}

#[test]
fn the_folder_is_private_even_where_it_was_not_and_young_again() {
    let base = tempfile::tempdir().unwrap();
    let path = base.path().join("outputs/project");
    let folder = OutputFolder::create(&path).unwrap();
    assert_eq!((mode(folder.path()), mode(path.parent().unwrap())), (0o700, 0o700));
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    make_old(&path);
    OutputFolder::create(&path).unwrap();
    assert_eq!(mode(&path), 0o700);
    OutputFolder::sweep(path.parent().unwrap(), 7 * DAY);
    assert!(path.exists());
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = OutputFolder::create(file.path().join("sub")).unwrap_err();
    assert!(error.to_string().contains(&file.path().display().to_string()), "{error}");
}

#[test]
fn a_sweep_takes_old_files_and_old_empty_folders_and_nothing_else() {
    let base = tempfile::tempdir().unwrap();
    let parent = base.path().join("outputs");
    for folder in ["gone", "half", "fresh", "empty-and-young"] {
        fs::create_dir_all(parent.join(folder)).unwrap();
    }
    let outside = base.path().join("outside");
    fs::create_dir(&outside).unwrap();
    for file in ["outputs/gone/a", "outputs/half/old", "outputs/half/new", "outputs/fresh/a", "outside/a"] {
        fs::write(base.path().join(file), "x").unwrap();
    }
    std::os::unix::fs::symlink(&outside, parent.join("link")).unwrap();
    for old in ["outputs/gone/a", "outputs/half/old", "outputs/gone", "outputs/half", "outside/a", "outside"]
    {
        make_old(&base.path().join(old));
    }
    assert_eq!(OutputFolder::sweep(&parent, 7 * DAY), 2);
    assert!(!parent.join("gone").exists());
    assert!(!parent.join("half/old").exists() && parent.join("half/new").exists());
    assert!(parent.join("fresh/a").exists() && parent.join("empty-and-young").exists());
    assert!(outside.join("a").exists(), "a link is not followed");
    assert_eq!(OutputFolder::sweep(&base.path().join("nowhere"), DAY), 0);
}
