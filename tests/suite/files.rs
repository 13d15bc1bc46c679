//! Files: a guest reaches what was granted and nothing else, by whatever path, link or race it tries.
//!
//! Each denial stands beside a control: the same call that the grant allows.
//!
//! Reliability cases that are elsewhere: F16 in `files/quota.rs`, F18 in `files/listing.rs`, F19 in `files/protected.rs`, F22
//! beside the built-in file tools (`host/tools/src/workspace/local_tests.rs`). F11 is a documented limit. Of F23, a full disk
//! is left to the system: its error passes through as `insufficient-space`, and no test fills a disk.

mod listing;
mod protected;
mod quota;

use anyhow::{Context, Result};
use capstan_engine::LoadProblem;
use capstan_policy::PolicyError;
use capstan_ports::extension::Capability;
use capstan_ports::tool::ToolError;
use capstan_tests::probe::{Probe, directory, inspect, read_only, read_write, sandbox};
use capstan_tests::sandboxed::Place;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const OUTSIDE: &str = "what lies outside";

/// A workspace with a file, a directory `rw` and a file beside the workspace that nobody granted.
fn place() -> Result<Place> {
    let place = Place::new()?;
    let workspace = place.workspace();
    fs::write(workspace.join("a"), "inside")?;
    fs::write(workspace.join("../secret"), OUTSIDE)?;
    fs::create_dir(workspace.join("rw"))?;
    fs::write(workspace.join("rw/b"), "writable")?;
    Ok(place)
}

fn read(at: &str, path: &str) -> Value {
    json!({ "try": "read", "at": at, "path": path })
}

fn error(outcome: &Value) -> &str {
    outcome["error"].as_str().unwrap_or("no error")
}

fn text(outcome: &Value) -> &str {
    outcome["ok"]["text"].as_str().unwrap_or("no text")
}

fn is_ok(outcome: &Value) -> bool {
    outcome.get("ok").is_some()
}

#[tokio::test]
async fn without_a_grant_there_is_no_file_system_at_all() -> Result<()> {
    let place = place()?;
    let steps = json!([
        { "try": "granted" },
        { "try": "std-read", "path": "/workspace/rw/b" },
        { "try": "std-write", "path": "/workspace/rw/new", "text": "x" },
        { "try": "list", "at": "/workspace/rw", "path": "." },
        { "try": "std-read", "path": "/etc/passwd" },
        { "try": "std-read", "path": "b" },
    ]);
    let granted = Probe::load(&place, &[read_write("./rw")]).await?.steps(steps.clone()).await?;
    assert_eq!(
        granted[..3],
        [json!({ "ok": ["/workspace/rw"] }), json!({ "ok": "writable" }), json!({ "ok": null })]
    );
    assert_eq!(granted[3], json!({ "ok": ["b", "new"] }));
    assert!(granted[4..].iter().all(|outcome| !is_ok(outcome)), "{granted:?}");
    fs::remove_file(place.workspace().join("rw/new"))?;

    let nothing = Probe::load(&place, &[]).await?.steps(steps).await?;
    assert_eq!(nothing[0], json!({ "ok": [] }));
    assert!(nothing[1..].iter().all(|outcome| !is_ok(outcome)), "{nothing:?}");
    assert!(!place.workspace().join("rw/new").exists());
    Ok(())
}

// F12
#[tokio::test]
async fn a_read_only_grant_reads_and_changes_nothing() -> Result<()> {
    let changes = json!([
        { "try": "write", "at": "/workspace/d", "path": "a", "text": "x", "create": false, "truncate": false },
        { "try": "write", "at": "/workspace/d", "path": "a", "text": "x", "create": false, "truncate": true },
        { "try": "write", "at": "/workspace/d", "path": "new", "text": "x", "create": true, "truncate": false },
        { "try": "resize", "at": "/workspace/d", "path": "a", "bytes": 1, "write": true },
        { "try": "mkdir", "at": "/workspace/d", "path": "made" },
        { "try": "link", "at": "/workspace/d", "path": "a", "to_at": "/workspace/d", "to": "hard" },
        { "try": "symlink", "at": "/workspace/d", "path": "soft", "target": "a" },
        { "try": "touch", "at": "/workspace/d", "path": "a" },
        { "try": "rename", "at": "/workspace/d", "path": "a", "to_at": "/workspace/d", "to": "moved" },
        { "try": "remove", "at": "/workspace/d", "path": "moved" },
        { "try": "rmdir", "at": "/workspace/d", "path": "empty" },
    ]);
    let folder = || -> Result<Place> {
        let place = Place::new()?;
        let folder = place.workspace().join("d");
        fs::create_dir_all(folder.join("empty"))?;
        fs::write(folder.join("a"), "inside")?;
        fs::write(folder.join("moved"), "inside")?;
        Ok(place)
    };
    let control = folder()?;
    let allowed = Probe::load(&control, &[read_write("./d")]).await?.steps(changes.clone()).await?;
    assert!(allowed.iter().all(is_ok), "{allowed:?}");

    let place = folder()?;
    let probe = Probe::load(&place, &[read_only("./d")]).await?;
    for outcome in probe.steps(changes).await? {
        assert_eq!(error(&outcome), "not-permitted");
    }
    // A handle that was opened for reading is no way to write either.
    let resized =
        probe.step(json!({ "try": "resize", "at": "/workspace/d", "path": "a", "bytes": 1, "write": false }));
    assert_eq!(error(&resized.await?), "not-permitted");
    assert_eq!(text(&probe.step(read("/workspace/d", "a")).await?), "inside");
    let listed = probe.step(json!({ "try": "list", "at": "/workspace/d", "path": "." })).await?;
    assert_eq!(listed, json!({ "ok": ["a", "empty", "moved"] }));
    Ok(())
}

// F1, F2, F7
#[tokio::test]
async fn no_path_leads_out_of_a_grant() -> Result<()> {
    let place = place()?;
    let probe = Probe::load(&place, &[read_write(".")]).await?;
    for inside in ["a", "./a", "rw/../a", "rw/.././/a", "rw/b/../../a"] {
        let outcome = probe.step(read("/workspace", inside)).await?;
        // A file in the middle is no directory; everything else is the same file.
        let expected = if inside.contains("b/..") { "no text" } else { "inside" };
        assert_eq!(text(&outcome), expected, "{inside}: {outcome}");
    }
    let absolute = place.workspace().join("a").display().to_string();
    for outside in [
        "../secret",
        "rw/../../secret",
        "rw/.//b/../../../secret",
        "..",
        "../workspace/a",
        "/etc/passwd",
        "//etc/passwd",
        &absolute,
        "C:\\Windows\\win.ini",
        "\\\\?\\C:\\x",
        "..\\secret",
    ] {
        let outcome = probe.step(read("/workspace", outside)).await?;
        assert!(!is_ok(&outcome), "{outside}: {outcome}");
        let made = json!({ "try": "write", "at": "/workspace", "path": outside, "text": "x", "create": true, "truncate": true });
        // A backslash is an ordinary character in a name; such a file lies inside.
        assert_eq!(is_ok(&probe.step(made).await?), outside.contains('\\'), "{outside}");
    }
    assert_eq!(fs::read_to_string(place.workspace().join("../secret"))?, OUTSIDE);
    Ok(())
}

// F3
#[tokio::test]
async fn names_that_no_file_can_have_are_errors_of_their_own() -> Result<()> {
    let place = place()?;
    let probe = Probe::load(&place, &[read_only(".")]).await?;
    for (path, expected) in [
        ("a\0b".to_owned(), "invalid"),
        ("a\0".to_owned(), "invalid"),
        ("a/".to_owned(), "not-directory"),
        (String::new(), "no-entry"),
        ("x".repeat(300), "name-too-long"),
        ("x/".repeat(2_500), "name-too-long"),
    ] {
        assert_eq!(error(&probe.step(read("/workspace", &path)).await?), expected, "{path:.20}");
    }
    assert_eq!(text(&probe.step(read("/workspace", "a")).await?), "inside");
    Ok(())
}

// F4, F13
#[tokio::test]
async fn links_that_lead_out_are_not_followed() -> Result<()> {
    let place = place()?;
    let workspace = place.workspace();
    symlink("a", workspace.join("in"))?;
    symlink("..", workspace.join("up"))?;
    for (name, target) in [
        ("passwd", "/etc/passwd"),
        ("secret", "../secret"),
        ("environ", "/proc/self/environ"),
        ("root", "/proc/self/root/etc/passwd"),
        ("descriptor", "/proc/self/fd/0"),
        ("absolute", &workspace.join("a").display().to_string()),
    ] {
        symlink(target, workspace.join(name))?;
    }
    let probe = Probe::load(&place, &[read_write(".")]).await?;
    assert_eq!(text(&probe.step(read("/workspace", "in")).await?), "inside");
    for out in ["passwd", "secret", "environ", "root", "descriptor", "absolute", "up/secret"] {
        assert_eq!(error(&probe.step(read("/workspace", out)).await?), "not-permitted", "{out}");
        let written = json!({ "try": "write", "at": "/workspace", "path": out, "text": "x", "create": true, "truncate": true });
        assert_eq!(error(&probe.step(written).await?), "not-permitted", "{out}");
    }
    for (step, path) in
        [("mkdir", "up/made"), ("remove", "up/secret"), ("rmdir", "up/own"), ("touch", "secret")]
    {
        let outcome = probe.step(json!({ "try": step, "at": "/workspace", "path": path })).await?;
        assert_eq!(error(&outcome), "not-permitted", "{step} {path}");
    }
    let moved =
        json!({ "try": "rename", "at": "/workspace", "path": "a", "to_at": "/workspace", "to": "up/a" });
    assert_eq!(error(&probe.step(moved).await?), "not-permitted");
    let no_follow = json!({ "try": "read-no-follow", "at": "/workspace", "path": "in" });
    assert_eq!(error(&probe.step(no_follow).await?), "loop");
    assert_eq!(fs::read_to_string(workspace.join("../secret"))?, OUTSIDE);
    Ok(())
}

// F5, F7
#[tokio::test]
async fn links_of_the_guests_own_making_lead_nowhere_either() -> Result<()> {
    let place = place()?;
    let probe = Probe::load(&place, &[read_write(".")]).await?;
    let link = |path: &str, target: &str| json!({ "try": "symlink", "at": "/workspace", "path": path, "target": target });
    let outcomes = probe
        .steps(json!([
            link("in", "rw/../a"),
            read("/workspace", "in"),
            link("rw/up", "../.."),
            link("rw/via", "up/secret"),
            read("/workspace", "rw/via"),
            read("/workspace", "rw/up/secret"),
            link("rw/deep", "up/workspace/../secret"),
            read("/workspace", "rw/deep"),
            // Inside where it stands, outside where it is moved to.
            link("rw/up1", ".."),
            read("/workspace", "rw/up1/a"),
            { "try": "rename", "at": "/workspace", "path": "rw/up1", "to_at": "/workspace", "to": "up1" },
            read("/workspace", "up1/secret"),
            link("absolute", "/etc/passwd"),
        ]))
        .await?;
    for (at, expected) in [(1, "inside"), (9, "inside")] {
        assert_eq!(text(&outcomes[at]), expected, "{outcomes:?}");
    }
    for at in [4, 5, 7, 11, 12] {
        assert_eq!(error(&outcomes[at]), "not-permitted", "{at} of {outcomes:?}");
    }
    Ok(())
}

// F6
#[tokio::test]
async fn loops_and_long_chains_of_links_end_as_errors() -> Result<()> {
    let place = place()?;
    let workspace = place.workspace();
    symlink("other", workspace.join("loop"))?;
    symlink("loop", workspace.join("other"))?;
    symlink("a", workspace.join("chain0"))?;
    for link in 1..100 {
        symlink(format!("chain{}", link - 1), workspace.join(format!("chain{link}")))?;
    }
    let probe = Probe::load(&place, &[read_only(".")]).await?;
    assert_eq!(text(&probe.step(read("/workspace", "chain9")).await?), "inside");
    for path in ["loop", "loop/a", "chain99"] {
        assert_eq!(error(&probe.step(read("/workspace", path)).await?), "loop", "{path}");
    }
    Ok(())
}

// F8
#[tokio::test]
async fn a_directory_that_turns_into_a_link_between_check_and_use_leads_nowhere() -> Result<()> {
    let place = place()?;
    let workspace = place.workspace();
    fs::create_dir(workspace.join("../outside"))?;
    fs::write(workspace.join("../outside/b"), OUTSIDE)?;
    symlink("../outside", workspace.join("link"))?;
    let probe = Probe::load(&place, &[read_write(".")]).await?;
    let done = Arc::new(AtomicBool::new(false));
    let swapping = {
        let (done, workspace) = (done.clone(), workspace.clone());
        std::thread::spawn(move || {
            while !done.load(Ordering::Relaxed) {
                swap(&workspace, "rw", "link");
            }
        })
    };
    let hammered =
        probe.step(json!({ "try": "hammer", "at": "/workspace", "path": "rw/b", "times": 4_000 })).await;
    done.store(true, Ordering::Relaxed);
    drop(swapping.join());
    let seen = hammered?;
    let seen: Vec<_> = seen["ok"].as_array().context("a list")?.iter().filter_map(Value::as_str).collect();
    assert!(seen.contains(&"writable"), "the control: {seen:?}");
    assert!(!seen.contains(&OUTSIDE), "{seen:?}");
    Ok(())
}

/// Puts `other` in the place of `one` for a moment. An attacker may fail; the next round tries again.
fn swap(folder: &Path, one: &str, other: &str) {
    let path = |name: &str| folder.join(name);
    for (from, to) in [(one, "aside"), (other, one), (one, other), ("aside", one)] {
        drop(fs::rename(path(from), path(to)));
    }
}

// F9
#[tokio::test]
async fn a_call_keeps_the_directory_that_it_began_with() -> Result<()> {
    let place = place()?;
    let workspace = place.workspace();
    let probe = Probe::load(&place, &[read_write("./rw")]).await?;
    let steps = json!([
        { "try": "mkdir", "at": "/workspace/rw", "path": "started" },
        { "try": "wait", "at": "/workspace/rw", "path": "go" },
        read("/workspace/rw", "b"),
    ]);
    let call = tokio::spawn(async move { probe.steps(steps).await });
    while !workspace.join("rw/started").exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    fs::rename(workspace.join("rw"), workspace.join("moved"))?;
    fs::create_dir(workspace.join("rw"))?;
    fs::write(workspace.join("rw/b"), OUTSIDE)?;
    fs::write(workspace.join("moved/go"), "")?;
    assert_eq!(text(&call.await??[2]), "writable");
    Ok(())
}

// F10
#[tokio::test]
async fn nothing_moves_between_grants_of_different_strength() -> Result<()> {
    let place = place()?;
    let workspace = place.workspace();
    for folder in ["ro", "rw2"] {
        fs::create_dir(workspace.join(folder))?;
    }
    fs::write(workspace.join("ro/c"), "readable")?;
    let probe = Probe::load(&place, &[read_only("./ro"), read_write("./rw"), read_write("./rw2")]).await?;
    let across = |step: &str, from: &str, path: &str, to: &str| json!({ "try": step, "at": format!("/workspace/{from}"), "path": path, "to_at": format!("/workspace/{to}"), "to": "new" });
    for step in ["link", "rename"] {
        for (from, path, to) in [("ro", "c", "rw"), ("rw", "b", "ro")] {
            let outcome = probe.step(across(step, from, path, to)).await?;
            assert_eq!(error(&outcome), "not-permitted", "{step} from {from} to {to}");
        }
    }
    assert!(is_ok(&probe.step(across("link", "rw", "b", "rw2")).await?));
    assert!(is_ok(&probe.step(across("rename", "rw2", "new", "rw")).await?));
    Ok(())
}

// F11: a limit that is documented. A hard link that was there before is the file itself; no path shows where else it lies.
#[tokio::test]
async fn a_hard_link_that_was_there_before_is_the_file() -> Result<()> {
    let place = place()?;
    fs::hard_link(place.workspace().join("../secret"), place.workspace().join("same"))?;
    let probe = Probe::load(&place, &[read_only(".")]).await?;
    assert_eq!(text(&probe.step(read("/workspace", "same")).await?), OUTSIDE);
    Ok(())
}

// F14, F15: opening a pipe waits for its other end, and a thread that waits there cannot be stopped.
#[tokio::test]
async fn pipes_sockets_and_devices_are_not_opened() -> Result<()> {
    let place = place()?;
    let workspace = place.workspace();
    let made = std::process::Command::new("mkfifo").arg(workspace.join("pipe")).status()?;
    assert!(made.success());
    let _socket = std::os::unix::net::UnixListener::bind(workspace.join("socket"))?;
    symlink("pipe", workspace.join("to-pipe"))?;
    let probe = Probe::load(&place, &[read_write("."), read_only("/dev")]).await?;
    let began = Instant::now();
    for path in ["pipe", "to-pipe", "socket"] {
        let write = json!({ "try": "write", "at": "/workspace", "path": path, "text": "x", "create": true, "truncate": false });
        for step in [read("/workspace", path), write] {
            assert_eq!(error(&probe.step(step).await?), "not-permitted", "{path}");
        }
    }
    for device in ["zero", "null", "tty", "urandom"] {
        assert_eq!(error(&probe.step(read("/dev", device)).await?), "not-permitted", "{device}");
    }
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    // What they are can be seen, and what is no such thing can be read.
    let stat = json!({ "try": "stat", "at": "/workspace", "path": "pipe", "follow": true });
    assert_eq!(probe.step(stat).await?["ok"]["kind"], "special");
    assert_eq!(text(&probe.step(read("/workspace", "a")).await?), "inside");
    Ok(())
}

// M17
#[tokio::test]
async fn a_large_file_comes_in_pieces_and_ends_at_the_guests_memory() -> Result<()> {
    let place = place()?;
    for (name, mib) in [("small", 8), ("large", 150)] {
        fs::File::create(place.workspace().join(name))?.set_len(mib << 20)?;
    }
    let probe = Probe::load(&place, &[read_only(".")]).await?;
    assert_eq!(probe.step(read("/workspace", "small")).await?["ok"]["bytes"], 8 << 20);
    let failure = probe.step(read("/workspace", "large")).await.expect_err("it does not fit").to_string();
    // Either bound will do: on a very busy machine the deadline comes first.
    assert!(failure.contains("memory (256 MiB)") || failure.contains("did not answer"), "{failure}");
    assert_eq!(text(&probe.step(read("/workspace", "a")).await?), "inside");
    Ok(())
}

// F17, A18: the call ends in a trap while its files are open, and they are closed with its store.
#[tokio::test]
async fn open_files_are_counted_and_given_back() -> Result<()> {
    let place = place()?;
    let probe = Probe::load(&place, &[read_only(".")]).await?;
    let hoard = |times: u32| json!({ "try": "hoard", "at": "/workspace", "path": "a", "times": times });
    assert_eq!(probe.step(hoard(100)).await?["ok"]["open"], 100);
    let before = fs::read_dir("/proc/self/fd").map(Iterator::count).unwrap_or(0);
    let failure = probe.step(hoard(100_000)).await.expect_err("it takes too many").to_string();
    assert!(failure.contains("open files"), "{failure}");
    let after = fs::read_dir("/proc/self/fd").map(Iterator::count).unwrap_or(0);
    // Another test of this process may have opened something meanwhile.
    assert!(after < before + 50, "{before} then {after}");
    assert_eq!(text(&probe.step(read("/workspace", "a")).await?), "inside");
    Ok(())
}

/// A grant that the host must not give, and why it says so.
async fn refused(place: &Place, protected: &Path, grant: Capability) -> Result<LoadProblem> {
    let mut places = place.places();
    places.protected = vec![protected.to_owned()];
    match Probe::load_from(places, &[grant]).await {
        Ok(_) => anyhow::bail!("must be refused"),
        Err(error) => Ok(error.downcast::<capstan_engine::LoadError>()?.problem),
    }
}

// F19, F21, K9
#[tokio::test]
async fn the_hosts_own_files_are_in_no_grant() -> Result<()> {
    let place = place()?;
    let workspace = place.workspace();
    // The host's files in the workspace, as `CAPSTAN_HOME` may put them.
    let own = workspace.join("state/capstan");
    fs::create_dir_all(own.join("cache"))?;
    fs::write(own.join("cache.key"), "key")?;
    symlink("state", workspace.join("link"))?;
    for grant in
        [".", "./state", "./state/capstan", "./state/capstan/cache", "./link", "./link/capstan", "~", "/"]
    {
        let problem = refused(&place, &own, read_only(grant)).await?;
        assert!(
            matches!(problem, LoadProblem::Grant { source: PolicyError::Protected { .. } }),
            "{grant}: {problem}"
        );
    }
    let mut places = place.places();
    places.protected = vec![own];
    let probe = Probe::load_from(places, &[read_write("./rw")]).await?;
    assert_eq!(text(&probe.step(read("/workspace/rw", "b")).await?), "writable");
    Ok(())
}

// F20
#[tokio::test]
async fn a_grant_whose_name_is_a_link_stays_with_what_the_link_led_to() -> Result<()> {
    let place = place()?;
    let workspace = place.workspace();
    symlink("rw", workspace.join("named"))?;
    let probe = Probe::load(&place, &[read_only("./named")]).await?;
    assert_eq!(text(&probe.step(read("/workspace/named", "b")).await?), "writable");
    fs::create_dir(workspace.join("../outside"))?;
    fs::write(workspace.join("../outside/b"), OUTSIDE)?;
    fs::remove_file(workspace.join("named"))?;
    symlink("../outside", workspace.join("named"))?;
    assert_eq!(text(&probe.step(read("/workspace/named", "b")).await?), "writable");
    Ok(())
}

// F20: a guest that may write around a grant puts a link in its place.
#[tokio::test]
async fn a_grant_within_a_grant_cannot_be_turned_into_a_way_out() -> Result<()> {
    let place = place()?;
    let workspace = place.workspace();
    fs::create_dir(workspace.join("../outside"))?;
    fs::write(workspace.join("../outside/b"), OUTSIDE)?;
    symlink("../outside", workspace.join("out"))?;
    let probe = Probe::load(&place, &[read_write("."), read_only("./rw")]).await?;
    assert_eq!(text(&probe.step(read("/workspace/rw", "b")).await?), "writable");
    // Grants add up: what one allows, a narrower one beside it does not take back.
    let change = json!({ "try": "write", "at": "/workspace", "path": "rw/b", "text": "W", "create": false, "truncate": false });
    assert!(is_ok(&probe.step(change).await?));

    let redirected = probe
        .steps(json!([
            { "try": "rename", "at": "/workspace", "path": "rw", "to_at": "/workspace", "to": "aside" },
            { "try": "rename", "at": "/workspace", "path": "out", "to_at": "/workspace", "to": "rw" },
        ]))
        .await?;
    assert!(redirected.iter().all(is_ok), "{redirected:?}");
    let next = probe.step(read("/workspace/rw", "b")).await;
    let message = next.expect_err("what the link leads to was never granted").to_string();
    assert!(message.contains("/workspace/rw") && message.contains("link"), "{message}");
    Ok(())
}

// F20, F8: the same as a race between two calls, one that swaps and one that begins.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_grant_that_is_swapped_while_a_call_begins_is_no_way_out_either() -> Result<()> {
    let place = place()?;
    let workspace = place.workspace();
    fs::create_dir(workspace.join("../outside"))?;
    fs::write(workspace.join("../outside/b"), OUTSIDE)?;
    symlink("../outside", workspace.join("out"))?;
    let attacker = Probe::load(&place, &[read_write(".")]).await?;
    let victim = Probe::load(&place, &[read_only("./rw")]).await?;
    assert_eq!(text(&victim.step(read("/workspace/rw", "b")).await?), "writable");
    let swapping = tokio::spawn(async move {
        let swap = json!({
            "try": "swap", "at": "/workspace", "path": "rw", "one": "aside", "other": "out", "times": 2_000
        });
        attacker.step(swap).await
    });
    let mut began = 0;
    while !swapping.is_finished() {
        if let Ok(outcome) = victim.step(read("/workspace/rw", "b")).await {
            began += 1;
            assert_ne!(text(&outcome), OUTSIDE);
        }
    }
    // On a very busy machine it may run into its deadline; then it has swapped for half a minute.
    let swapped = swapping.await?;
    assert!(
        matches!(&swapped, Ok(outcome) if is_ok(outcome)) || matches!(swapped, Err(ToolError::TimedOut(_)))
    );
    assert!(began > 0, "the victim did run");
    Ok(())
}

// F23
#[tokio::test]
async fn a_granted_directory_that_is_gone_is_an_error_and_comes_back() -> Result<()> {
    let place = place()?;
    let workspace = place.workspace();
    let missing = Probe::load(&place, &[read_only("./missing")]).await;
    assert!(missing.is_err_and(|error| error.to_string().contains("missing")));
    let probe = Probe::load(&place, &[read_only("./rw")]).await?;
    fs::rename(workspace.join("rw"), workspace.join("gone"))?;
    let message = probe.step(read("/workspace/rw", "b")).await.expect_err("it is gone").to_string();
    assert!(message.contains("/workspace/rw"), "{message}");
    assert!(
        !message.contains(&workspace.display().to_string()),
        "the model learns no path of the host: {message}"
    );
    fs::rename(workspace.join("gone"), workspace.join("rw"))?;
    assert_eq!(text(&probe.step(read("/workspace/rw", "b")).await?), "writable");
    Ok(())
}

#[tokio::test]
async fn a_grant_that_is_a_file_or_out_of_form_is_refused() -> Result<()> {
    let place = place()?;
    for grant in ["./a", "rw", "../", "./../secret", "$HOME", "~root", ""] {
        let loaded = Probe::load(&place, &[read_only(grant)]).await;
        assert!(loaded.is_err(), "{grant:?}");
    }
    // The engine refuses by itself; nothing is left to whoever assembles the host.
    let effective = capstan_policy::Effective::nothing();
    let settings = capstan_engine::ExtensionSettings::new(place.places());
    assert!(sandbox()?.extension(inspect().await?, effective, &settings).is_ok());
    assert!(
        Probe::load(&place, &[directory("./rw", capstan_ports::extension::Access::ReadOnly)]).await.is_ok()
    );
    Ok(())
}
