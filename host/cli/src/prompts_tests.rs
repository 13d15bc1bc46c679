use super::*;
use std::sync::Arc;

struct Fixture {
    _root: tempfile::TempDir,
    home: Home,
    grants: Grants,
    setup: Setup,
}

fn fixture() -> Fixture {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().canonicalize().unwrap();
    let home = Home::below(&path);
    for folder in [home.config.join(PROMPTS), home.project().join(PROMPTS)] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let setup = Setup { no_context_files: true, ..Setup::default() };
    Fixture { _root: root, home, grants: Grants::default(), setup }
}

impl Fixture {
    fn user(&self, name: &str, text: &str) {
        std::fs::write(self.home.config.join(name), text).unwrap();
    }

    fn project(&mut self, name: &str, text: &str) {
        std::fs::write(self.home.project().join(name), text).unwrap();
    }

    fn trust(&mut self) {
        let digest = Project::read(&self.home).unwrap().digest();
        self.grants.trust_project(&self.home.workspace, digest);
    }

    fn read(&self) -> Prompts {
        Prompts::read(&self.home, &self.setup, &self.grants).unwrap()
    }

    /// The system prompt without the lines that follow from the day.
    fn system(&self) -> String {
        let text = self.read().system(&self.home, &ToolRegistry::default());
        text.split_once("\n\nDate: ").unwrap().0.to_owned()
    }
}

#[test]
fn the_nearest_system_prompt_replaces_and_all_additions_add() {
    let mut fixture = fixture();
    let built_in = fixture.system();
    fixture.user("APPEND_SYSTEM.md", "mine too\n");
    assert_eq!(fixture.system(), format!("{built_in}\n\nmine too"));
    fixture.user("SYSTEM.md", "mine");
    assert_eq!(fixture.system(), "mine\n\nmine too");
    fixture.project("SYSTEM.md", "theirs");
    fixture.project("APPEND_SYSTEM.md", "theirs too");
    assert_eq!(fixture.system(), "mine\n\nmine too", "not trusted yet");
    assert!(fixture.read().notices[0].contains("ext allow --project"));
    fixture.trust();
    assert_eq!(fixture.system(), "theirs\n\nmine too\n\ntheirs too");
    assert_eq!(fixture.read().names.len(), 3);
    fixture.setup.system_prompt = Some("said".to_owned());
    fixture.setup.append_system_prompt = vec!["one".to_owned(), "two".to_owned()];
    assert_eq!(fixture.system(), "said\n\none\n\ntwo");
}

#[test]
fn a_flag_takes_words_or_the_name_of_a_file() {
    let mut fixture = fixture();
    let path = fixture.home.workspace.join("prompt.txt");
    std::fs::write(&path, "from the file\r\n").unwrap();
    fixture.setup.system_prompt = Some(path.to_string_lossy().into_owned());
    fixture.setup.append_system_prompt = vec![format!("{}x", path.display())];
    assert_eq!(fixture.system(), format!("from the file\n\n{}x", path.display()));
    std::fs::write(&path, b"\xff").unwrap();
    let error = Prompts::read(&fixture.home, &fixture.setup, &fixture.grants).unwrap_err().to_string();
    assert!(error.contains("prompt.txt") && error.contains("UTF-8"), "{error}");
}

#[test]
fn a_prompt_file_that_cannot_be_used_is_left_out_and_told() {
    let fixture = fixture();
    let built_in = fixture.system();
    fixture.user("SYSTEM.md", &"x".repeat(MAX_FILE_BYTES + 1));
    assert_eq!(fixture.system(), built_in);
    let notices = fixture.read().notices;
    assert!(notices.len() == 1 && notices[0].contains("SYSTEM.md is left out: it is larger"), "{notices:?}");
}

// T12
#[test]
fn a_projects_templates_count_once_it_is_trusted_and_after_the_users() {
    let mut fixture = fixture();
    fixture.user("prompts/go.md", "mine");
    fixture.project("prompts/go.md", "theirs");
    fixture.project("prompts/on.md", "theirs");
    let read = |fixture: &Fixture, line: &str| {
        let templates: Arc<Templates> = fixture.read().templates;
        templates.read(line).map(Result::unwrap)
    };
    assert_eq!((read(&fixture, "/go").as_deref(), read(&fixture, "/on")), (Some("mine"), None));
    fixture.trust();
    assert_eq!(
        (read(&fixture, "/go").as_deref(), read(&fixture, "/on").as_deref()),
        (Some("mine"), Some("theirs"))
    );
    assert!(
        fixture.read().notices[0].contains("of this project, go.md is left out"),
        "{:?}",
        fixture.read().notices
    );
    fixture.project("prompts/on.md", "swapped");
    assert_eq!(read(&fixture, "/on"), None);
}

#[test]
fn context_files_are_in_the_prompt_unless_they_are_not_wanted() {
    let mut fixture = fixture();
    std::fs::write(fixture.home.workspace.join("AGENTS.md"), "Use tabs.").unwrap();
    assert!(!fixture.system().contains("Use tabs.") && fixture.read().names.is_empty());
    fixture.setup.no_context_files = false;
    assert!(fixture.system().ends_with("<context-file path=\"AGENTS.md\">\nUse tabs.\n</context-file>"));
    assert_eq!(fixture.read().names.last().map(String::as_str), Some("AGENTS.md"));
}
