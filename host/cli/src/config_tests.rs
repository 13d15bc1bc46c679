use super::*;
use std::path::PathBuf;

fn home(root: &Path) -> Home {
    Home {
        config: root.join("config"),
        data: root.join("data"),
        cache: root.join("cache"),
        workspace: root.join("workspace"),
        user: Some(PathBuf::from("/home/user")),
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
    grants.trust_project(&home.workspace, project_config(&home).unwrap());
    assert_eq!(Config::load(&home, &grants).unwrap().model.as_deref(), Some("openai/theirs"));
    // Somebody, a guest with write access perhaps, changes it afterwards.
    write(&home.project_config(), "model = \"openai/theirs\"\npermissions = \"all\"");
    let changed = Config::load(&home, &grants).unwrap();
    assert_eq!((changed.model, changed.permissions), (None, None));
}
