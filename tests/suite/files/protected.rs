//! What a grant to write does not cover: files that make a program run something later. They can be read, and not changed,
//! by whatever path.

use super::{error, is_ok, place, read, swap, text};
use anyhow::Result;
use capstan_tests::invariant::Before;
use capstan_tests::logged::Logged;
use capstan_tests::probe::{Probe, read_write};
use capstan_tests::sandboxed::Place;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const KEPT: &str = "as it was";

/// Something to be changed in every way.
fn fill(folder: &Path) -> Result<()> {
    for directory in ["hooks", "empty"] {
        fs::create_dir_all(folder.join(directory))?;
    }
    for file in ["config", "gone", "moved"] {
        fs::write(folder.join(file), KEPT)?;
    }
    Ok(())
}

fn write(path: &str, create: bool, truncate: bool) -> Value {
    json!({ "try": "write", "at": "/workspace", "path": path, "text": "X", "create": create, "truncate": truncate })
}

/// Every change of something in a folder and, at the end, of the folder.
fn changes(folder: &str) -> Vec<Value> {
    let one = |what: &str, path: &str| json!({ "try": what, "at": "/workspace", "path": format!("{folder}/{path}") });
    let two = |what: &str, from: String, to: String| json!({ "try": what, "at": "/workspace", "path": from, "to_at": "/workspace", "to": to });
    let inside = |path: &str| format!("{folder}/{path}");
    vec![
        write(&inside("config"), false, false),
        write(&inside("config"), true, false),
        write(&inside("config"), false, true),
        write(&inside("hooks/pre-commit"), true, true),
        one("make", "hooks/post-commit"),
        json!({ "try": "resize", "at": "/workspace", "path": inside("config"), "bytes": 1, "write": true }),
        one("mkdir", "made"),
        one("rmdir", "empty"),
        one("remove", "gone"),
        two("rename", inside("moved"), "out".to_owned()),
        two("rename", "free".to_owned(), inside("in")),
        two("link", inside("config"), "second".to_owned()),
        two("link", "a".to_owned(), inside("second")),
        json!({ "try": "symlink", "at": "/workspace", "path": inside("soft"), "target": "config" }),
        one("touch", "config"),
        one("touch-no-follow", "config"),
        one("touch-open", "config"),
        two("rename", folder.to_owned(), "elsewhere".to_owned()),
    ]
}

/// A workspace with a folder of this name and a free file.
fn place_with(folder: &str) -> Result<Place> {
    let place = place()?;
    fs::write(place.workspace().join("free"), "free")?;
    fill(&place.workspace().join(folder))?;
    Ok(place)
}

/// All names and contents below a folder.
fn snapshot(folder: &Path) -> Result<Vec<String>> {
    let mut seen = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let what = match entry.file_type()?.is_dir() {
            true => snapshot(&path)?.join(";"),
            false => fs::read_to_string(&path)?,
        };
        let changed = fs::symlink_metadata(&path)?.modified()?;
        seen.push(format!("{} {what} {changed:?}", path.display()));
    }
    seen.sort();
    Ok(seen)
}

// F19
#[tokio::test]
async fn what_tools_run_can_be_read_and_in_no_way_be_changed() -> Result<()> {
    let control = place_with("plain")?;
    let probe = Probe::load(&control, &[read_write(".")]).await?;
    for (step, outcome) in changes("plain").iter().zip(probe.steps(json!(changes("plain"))).await?) {
        assert!(is_ok(&outcome), "{step}: {outcome}");
    }
    for folder in [".git", ".GIT", ".Git", ".hg", ".capstan", ".vscode", ".Idea", "sub/.git", "sub/.git/deep"]
    {
        let place = place_with(folder)?;
        let before = snapshot(&place.workspace())?;
        let probe = Probe::load(&place, &[read_write(".")]).await?;
        for (step, outcome) in changes(folder).iter().zip(probe.steps(json!(changes(folder))).await?) {
            assert_eq!(error(&outcome), "not-permitted", "{step}");
        }
        assert_eq!(snapshot(&place.workspace())?, before, "{folder}");
        let config = format!("{folder}/config");
        assert_eq!(text(&probe.step(read("/workspace", &config)).await?), KEPT);
        let listed = probe.step(json!({ "try": "list", "at": "/workspace", "path": folder })).await?;
        assert_eq!(listed, json!({ "ok": ["config", "empty", "gone", "hooks", "moved"] }));
    }
    Ok(())
}

// F19
#[tokio::test]
async fn start_files_of_shells_and_tools_are_protected_wherever_they_lie() -> Result<()> {
    let place = place()?;
    let workspace = place.workspace();
    fs::create_dir(workspace.join("home"))?;
    let probe = Probe::load(&place, &[read_write(".")]).await?;
    let steps = |name: &str| {
        let path = format!("home/{name}");
        json!([
            write(&path, true, false),
            { "try": "make", "at": "/workspace", "path": format!("{path}") },
            { "try": "rename", "at": "/workspace", "path": "a", "to_at": "/workspace", "to": &path },
            { "try": "link", "at": "/workspace", "path": "a", "to_at": "/workspace", "to": &path },
            { "try": "symlink", "at": "/workspace", "path": &path, "target": "../a" },
            { "try": "mkdir", "at": "/workspace", "path": &path },
        ])
    };
    for name in [".bashrc", ".BASHRC", ".profile", ".zshenv", ".envrc", ".npmrc", ".ba\u{17f}hrc"] {
        for outcome in probe.steps(steps(name)).await? {
            assert_eq!(error(&outcome), "not-permitted", "{name}");
        }
        assert!(fs::read_dir(workspace.join("home"))?.next().is_none(), "{name}");
    }
    // The control: one of a name that nothing runs.
    let free = probe.steps(steps("bashrc")).await?;
    assert!(is_ok(&free[0]) && error(&free[1]) == "exist" && is_ok(&free[2]), "{free:?}");
    Ok(())
}

// F19
#[tokio::test]
async fn no_link_leads_to_a_protected_file_for_writing() -> Result<()> {
    let place = place_with(".git")?;
    let workspace = place.workspace();
    let before = snapshot(&workspace.join(".git"))?;
    let look = Before::look();
    let logged = Logged::begin();
    let probe = Probe::load(&place, &[read_write(".")]).await?;
    let link = |path: &str, target: &str| json!({ "try": "symlink", "at": "/workspace", "path": path, "target": target });
    let made = probe
        .steps(json!([
            link("folder", ".git"),
            link("file", ".git/config"),
            link("rw/up", "../folder/hooks"),
            link("new", ".git/hooks/pre-commit"),
            link("nowhere", "rw/not-there"),
        ]))
        .await?;
    assert!(made.iter().all(is_ok), "{made:?}");
    for path in ["file", "folder/config", "folder/../.git/config"] {
        assert_eq!(text(&probe.step(read("/workspace", path)).await?), KEPT, "the control: {path}");
        for (create, truncate) in [(false, false), (true, false), (false, true), (true, true)] {
            let outcome = probe.step(write(path, create, truncate)).await?;
            assert_eq!(error(&outcome), "not-permitted", "{path}");
        }
        let touched = json!({ "try": "touch", "at": "/workspace", "path": path });
        assert_eq!(error(&probe.step(touched).await?), "not-permitted", "{path}");
    }
    for path in ["new", "folder/hooks/new", "rw/up/new", "folder/hooks/../new"] {
        assert_eq!(error(&probe.step(write(path, true, false)).await?), "not-permitted", "{path}");
    }
    let warned = logged.with("protected");
    assert!(warned.iter().any(|line| line.contains(".git/config")), "{warned:?}");
    // What a link to nothing might lead to is not known, so nothing is made through it.
    assert_eq!(error(&probe.step(write("nowhere", true, false)).await?), "not-permitted");
    assert!(is_ok(&probe.step(write("rw/not-there", true, false)).await?));
    assert!(is_ok(&probe.step(write("nowhere", true, false)).await?), "now it leads somewhere");

    // Through a directory that was opened by itself.
    for at in ["/workspace//.git", "/workspace//folder", "/workspace//rw/up"] {
        for what in ["make", "mkdir"] {
            let step = json!({ "try": what, "at": at, "path": "new" });
            assert_eq!(error(&probe.step(step).await?), "not-permitted", "{at}");
        }
    }
    assert!(is_ok(&probe.step(json!({ "try": "make", "at": "/workspace//rw", "path": "new" })).await?));
    assert_eq!(snapshot(&workspace.join(".git"))?, before);
    look.holds(&place, &probe.extension).await
}

// F19
#[tokio::test]
async fn nothing_of_the_guests_own_making_becomes_protected() -> Result<()> {
    let place = place()?;
    let probe = Probe::load(&place, &[read_write(".")]).await?;
    let rename = |to: &str| json!({ "try": "rename", "at": "/workspace", "path": "rw", "to_at": "/workspace", "to": to });
    for name in [".git", ".GIT", ".git/", "./.git", "rw/../.vscode"] {
        assert_eq!(error(&probe.step(rename(name)).await?), "not-permitted", "{name}");
        let made = json!({ "try": "mkdir", "at": "/workspace", "path": name });
        assert_eq!(error(&probe.step(made).await?), "not-permitted", "{name}");
    }
    assert!(is_ok(&probe.step(rename("git")).await?));
    Ok(())
}

// F19: where the name is a link, what it leads to has another name. By the protected name it cannot be changed.
#[tokio::test]
async fn a_protected_name_that_is_a_link_is_protected_under_this_name() -> Result<()> {
    let place = place_with("data")?;
    symlink("data", place.workspace().join(".git"))?;
    let probe = Probe::load(&place, &[read_write(".")]).await?;
    assert_eq!(text(&probe.step(read("/workspace", ".git/config")).await?), KEPT);
    assert_eq!(error(&probe.step(write(".git/config", false, true)).await?), "not-permitted");
    let through = json!({ "try": "make", "at": "/workspace//.git", "path": "new" });
    assert_eq!(error(&probe.step(through).await?), "not-permitted");
    assert!(is_ok(&probe.step(write("data/config", false, true)).await?), "a documented limit");
    Ok(())
}

// F19
#[tokio::test]
async fn a_folder_that_is_granted_by_its_protected_name_is_meant() -> Result<()> {
    let place = place_with(".git")?;
    fill(&place.workspace().join(".git/.idea"))?;
    let probe = Probe::load(&place, &[read_write("./.git")]).await?;
    let write = |path: &str| json!({ "try": "write", "at": "/workspace/.git", "path": path, "text": "X", "create": true, "truncate": true });
    assert!(is_ok(&probe.step(write("config")).await?));
    assert_eq!(error(&probe.step(write(".idea/config")).await?), "not-permitted", "what lies beneath is not");
    Ok(())
}

// F19, F8
#[tokio::test]
async fn a_folder_that_turns_into_a_link_to_a_protected_one_is_not_written() -> Result<()> {
    let place = place_with(".git")?;
    let workspace = place.workspace();
    let before = snapshot(&workspace.join(".git"))?;
    fill(&workspace.join("plain"))?;
    symlink(".git", workspace.join("link"))?;
    let probe = Probe::load(&place, &[read_write(".")]).await?;
    let done = Arc::new(AtomicBool::new(false));
    let swapping = {
        let (done, workspace) = (done.clone(), workspace.clone());
        std::thread::spawn(move || {
            while !done.load(Ordering::Relaxed) {
                swap(&workspace, "plain", "link");
            }
        })
    };
    let once = |round: usize| {
        [
            write("plain/config", true, true),
            write(&format!("plain/hooks/{round}"), true, false),
            json!({ "try": "mkdir", "at": "/workspace", "path": format!("plain/hooks/d{round}") }),
        ]
    };
    let steps: Vec<_> = (0..1_000).flat_map(once).collect();
    let outcomes = probe.steps(json!(steps)).await;
    done.store(true, Ordering::Relaxed);
    drop(swapping.join());
    let outcomes = outcomes?;
    assert!(outcomes.iter().any(is_ok), "the control");
    assert_eq!(snapshot(&workspace.join(".git"))?, before);
    Ok(())
}
