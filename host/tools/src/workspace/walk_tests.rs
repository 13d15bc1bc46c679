use super::*;
use crate::workspace::{InMemoryWorkspace, LocalWorkspace, WorkspaceRuntime};
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// Notes what it meets, and reads every file.
#[derive(Default)]
struct Notes {
    paths: Mutex<Vec<String>>,
    texts: Mutex<Vec<String>>,
}

impl Visitor for Notes {
    fn choose(&self, _path: &Path, _is_directory: bool) -> Choice {
        Choice::ByRules
    }

    fn visit(&self, entry: &dyn WalkEntry) -> ControlFlow<()> {
        self.paths.lock().unwrap().push(entry.path().display().to_string());
        let mut text = String::new();
        if entry.open().is_ok_and(|mut file| file.read_to_string(&mut text).is_ok()) {
            self.texts.lock().unwrap().push(text);
        }
        ControlFlow::Continue(())
    }
}

async fn met(workspace: &dyn WorkspaceRuntime, path: &str) -> (Vec<String>, Walked) {
    let notes = Arc::new(Notes::default());
    let walked = workspace.walk(path, notes.clone(), &CancellationToken::new()).await.unwrap();
    let paths = notes.paths.lock().unwrap().clone();
    (paths, walked)
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The same files with the same lists on the disk and in memory.
async fn both(files: &[(&str, &str)], start: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let memory = InMemoryWorkspace::new("/workspace");
    for (path, text) in files {
        write(folder.path(), path, text);
        memory.insert(path, *text);
    }
    let (on_disk, _) = met(&LocalWorkspace::open(folder.path()).unwrap(), start).await;
    let (in_memory, _) = met(&memory, start).await;
    assert_eq!(on_disk, in_memory);
    on_disk
}

#[tokio::test]
async fn a_tree_is_met_in_order_with_directories_before_what_is_in_them() {
    let files = [("b", ""), ("a/z", ""), ("a/b/c", ""), (".hidden", ""), ("a.txt", "")];
    assert_eq!(both(&files, ".").await, [".hidden", "a", "a/b", "a/b/c", "a/z", "a.txt", "b"]);
    assert_eq!(both(&files, "a").await, ["b", "b/c", "z"]);
    assert_eq!(both(&files, "a/z").await, ["z"]);
}

// 001-099
#[tokio::test]
async fn lists_of_ignored_files_hold_without_a_repository_and_inner_ones_win() {
    let files = [
        (".gitignore", "\u{FEFF}*.log\n/build\n# a remark\n[broken\nnode_modules/\n"),
        ("a.log", ""),
        ("build/x", ""),
        ("sub/build/x", ""),
        ("sub/b.log", ""),
        ("sub/.gitignore", "!b.log\n"),
        ("sub/node_modules/deep/x", ""),
        (".ignore", "secret*\n!a.log\n"),
        ("sub/secret-plan", ""),
    ];
    let expected =
        [".gitignore", ".ignore", "a.log", "sub", "sub/.gitignore", "sub/b.log", "sub/build", "sub/build/x"];
    assert_eq!(both(&files, ".").await, expected);
    // Lists above where the walk begins hold too; who names an ignored directory gets it.
    assert_eq!(both(&files, "sub").await, [".gitignore", "b.log", "build", "build/x"]);
    assert_eq!(both(&files, "sub/node_modules").await, ["deep", "deep/x"]);
}

// 001-099
#[tokio::test]
async fn a_repository_within_another_has_lists_of_its_own_and_its_innards_are_passed_over() {
    let files = [
        (".gitignore", "*.log\n"),
        (".git/info/exclude", "private\n*.tmp\n"),
        (".git/HEAD", ""),
        ("keep.tmp/.gitignore", ""),
        ("private", ""),
        ("inner/.git/HEAD", ""),
        ("inner/a.log", ""),
        ("worktree/.git", "gitdir: elsewhere"),
        ("worktree/b.log", ""),
        ("c.log", ""),
    ];
    assert_eq!(both(&files, ".").await, [".gitignore", "inner", "inner/a.log", "worktree", "worktree/b.log"]);
    assert_eq!(both(&files, ".git").await, ["HEAD", "info", "info/exclude"]);
}

// 001-099
#[tokio::test]
async fn a_workspace_that_is_part_of_a_repository_obeys_the_lists_of_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [
        (".gitignore", "work\n*\n"),
        ("repository/.git/HEAD", ""),
        ("repository/.gitignore", "dist\n/packages/one/made\n"),
        ("repository/packages/.gitignore", "*.map\n"),
        ("repository/packages/one/dist/x", ""),
        ("repository/packages/one/made", ""),
        ("repository/packages/one/a.map", ""),
        ("repository/packages/one/source", ""),
    ] {
        write(folder.path(), path, text);
    }
    let workspace = LocalWorkspace::open(folder.path().join("repository/packages/one")).unwrap();
    assert_eq!(met(&workspace, ".").await.0, ["source"]);
    fs::remove_dir_all(folder.path().join("repository/.git")).unwrap();
    assert_eq!(met(&workspace, ".").await.0.len(), 5, "without a repository the lists above do not count");
}

// F6, F23
#[tokio::test]
async fn loops_of_links_end_and_directories_too_deep_or_closed_are_counted() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    symlink(".", folder.path().join("loop")).unwrap();
    symlink("self", folder.path().join("self")).unwrap();
    let deep: PathBuf = std::iter::repeat_n("d", MAX_DEPTH + 5).collect();
    fs::create_dir_all(folder.path().join(&deep)).unwrap();
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o0)).unwrap();
    let can_read_all = fs::read_dir(&closed).is_ok();
    let workspace = LocalWorkspace::open(folder.path()).unwrap();
    let (paths, walked) = met(&workspace, ".").await;
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(paths.len(), MAX_DEPTH + 3);
    assert_eq!((walked.n_cut, walked.n_unreadable), (1, usize::from(!can_read_all)));
}

// F8
#[tokio::test(flavor = "multi_thread")]
async fn a_directory_swapped_for_a_link_during_the_walk_does_not_lead_out() {
    let base = tempfile::tempdir().unwrap();
    let work = base.path().join("work");
    write(base.path(), "other/file", "canary");
    write(&work, "folder/file", "fine");
    symlink("../other", work.join("link")).unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let n_swaps = Arc::new(AtomicUsize::new(0));
    let swapping = std::thread::spawn({
        let (work, done, n_swaps) = (work.clone(), done.clone(), n_swaps.clone());
        move || {
            while !done.load(Ordering::Relaxed) {
                rustix::fs::renameat_with(
                    rustix::fs::CWD,
                    work.join("folder"),
                    rustix::fs::CWD,
                    work.join("link"),
                    rustix::fs::RenameFlags::EXCHANGE,
                )
                .unwrap();
                n_swaps.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    let workspace = LocalWorkspace::open(&work).unwrap();
    let notes = Arc::new(Notes::default());
    for start in [".", "folder", "link", "folder/file"].into_iter().cycle().take(4000) {
        // A link in the place of the start is a denial, which is fine.
        let _walked = workspace.walk(start, notes.clone(), &CancellationToken::new()).await;
    }
    done.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
    assert!(n_swaps.load(Ordering::Relaxed) > 0);
    let texts = notes.texts.lock().unwrap();
    assert!(texts.iter().any(|text| text == "fine"), "the walk reads what is inside");
    assert!(texts.iter().all(|text| text == "fine"), "and never what is outside");
}

/// Goes on for as long as the walk lets it.
struct Slow {
    n_met: AtomicUsize,
    cancel: CancellationToken,
}

impl Visitor for Slow {
    fn choose(&self, _path: &Path, _is_directory: bool) -> Choice {
        Choice::ByRules
    }

    fn visit(&self, _entry: &dyn WalkEntry) -> ControlFlow<()> {
        if self.n_met.fetch_add(1, Ordering::Relaxed) == 2 {
            self.cancel.cancel();
        }
        ControlFlow::Continue(())
    }
}

// 001-099
#[tokio::test]
async fn an_abort_ends_a_walk_at_the_next_entry() {
    let folder = tempfile::tempdir().unwrap();
    for n in 0..500 {
        write(folder.path(), &format!("{n}"), "");
    }
    let cancel = CancellationToken::new();
    let visitor = Arc::new(Slow { n_met: AtomicUsize::default(), cancel: cancel.clone() });
    let workspace = LocalWorkspace::open(folder.path()).unwrap();
    workspace.walk(".", visitor.clone(), &cancel).await.unwrap();
    assert_eq!(visitor.n_met.load(Ordering::Relaxed), 3);
}
