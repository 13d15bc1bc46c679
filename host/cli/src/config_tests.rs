use super::*;
use crate::project;
use std::path::PathBuf;

fn home(root: &Path) -> Home {
    Home {
        config: root.join("config"),
        data: root.join("data"),
        cache: root.join("cache"),
        workspace: root.join("workspace"),
        user: Some(PathBuf::from("/home/user")),
        session_folder: None,
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn the_user_file_sets_model_providers_and_extension_tables() {
    let root = tempfile::tempdir().unwrap();
    let home = home(root.path());
    write(
        &home.config_file(),
        r#"
        model = "local/tiny"
        permissions = "workspace"
        [provider.local]
        api = "openai-completions"
        base_url = "http://127.0.0.1:11434/v1"
        [provider.local.models.tiny]
        context_window = 4096
        [extension.command-guard]
        ask = ["git push*"]
        "#,
    );
    let config = Config::load(&home, &Grants::default()).unwrap();
    assert_eq!(config.model.as_deref(), Some("local/tiny"));
    assert_eq!(config.permissions, Some(PermissionMode::Workspace));
    let local = config.providers.iter().find(|provider| provider.name == "local").unwrap();
    assert_eq!(local.models["tiny"].context_window, Some(4096));
    assert_eq!(config.extension("command-guard").unwrap(), serde_json::json!({"ask": ["git push*"]}));
    assert_eq!(config.extension("other").unwrap(), serde_json::json!({}));
}

#[test]
fn of_compaction_each_key_counts_by_itself() {
    let root = tempfile::tempdir().unwrap();
    let home = home(root.path());
    let standard = Config::load(&home, &Grants::default()).unwrap().compaction;
    assert_eq!(
        (standard.enabled, standard.reserve_tokens, standard.keep_recent_tokens),
        (true, 16_384, 20_000)
    );
    write(&home.config_file(), "[compaction]\nenabled = false\nkeep_recent_tokens = 5000");
    let config = Config::load(&home, &Grants::default()).unwrap().compaction;
    assert_eq!((config.enabled, config.reserve_tokens, config.keep_recent_tokens), (false, 16_384, 5000));
    write(&home.config_file(), "[compaction]\nreserve = 1");
    assert!(Config::load(&home, &Grants::default()).is_err());
}

#[test]
fn unknown_keys_are_refused_and_the_file_is_named() {
    let root = tempfile::tempdir().unwrap();
    let home = home(root.path());
    for text in [
        "permission = \"all\"",
        "[provider.x]\nbase_url = \"http://127.0.0.1\"",
        "[provider.openai]\nkey = \"k\"",
    ] {
        write(&home.config_file(), text);
        let error = format!("{:#}", Config::load(&home, &Grants::default()).unwrap_err());
        assert!(error.contains("config.toml"), "{error}");
    }
}

// reliability T12
#[test]
fn a_projects_file_counts_only_once_the_project_is_trusted() {
    let root = tempfile::tempdir().unwrap();
    let home = home(root.path());
    write(&home.project().join("config.toml"), "model = \"openai/theirs\"");
    let mut grants = Grants::default();
    assert_eq!(Config::load(&home, &grants).unwrap().model, None);
    grants.trust_project(&home.workspace, project::Project::read(&home).unwrap().digest());
    assert_eq!(Config::load(&home, &grants).unwrap().model.as_deref(), Some("openai/theirs"));
    // Somebody, a guest with write access perhaps, changes it afterwards.
    write(&home.project_config(), "model = \"openai/theirs\"\npermissions = \"all\"");
    let changed = Config::load(&home, &grants).unwrap();
    assert_eq!((changed.model, changed.permissions), (None, None));
}

// T12
#[test]
fn a_projects_hooks_count_only_from_the_very_file_that_was_trusted_and_come_after_the_users() {
    let root = tempfile::tempdir().unwrap();
    let home = home(root.path());
    let hook = |command: &str| format!("[[hook]]\nevent = \"PreToolUse\"\ncommand = \"{command}\"\n");
    let lines = |grants: &Grants| {
        let config = Config::load(&home, grants).unwrap();
        let lines = config.hooks.into_iter().filter_map(|hook| hook.command).collect::<Vec<_>>();
        (lines, config.rtk.is_some_and(|rtk| rtk.enabled))
    };
    write(&home.config_file(), &hook("mine"));
    write(&home.project_config(), &format!("[rtk]\nenabled = true\n{}", hook("theirs")));
    let mut grants = Grants::default();
    assert_eq!(lines(&grants), (vec!["mine".to_owned()], false));
    grants.trust_project(&home.workspace, project::Project::read(&home).unwrap().digest());
    assert_eq!(lines(&grants), (vec!["mine".to_owned(), "theirs".to_owned()], true));
    write(&home.project_config(), &hook("swapped"));
    assert_eq!(lines(&grants), (vec!["mine".to_owned()], false));
}

// 001-124
#[test]
fn a_hook_for_an_event_that_does_not_exist_is_refused_with_the_file() {
    let root = tempfile::tempdir().unwrap();
    let home = home(root.path());
    for (text, problem) in [
        ("[[hook]]\nevent = \"BeforeLunch\"\ncommand = \"x\"", "BeforeLunch"),
        ("[[hook]]\nevent = \"Stop\"\ncommand = \"x\"\ntimeout = 5", "timeout"),
        ("[rtk]\nenable = true", "enable"),
    ] {
        write(&home.config_file(), text);
        let error = format!("{:#}", Config::load(&home, &Grants::default()).unwrap_err());
        assert!(error.contains("config.toml") && error.contains(problem), "{error}");
    }
}

#[test]
fn a_cost_that_nothing_can_have_is_refused_by_the_models_name() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(folder.path());
    let costs = |cost: &str| {
        write(&home.config_file(), &format!("[provider.openai.models.m]\ncost = {cost}\n"));
        Config::load(&home, &Grants::default())
    };
    let config = costs("{ input = 1.5 }").unwrap();
    let openai = config.providers.iter().find(|provider| provider.name == "openai").unwrap();
    assert_eq!(openai.models["m"].cost.unwrap().input, 1.5);
    for wrong in ["{ input = -1 }", "{ output = nan }", "{ input = inf }"] {
        let text = format!("{:#}", costs(wrong).unwrap_err());
        assert!(text.contains("models.m") && text.contains("dollars"), "{text}");
    }
    assert!(costs("{ inputs = 1 }").is_err(), "a misspelt price would be none");
}
