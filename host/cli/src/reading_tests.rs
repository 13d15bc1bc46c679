use super::*;
use std::os::unix::fs::symlink;

fn place() -> (tempfile::TempDir, std::path::PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().canonicalize().unwrap();
    (root, path)
}

#[test]
fn what_is_not_there_is_none_and_what_cannot_be_read_has_a_reason() {
    let (_root, folder) = place();
    assert!(bytes(&folder.join("none.md"), Links::Anywhere, 10).unwrap().is_none());
    std::fs::write(folder.join("a.md"), "text").unwrap();
    assert!(
        bytes(&folder.join("a.md/none.md"), Links::Anywhere, 10).unwrap().is_none(),
        "a file is no folder"
    );
    assert_eq!(bytes(&folder.join("a.md"), Links::Anywhere, 10).unwrap().unwrap().bytes, b"text");

    std::fs::create_dir(folder.join("b.md")).unwrap();
    assert!(bytes(&folder.join("b.md"), Links::Anywhere, 10).unwrap_err().contains("no regular file"));
    symlink("nowhere", folder.join("c.md")).unwrap();
    assert!(bytes(&folder.join("c.md"), Links::Anywhere, 10).unwrap_err().contains("cannot be read"));
}

#[test]
fn a_pipe_is_not_waited_for() {
    let (_root, folder) = place();
    let pipe = folder.join("pipe.md");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(bytes(&pipe, Links::Anywhere, 10).unwrap_err().contains("no regular file"));
}

#[test]
fn a_file_is_read_up_to_its_limit_and_what_counts_whole_must_fit() {
    let (_root, folder) = place();
    let path = folder.join("a.md");
    for (size, is_cut) in [(9, false), (10, false), (11, true)] {
        std::fs::write(&path, "x".repeat(size)).unwrap();
        let read = bytes(&path, Links::Anywhere, 10).unwrap().unwrap();
        assert_eq!((read.bytes.len(), read.is_cut), (size.min(10), is_cut));
        assert_eq!(whole(&path, Links::Anywhere, 10).is_err(), is_cut);
    }
}

#[test]
fn a_projects_link_stays_below_the_project_and_leads_to_text() {
    let (_root, folder) = place();
    let project = folder.join("project");
    std::fs::create_dir_all(project.join("docs")).unwrap();
    for (name, text) in
        [("key", "secret"), ("notes.md", "secret"), ("project/.env", "secret"), ("project/docs/a.md", "fine")]
    {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let read = |target: &str, links: Links<'_>| {
        let link = project.join("AGENTS.md");
        if link.symlink_metadata().is_ok() {
            std::fs::remove_file(&link).unwrap();
        }
        symlink(target, &link).unwrap();
        whole(&link, links, 100)
    };
    let below = Links::Below(&project);
    assert_eq!(read("docs/a.md", below).unwrap().unwrap(), b"fine", "the control");
    for (target, reason) in
        [("../key", "leads out of"), ("../notes.md", "leads out of"), (".env", "than a .md file")]
    {
        assert!(read(target, below).unwrap_err().contains(reason), "{target}");
        assert_eq!(
            read(target, Links::Anywhere).unwrap().unwrap(),
            b"secret",
            "what the user placed leads anywhere"
        );
    }
    // A folder on the way that leads out is no way out either.
    symlink(&folder, project.join("out")).unwrap();
    assert!(whole(&project.join("out/notes.md"), below, 100).unwrap_err().contains("leads out of"));
}

// O3, T3: instructions that only a model would see.
#[test]
fn a_model_reads_what_a_person_sees() {
    let hostile = "\u{feff}Use tabs.\r\n\u{e0069}\u{e0067}\u{202e}x\u{200b}\rover";
    assert_eq!(
        text(hostile.as_bytes()).unwrap(),
        "Use tabs.\n\\u{e0069}\\u{e0067}\\u{202e}x\\u{200b}\\u{d}over"
    );
    assert_eq!(n_hidden(hostile.as_bytes()), 5);
    assert_eq!(n_hidden("\u{feff}plain\r\n".as_bytes()), 0);
    assert!(text(b"\xff").unwrap_err().contains("no UTF-8 text"));
}

#[test]
fn a_folder_answers_its_texts_in_order_and_tells_what_it_leaves_out() {
    let (_root, folder) = place();
    let mut notices = Vec::new();
    assert!(
        super::folder(&folder.join("none"), Links::Anywhere, &mut notices).is_empty() && notices.is_empty()
    );
    for n in 0..MAX_FILES + 2 {
        std::fs::write(folder.join(format!("{n:04}.md")), n.to_string()).unwrap();
    }
    std::fs::write(folder.join("0001.md"), "x".repeat(MAX_FILE_BYTES + 1)).unwrap();
    std::fs::write(folder.join("notes.txt"), "no template").unwrap();
    let files = super::folder(&folder, Links::Anywhere, &mut notices);
    assert_eq!(files.len(), MAX_FILES - 1);
    assert_eq!(files[1], ("0002".to_owned(), b"2".to_vec()));
    assert_eq!(notices.len(), 2, "{notices:?}");
    assert!(notices[0].contains("0256.md") && notices[1].contains("larger than 64.0 KiB"), "{notices:?}");
}
