use super::*;
use std::os::unix::fs::symlink;

/// A home whose workspace is `user/repository/sub`.
fn home() -> (tempfile::TempDir, Home) {
    let root = tempfile::tempdir().unwrap();
    let user = root.path().canonicalize().unwrap().join("user");
    let home = Home {
        config: user.join("config"),
        data: user.join("data"),
        cache: user.join("cache"),
        workspace: user.join("repository/sub"),
        user: Some(user),
        session_folder: None,
    };
    std::fs::create_dir_all(&home.config).unwrap();
    std::fs::create_dir_all(&home.workspace).unwrap();
    std::fs::create_dir_all(home.workspace.join("../.git")).unwrap();
    (root, home)
}

fn write(home: &Home, place: &str, text: &str) {
    std::fs::write(home.user.as_ref().unwrap().join(place), text).unwrap();
}

/// Names and texts; what lies above the test's own folder is not the test's.
fn read(home: &Home) -> (Vec<(String, String)>, Vec<String>) {
    let Context { files, notices } = Context::read(home);
    let is_own = |path: &str| path.starts_with("~/") || !path.contains('/');
    let files = files.into_iter().filter(|file| is_own(&file.path)).map(|file| (file.path, file.text));
    (files.collect(), notices.into_iter().filter(|notice| !notice.starts_with('/')).collect())
}

fn texts(home: &Home) -> Vec<String> {
    read(home).0.into_iter().map(|(_, text)| text).collect()
}

#[test]
fn the_users_file_comes_first_and_the_nearest_last() {
    let (_root, home) = home();
    write(&home, "repository/sub/AGENTS.md", "sub");
    write(&home, "AGENTS.md", "user");
    write(&home, "repository/CLAUDE.md", "repository");
    write(&home, "config/AGENTS.md", "config");
    let (files, notices) = read(&home);
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    assert_eq!(
        files,
        [
            ("~/config/AGENTS.md", "config"),
            ("~/AGENTS.md", "user"),
            ("~/repository/CLAUDE.md", "repository"),
            ("AGENTS.md", "sub"),
        ]
    );
    assert!(notices.is_empty(), "{notices:?}");
}

#[test]
fn of_each_directory_the_first_name_counts() {
    let (_root, home) = home();
    for name in NAMES.iter().rev() {
        write(&home, &format!("repository/sub/{name}"), name);
        assert_eq!(texts(&home), [*name]);
    }
    // Other names are other files.
    write(&home, "repository/agents.md", "x");
    write(&home, "repository/AGENT.md", "x");
    assert_eq!(texts(&home).len(), 1);
}

#[test]
fn a_file_that_two_paths_lead_to_is_read_once() {
    let (_root, mut home) = home();
    write(&home, "repository/AGENTS.md", "once");
    symlink("../AGENTS.md", home.workspace.join("CLAUDE.md")).unwrap();
    assert_eq!(texts(&home), ["once"]);
    home.config = home.workspace.parent().unwrap().to_owned();
    assert_eq!(texts(&home), ["once"]);
}

#[test]
fn a_link_leads_nowhere_out_of_its_repository() {
    let (_root, home) = home();
    write(&home, "secret.md", "secret");
    write(&home, "repository/shared.md", "shared");
    let link = home.workspace.join("AGENTS.md");
    symlink("../shared.md", &link).unwrap();
    assert_eq!(texts(&home), ["shared"], "the control");
    std::fs::remove_file(&link).unwrap();
    symlink("../../secret.md", &link).unwrap();
    // One that does not count leaves its place to the next.
    write(&home, "repository/sub/CLAUDE.md", "next");
    let (files, notices) = read(&home);
    assert_eq!(files, [("CLAUDE.md".to_owned(), "next".to_owned())]);
    assert!(notices.len() == 1 && notices[0].contains("leads out of"), "{notices:?}");
    // The user's own may lead where they like.
    symlink("../secret.md", home.config.join("AGENTS.md")).unwrap();
    assert_eq!(texts(&home), ["secret", "next"]);
}

#[test]
fn what_cannot_be_read_costs_only_itself_and_is_told() {
    let (_root, home) = home();
    write(&home, "config/AGENTS.md", "config");
    std::fs::write(home.workspace.join("AGENTS.md"), b"caf\xe9").unwrap();
    std::fs::create_dir(home.workspace.join("../CLAUDE.md")).unwrap();
    let (files, notices) = read(&home);
    assert_eq!(files.len(), 1);
    assert_eq!(notices.len(), 2, "{notices:?}");
    assert!(notices[0].starts_with("AGENTS.md is left out: it is no UTF-8 text"), "{notices:?}");
    assert!(
        notices[1].starts_with("~/repository/CLAUDE.md is left out: it is no regular file"),
        "{notices:?}"
    );
}

#[test]
fn a_long_file_is_cut_at_a_line_and_says_so() {
    let (_root, home) = home();
    write(&home, "repository/sub/AGENTS.md", &"é line\n".repeat(20_000));
    let (files, notices) = read(&home);
    let text = &files[0].1;
    assert!(text.len() < MAX_FILE_BYTES + 100 && text.len() > MAX_FILE_BYTES - 100, "{}", text.len());
    assert!(text.ends_with("é line\n[The rest of this file was left out; read the file if you need it.]"));
    assert!(notices[0].contains("AGENTS.md is cut"), "{notices:?}");
    // Without any end of a line, and with the cut in the middle of a character.
    write(&home, "repository/sub/AGENTS.md", &format!("x{}", "é".repeat(40_000)));
    let (files, _) = read(&home);
    assert!(files[0].1.contains("é[The rest"), "{}", files[0].1.len());
}

#[test]
fn all_together_have_an_end_and_what_is_near_or_the_users_stays() {
    let (_root, mut home) = home();
    let text = format!("{}\n", "x".repeat(60_000));
    let mut folder = home.workspace.clone();
    for n in 0..6 {
        std::fs::write(folder.join("AGENTS.md"), format!("{n}{text}")).unwrap();
        folder.push("deep");
        std::fs::create_dir(&folder).unwrap();
    }
    home.workspace = folder;
    write(&home, "config/AGENTS.md", "config");
    let (files, notices) = read(&home);
    let begin: Vec<_> = files.iter().map(|(_, text)| &text[..1]).collect();
    assert_eq!(begin, ["c", "2", "3", "4", "5"]);
    assert!(files.iter().map(|(_, text)| text.len()).sum::<usize>() <= MAX_TOTAL_BYTES + 100);
    assert!(notices.iter().filter(|notice| notice.contains("is left out")).count() >= 2, "{notices:?}");
    assert!(notices.iter().any(|notice| notice.contains("is cut")), "{notices:?}");
}

// T3
#[test]
fn hidden_characters_are_written_out_and_told() {
    let (_root, home) = home();
    write(&home, "repository/sub/AGENTS.md", "Be kind.\u{e0041}\u{200b}");
    let (files, notices) = read(&home);
    assert_eq!(files[0].1, "Be kind.\\u{e0041}\\u{200b}");
    assert!(notices[0].contains("2 characters that cannot be seen"), "{notices:?}");
}

#[test]
fn strangers_do_not_speak_from_directories_above() {
    let (_root, home) = home();
    let me = rustix::process::geteuid().as_raw();
    assert!(is_trustworthy(&home, me) && is_trustworthy(&home, 0));
    assert!(is_trustworthy(&home, home.workspace.metadata().unwrap().uid()));
    assert!(!is_trustworthy(&home, 54_321));
}
