use super::*;
use std::path::Path;

fn home(root: &Path) -> Home {
    let root = root.canonicalize().unwrap();
    let home = Home::below(&root);
    std::fs::create_dir_all(home.project().join(PROMPTS)).unwrap();
    home
}

fn write(home: &Home, name: &str, text: &str) {
    std::fs::write(home.project().join(name), text).unwrap();
}

fn digest(home: &Home) -> Option<Digest> {
    Project::read(home).unwrap().digest()
}

// T12: one look covers all that speaks for the user.
#[test]
fn every_file_of_a_project_that_speaks_for_the_user_is_part_of_what_is_trusted() {
    let root = tempfile::tempdir().unwrap();
    let home = home(root.path());
    assert_eq!(digest(&home), None);
    let names = ["config.toml", "SYSTEM.md", "APPEND_SYSTEM.md", "prompts/go.md"];
    let mut seen = vec![None];
    for name in names {
        for text in ["", "a = 1"] {
            write(&home, name, text);
            let now = digest(&home);
            assert!(!seen.contains(&now), "{name} {text:?}");
            seen.push(now);
        }
    }
    // The same bytes under another name are something else.
    std::fs::rename(home.project().join("prompts/go.md"), home.project().join("prompts/on.md")).unwrap();
    assert!(!seen.contains(&digest(&home)));
    assert_eq!(Project::read(&home).unwrap().names().count(), 4);
    // What is no part of it changes nothing.
    let before = digest(&home);
    write(&home, "notes.md", "x");
    write(&home, "prompts/notes.txt", "x");
    assert_eq!(digest(&home), before);
}

// T12
#[test]
fn a_project_counts_only_as_it_was_when_it_was_trusted() {
    let root = tempfile::tempdir().unwrap();
    let home = home(root.path());
    let mut grants = Grants::default();
    write(&home, "SYSTEM.md", "mine");
    match Standing::of(&home, &grants).unwrap() {
        Standing::Untrusted(notice) => {
            assert!(notice.contains("SYSTEM.md") && notice.contains("ext allow --project"))
        }
        other => panic!("{other:?}"),
    }
    grants.trust_project(&home.workspace, digest(&home));
    match Standing::of(&home, &grants).unwrap() {
        Standing::Trusted(project) => assert_eq!(project.file(SYSTEM), Some(&b"mine"[..])),
        other => panic!("{other:?}"),
    }
    write(&home, "prompts/new.md", "planted");
    assert!(
        matches!(Standing::of(&home, &grants).unwrap(), Standing::Changed(notice) if notice.contains("is not the one"))
    );
    std::fs::remove_file(home.project().join("prompts/new.md")).unwrap();
    assert!(matches!(Standing::of(&home, &grants).unwrap(), Standing::Trusted(_)), "the control");
}

#[test]
fn a_link_of_a_project_brings_nothing_from_outside_into_the_prompt() {
    let root = tempfile::tempdir().unwrap();
    let home = home(root.path());
    std::fs::write(root.path().join("key.md"), "secret").unwrap();
    for name in ["SYSTEM.md", "prompts/go.md"] {
        std::os::unix::fs::symlink(root.path().join("key.md"), home.project().join(name)).unwrap();
    }
    let project = Project::read(&home).unwrap();
    assert_eq!((project.names().count(), project.digest()), (0, None));
    assert_eq!(project.notices.len(), 2, "{:?}", project.notices);
    assert!(project.notices.iter().all(|notice| notice.contains("leads out of")), "{:?}", project.notices);
}
