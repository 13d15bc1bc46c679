use super::*;
use crate::testing::run;
use crate::tools::{ReadTool, WriteTool};
use capstan_ports::tool::ToolError;
use serde_json::json;
use std::os::unix::fs::{PermissionsExt, symlink};
use tempfile::TempDir;

/// A workspace folder beside a secret.
struct Scene {
    base: TempDir,
}

impl Scene {
    fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(base.path().join("work/sub")).unwrap();
        std::fs::create_dir(base.path().join("other")).unwrap();
        std::fs::write(base.path().join("work/inside"), "fine").unwrap();
        std::fs::write(base.path().join("other/secret"), "canary").unwrap();
        Self { base }
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.base.path().join(relative)
    }

    fn text(&self, relative: &str) -> String {
        self.path(relative).display().to_string()
    }

    fn workspace(&self) -> LocalWorkspace {
        LocalWorkspace::open(self.path("work")).unwrap()
    }

    fn secret_is_untouched(&self) -> bool {
        std::fs::read_to_string(self.path("other/secret")).unwrap() == "canary"
            && std::fs::read_dir(self.path("other")).unwrap().count() == 1
    }
}

fn tools(workspace: LocalWorkspace) -> (ReadTool, WriteTool) {
    let workspace = Arc::new(workspace);
    (ReadTool::new(workspace.clone()), WriteTool::new(workspace))
}

async fn read(tool: &ReadTool, path: &str) -> Result<String, ToolError> {
    run(tool, json!({"path": path})).await.map(|outcome| crate::testing::text(&outcome))
}

async fn write(tool: &WriteTool, path: &str) -> Result<String, ToolError> {
    run(tool, json!({"path": path, "content": "new"})).await.map(|outcome| crate::testing::text(&outcome))
}

fn is_denied<T>(result: Result<T, ToolError>) -> bool {
    matches!(result, Err(ToolError::Denied(text)) if text.contains("--add-dir"))
}

// 001-092
#[tokio::test]
async fn a_file_is_named_relatively_absolutely_or_with_an_at_sign() {
    let place = Scene::new();
    let (reader, writer) = tools(place.workspace());
    for path in ["inside", "./inside", "@inside", "sub/../inside", &place.text("work/inside")] {
        assert_eq!(read(&reader, path).await.unwrap(), "fine", "{path}");
    }
    write(&writer, "sub/../new/er/file").await.unwrap();
    assert_eq!(std::fs::read_to_string(place.path("work/new/er/file")).unwrap(), "new");
}

// 001-094
#[tokio::test]
async fn paths_that_climb_out_are_denied_and_those_that_stay_are_not() {
    let place = Scene::new();
    let (reader, writer) = tools(place.workspace());
    let out = [
        "../other/secret",
        "sub/../../other/secret",
        "sub/.//../../other/secret",
        "../../../../../../etc/passwd",
        "/etc/passwd",
        "/proc/self/environ",
        &place.text("other/secret"),
        &place.text("work/../other/secret"),
    ];
    for path in out {
        assert!(is_denied(read(&reader, path).await), "read {path}");
        assert!(is_denied(write(&writer, path).await), "write {path}");
    }
    assert!(is_denied(write(&writer, "../other/made").await));
    assert!(place.secret_is_untouched());
    assert_eq!(read(&reader, "sub/../inside").await.unwrap(), "fine");
    assert_eq!(read(&reader, &place.text("work/sub/../../work/inside")).await.unwrap(), "fine");
    write(&writer, "inside").await.unwrap();
    let Err(ToolError::Denied(text)) = read(&reader, "/etc/passwd").await else { panic!("denied") };
    assert!(text.contains("--add-dir /etc"), "{text}");
}

// 001-094
#[tokio::test]
async fn links_that_lead_out_are_denied_and_those_that_stay_are_followed() {
    let place = Scene::new();
    symlink(place.path("other/secret"), place.path("work/absolute")).unwrap();
    symlink("../other/secret", place.path("work/relative")).unwrap();
    symlink("../other", place.path("work/folder")).unwrap();
    symlink("sub/../../other/secret", place.path("work/winding")).unwrap();
    symlink("/proc/self/environ", place.path("work/proc")).unwrap();
    symlink("/proc/self/root/etc/passwd", place.path("work/magic")).unwrap();
    symlink("../other/made", place.path("work/dangling-out")).unwrap();
    let (reader, writer) = tools(place.workspace());
    let out =
        ["absolute", "relative", "folder/secret", "folder/made", "winding", "proc", "magic", "dangling-out"];
    for path in out {
        assert!(is_denied(read(&reader, path).await), "read {path}");
        assert!(is_denied(write(&writer, path).await), "write {path}");
    }
    assert!(place.secret_is_untouched());

    symlink("inside", place.path("work/near")).unwrap();
    symlink(place.path("work/inside"), place.path("work/absolute-near")).unwrap();
    for path in ["near", "absolute-near"] {
        assert_eq!(read(&reader, path).await.unwrap(), "fine", "{path}");
        write(&writer, path).await.unwrap();
        assert!(place.path("work").join(path).is_symlink(), "the link stays a link");
        assert_eq!(std::fs::read_to_string(place.path("work/inside")).unwrap(), "new");
        std::fs::write(place.path("work/inside"), "fine").unwrap();
    }
}

#[tokio::test]
async fn added_folders_are_reached_by_every_name_and_read_only_ones_only_read() {
    let place = Scene::new();
    symlink("../other", place.path("work/link")).unwrap();
    let secret = place.text("other/secret");
    let names = [secret.as_str(), "../other/secret", "link/secret"];

    let workspace = place.workspace().with_root(place.path("other"), Access::ReadOnly).unwrap();
    let (reader, writer) = tools(workspace);
    for name in names {
        assert_eq!(read(&reader, name).await.unwrap(), "canary", "{name}");
        let error = write(&writer, name).await.unwrap_err();
        assert!(matches!(&error, ToolError::Denied(text) if text.contains("read-only")), "{error}");
    }
    assert!(place.secret_is_untouched());

    let workspace = place.workspace().with_root(place.path("other"), Access::ReadWrite).unwrap();
    let (_, writer) = tools(workspace);
    for name in names {
        std::fs::write(place.path("other/secret"), "canary").unwrap();
        write(&writer, name).await.unwrap();
        assert_eq!(std::fs::read_to_string(place.path("other/secret")).unwrap(), "new", "{name}");
    }
}

#[tokio::test]
async fn a_read_only_folder_inside_the_workspace_is_read_only() {
    let place = Scene::new();
    let workspace = place.workspace().with_root(place.path("work/sub"), Access::ReadOnly).unwrap();
    let (_, writer) = tools(workspace);
    for path in ["sub/new", &place.text("work/sub/new")] {
        let error = write(&writer, path).await.unwrap_err();
        assert!(matches!(&error, ToolError::Denied(text) if text.contains("read-only")), "{error}");
    }
    write(&writer, "new").await.unwrap();
}

#[tokio::test]
async fn protected_places_are_not_written_by_any_name() {
    let place = Scene::new();
    std::fs::create_dir_all(place.path("work/.git/hooks")).unwrap();
    symlink(".git/hooks", place.path("work/innocent")).unwrap();
    std::fs::create_dir(place.path("work/config")).unwrap();
    symlink("config", place.path("work/.capstan")).unwrap();
    let (reader, writer) = tools(place.workspace().protecting(".git/hooks").protecting(".capstan"));
    for path in
        [".git/hooks/pre-commit", "innocent/pre-commit", "sub/../.git/hooks/a", ".capstan/x", "config/x"]
    {
        let error = write(&writer, path).await.unwrap_err();
        assert!(matches!(&error, ToolError::Denied(text) if text.contains("protected")), "{path}: {error}");
    }
    write(&writer, ".git/description").await.unwrap();
    assert_eq!(read(&reader, ".git/description").await.unwrap(), "new", "reading is not changed");
}

#[tokio::test]
async fn an_overwritten_file_keeps_its_mode_and_hard_links_keep_the_old_content() {
    let place = Scene::new();
    let file = place.path("work/inside");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o751)).unwrap();
    std::fs::hard_link(&file, place.path("other/linked")).unwrap();
    let (_, writer) = tools(place.workspace());
    write(&writer, "inside").await.unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o751);
    assert_eq!(std::fs::read_to_string(place.path("other/linked")).unwrap(), "fine");
    assert_eq!(std::fs::read_dir(place.path("work")).unwrap().count(), 2, "no temporary file stays");
}

#[tokio::test]
async fn an_overwritten_file_keeps_its_owner_where_the_system_lets_it() {
    let place = Scene::new();
    let file = place.path("work/inside");
    if std::os::unix::fs::chown(&file, Some(12_345), Some(12_346)).is_err() {
        // Only the superuser can set the stage.
        return;
    }
    let (_, writer) = tools(place.workspace());
    write(&writer, "inside").await.unwrap();
    let metadata = std::fs::metadata(&file).unwrap();
    use std::os::unix::fs::MetadataExt;
    assert_eq!((metadata.uid(), metadata.gid()), (12_345, 12_346));
}

#[tokio::test]
async fn a_new_file_gets_the_usual_mode() {
    let place = Scene::new();
    std::fs::write(place.path("usual"), "").unwrap();
    let (_, writer) = tools(place.workspace());
    write(&writer, "fresh").await.unwrap();
    let mode = |path| std::fs::metadata(place.path(path)).unwrap().permissions().mode();
    assert_eq!(mode("work/fresh"), mode("usual"));
}

#[tokio::test]
async fn pipes_sockets_and_folders_are_refused_without_waiting() {
    let place = Scene::new();
    let made = std::process::Command::new("mkfifo").arg(place.path("work/pipe")).status().unwrap();
    assert!(made.success());
    let _socket = std::os::unix::net::UnixListener::bind(place.path("work/socket")).unwrap();
    let (reader, writer) = tools(place.workspace());
    let checks = async {
        for path in ["pipe", "socket", "sub", "sub/", "."] {
            let reading = read(&reader, path).await;
            assert!(matches!(reading, Err(ToolError::Failed { .. })), "read {path}: {reading:?}");
            let writing = write(&writer, path).await;
            assert!(matches!(writing, Err(ToolError::Failed { .. })), "write {path}: {writing:?}");
        }
        assert!(write(&writer, "new/").await.unwrap_err().to_string().contains("is a directory"));
        assert!(read(&reader, "pipe").await.unwrap_err().to_string().contains("pipe"));
    };
    tokio::time::timeout(std::time::Duration::from_secs(2), checks).await.expect("nothing waits");
    assert!(place.path("work/pipe").exists() && place.path("work/socket").exists());
}

#[tokio::test]
async fn writing_through_a_link_to_nothing_creates_what_it_names() {
    let place = Scene::new();
    symlink("sub/../nowhere", place.path("work/dangling")).unwrap();
    let (reader, writer) = tools(place.workspace());
    assert!(read(&reader, "dangling").await.unwrap_err().to_string().contains("does not exist"));
    write(&writer, "dangling").await.unwrap();
    assert_eq!(std::fs::read_to_string(place.path("work/nowhere")).unwrap(), "new");
    assert!(place.path("work/dangling").is_symlink());
}

#[tokio::test]
async fn strange_paths_are_errors() {
    let place = Scene::new();
    symlink("loop", place.path("work/loop")).unwrap();
    symlink("chain0", place.path("work/chain")).unwrap();
    for n in 0..100 {
        symlink(format!("chain{}", n + 1), place.path(&format!("work/chain{n}"))).unwrap();
    }
    let (reader, writer) = tools(place.workspace());
    let (name, deep) = ("x".repeat(300), "x/".repeat(2500));
    for path in ["", "@", "a\0b", &name, &deep, "inside/", "inside/below", "loop", "chain", "missing/../x"] {
        assert!(read(&reader, path).await.is_err(), "read {path}");
        assert!(write(&writer, path).await.is_err(), "write {path}");
    }
    assert_eq!(read(&reader, "inside").await.unwrap(), "fine");
}

#[tokio::test]
async fn a_file_that_is_marked_read_only_is_not_replaced() {
    let place = Scene::new();
    std::fs::set_permissions(place.path("work/inside"), std::fs::Permissions::from_mode(0o444)).unwrap();
    if std::fs::OpenOptions::new().write(true).open(place.path("work/inside")).is_ok() {
        // To the superuser nothing is read-only.
        return;
    }
    let (_, writer) = tools(place.workspace());
    let error = write(&writer, "inside").await.unwrap_err();
    assert!(error.to_string().contains("cannot write inside"), "{error}");
}

// F22
#[tokio::test]
async fn a_file_that_changed_since_it_was_read_is_not_replaced() {
    let place = Scene::new();
    let workspace = place.workspace();
    let before = workspace.read("inside", 100).await.unwrap();
    let unchanged = || WriteCondition::Unchanged(before.version.clone());
    std::fs::write(place.path("work/inside"), "theirs").unwrap();
    let result = workspace.write("inside", b"ours".to_vec(), unchanged()).await;
    assert!(matches!(result, Err(RuntimeError::Changed { .. })), "{result:?}");
    std::fs::remove_file(place.path("work/inside")).unwrap();
    let result = workspace.write("inside", b"ours".to_vec(), unchanged()).await;
    assert!(matches!(result, Err(RuntimeError::Changed { .. })), "{result:?}");
    std::fs::write(place.path("work/inside"), "again").unwrap();
    let now = workspace.read("inside", 100).await.unwrap();
    let written =
        workspace.write("inside", b"ours".to_vec(), WriteCondition::Unchanged(now.version)).await.unwrap();
    assert_eq!(written, Written::Replaced);
}

#[tokio::test]
async fn a_workspace_that_is_renamed_stays_the_same_folder() {
    let place = Scene::new();
    let (reader, writer) = tools(place.workspace());
    std::fs::rename(place.path("work"), place.path("moved")).unwrap();
    symlink("other", place.path("work")).unwrap();
    assert_eq!(read(&reader, "inside").await.unwrap(), "fine");
    write(&writer, "made").await.unwrap();
    assert!(place.path("moved/made").exists() && place.secret_is_untouched());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_file_that_is_replaced_all_the_time_keeps_its_real_path() {
    let place = Scene::new();
    let workspace = place.workspace();
    let writing = async {
        for _ in 0..300 {
            workspace.write("inside", b"x".to_vec(), WriteCondition::Always).await.unwrap();
        }
    };
    let asking = async {
        for _ in 0..3000 {
            assert_eq!(workspace.real_path("inside").await.unwrap(), workspace.directory().join("inside"));
        }
    };
    tokio::join!(writing, asking);
    assert_eq!(std::fs::read_dir(place.path("work")).unwrap().count(), 2, "and nothing appears beside it");
}

#[tokio::test]
async fn every_name_of_a_file_has_one_real_path() {
    let place = Scene::new();
    symlink("sub", place.path("work/alias")).unwrap();
    let workspace = place.workspace();
    let expected = workspace.directory().join("sub/new/file");
    for path in ["sub/new/file", "alias/new/file", "./sub/./new/file", "alias/../sub/new/file"] {
        assert_eq!(workspace.real_path(path).await.unwrap(), expected, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_is_swapped_for_a_link_while_it_is_used_never_leads_out() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let place = Scene::new();
    std::fs::create_dir(place.path("work/real")).unwrap();
    std::fs::write(place.path("work/real/secret"), "fine").unwrap();
    symlink("../other", place.path("work/evil")).unwrap();
    symlink("real", place.path("work/swap")).unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let swapping = {
        let (done, work) = (Arc::clone(&done), place.path("work"));
        std::thread::spawn(move || {
            while !done.load(Ordering::Relaxed) {
                for target in ["evil", "real"] {
                    symlink(target, work.join("next")).unwrap();
                    std::fs::rename(work.join("next"), work.join("swap")).unwrap();
                }
            }
        })
    };
    let workspace = place.workspace();
    let (mut went_well, mut denied) = (0, 0);
    for _ in 0..2000 {
        match workspace.read("swap/secret", 100).await {
            Ok(contents) => {
                assert!(contents.bytes != b"canary");
                went_well += 1;
            }
            Err(_) => denied += 1,
        }
        if workspace.write("swap/secret", b"fine".to_vec(), WriteCondition::Always).await.is_ok() {
            went_well += 1;
        }
    }
    done.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
    assert!(went_well > 0 && denied > 0, "both states were met: {went_well}, {denied}");
    assert!(place.secret_is_untouched());
}

#[test]
fn a_root_that_does_not_exist_is_named() {
    let error = LocalWorkspace::open("/nonexistent/folder").err().unwrap();
    assert!(error.to_string().contains("/nonexistent/folder"), "{error}");
}
