use super::*;
use std::time::{Duration, Instant};

/// What X6 allows from the kill to the last process gone.
const SOON: Duration = Duration::from_secs(2);

/// A limit that no test reaches.
const LONG: Duration = Duration::from_secs(60);

fn runner() -> LocalPrograms {
    LocalPrograms::new().with_isolation(Isolation::Group)
}

fn request(program: &str, arguments: &[&str]) -> ProgramRequest {
    ProgramRequest {
        program: program.into(),
        arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
        stdin: Vec::new(),
        environment: Vec::new(),
        directory: None,
        timeout: LONG,
        max_output_bytes: 1024,
    }
}

/// A script is the easiest program to write; the shell is the program under test here, not the runner's.
fn script(text: &str) -> ProgramRequest {
    request("/bin/sh", &["-c", text])
}

async fn run(request: ProgramRequest) -> Result<ProgramOutcome, ProgramError> {
    runner().run(request, &CancellationToken::new()).await
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn is_alive(pid: &str) -> bool {
    // A killed process that nobody has waited for yet is as good as gone.
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z"))
}

async fn dies(pid: &str) -> bool {
    let deadline = Instant::now() + SOON;
    while is_alive(pid) && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    !is_alive(pid)
}

/// The process ids that a stubborn family has written down, once all of them are there.
async fn family(file: &Path, n_members: usize) -> Vec<String> {
    loop {
        let pids: Vec<String> =
            std::fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect();
        if pids.len() == n_members {
            return pids;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A program, its child and its grandchild; all three ignore SIGTERM and write down who they are.
fn stubborn_family(file: &Path) -> ProgramRequest {
    let member = "trap '' TERM; echo $$ >> \"$FAMILY\";";
    let grandchild = format!("{member} while :; do sleep 1; done");
    let child = format!("{member} sh -c \"$GRANDCHILD\" & while :; do sleep 1; done");
    let mut request = script(&format!("{member} sh -c \"$CHILD\" & while :; do sleep 1; done"));
    request.environment = vec![
        ("FAMILY".to_owned(), file.display().to_string()),
        ("CHILD".to_owned(), child),
        ("GRANDCHILD".to_owned(), grandchild),
        ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
    ];
    request
}

#[tokio::test]
async fn a_program_gets_its_words_as_they_are_and_answers_with_both_outputs_and_its_code() {
    let mut words = script("printf '%s|' \"$@\"; echo told >&2; exit 7");
    words.arguments.extend(["sh", "two words", "$HOME", "`id`", "*"].map(str::to_owned));
    let outcome = run(words).await.unwrap();
    assert_eq!(text(&outcome.stdout), "two words|$HOME|`id`|*|");
    assert_eq!(text(&outcome.stderr), "told\n");
    assert_eq!((outcome.exit_code, outcome.timed_out, outcome.truncated), (Some(7), false, false));
}

#[tokio::test]
async fn a_program_that_a_signal_ends_has_no_exit_code() {
    assert_eq!(run(script("kill -SEGV $$")).await.unwrap().exit_code, None);
}

// S2
#[tokio::test]
async fn a_program_sees_the_environment_that_was_asked_for_and_nothing_of_the_hosts() {
    // Cargo puts this one into the environment of every test; it stands for whatever the host may carry.
    const CANARY: &str = "CARGO_MANIFEST_DIR";
    let canary = std::env::var(CANARY).unwrap();
    let mut asked = script("cat /proc/$$/environ | tr '\\0' '\\n'");
    let outcome = run(asked.clone()).await.unwrap();
    assert!(!text(&outcome.stdout).contains(&canary), "{}", text(&outcome.stdout));
    assert_eq!(text(&outcome.stdout), "");

    asked.environment = vec![("COLOUR".to_owned(), "blue".to_owned()), (CANARY.to_owned(), canary.clone())];
    let outcome = run(asked).await.unwrap();
    let mut seen: Vec<&str> = text(&outcome.stdout).lines().collect();
    seen.sort_unstable();
    assert_eq!(seen, [&format!("{CANARY}={canary}"), "COLOUR=blue"]);
}

#[tokio::test]
async fn a_name_that_no_environment_variable_can_have_is_refused() {
    for name in ["", "A=B"] {
        let mut asked = script("true");
        asked.environment = vec![(name.to_owned(), "value".to_owned())];
        let error = run(asked).await.unwrap_err();
        assert!(error.to_string().contains("no name of an environment variable"), "{error}");
    }
}

#[tokio::test]
async fn a_bare_name_is_looked_up_on_the_hosts_path_and_nowhere_else() {
    assert_eq!(text(&run(request("echo", &["found"])).await.unwrap().stdout), "found\n");

    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tool"), "#!/bin/sh\necho planted\n").unwrap();
    let mut planted = request("tool", &[]);
    planted.directory = Some(folder.path().to_path_buf());
    planted.environment = vec![("PATH".to_owned(), folder.path().display().to_string())];
    for path in ["/usr/bin:/bin", "", ".", ":/usr/bin"] {
        let programs = runner().with_search_path(path);
        let error = programs.run(planted.clone(), &CancellationToken::new()).await.unwrap_err();
        assert!(error.to_string().contains("no folder on PATH has it"), "{path}: {error}");
    }
    let programs = runner().with_search_path(folder.path());
    let error = programs.run(planted.clone(), &CancellationToken::new()).await.unwrap_err();
    assert!(error.to_string().contains("no folder on PATH has it"), "not executable: {error}");

    use std::os::unix::fs::PermissionsExt;
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path().join("tool"), executable).unwrap();
    let outcome = programs.run(planted, &CancellationToken::new()).await.unwrap();
    assert_eq!(text(&outcome.stdout), "planted\n");
}

#[tokio::test]
async fn a_relative_path_and_a_missing_program_are_refused_with_what_to_do() {
    for program in ["./echo", "bin/echo", "..", ""] {
        let error = run(request(program, &[])).await.unwrap_err();
        assert!(matches!(error, ProgramError::NotStarted { .. }), "{program}: {error}");
        assert!(error.to_string().contains("absolute path"), "{program}: {error}");
    }
    let error = run(request("/no/such/program", &[])).await.unwrap_err();
    assert!(error.to_string().starts_with("/no/such/program cannot be started"), "{error}");
}

#[tokio::test]
async fn much_input_and_much_output_at_once_do_not_stop_each_other() {
    let mut echo = request("cat", &[]);
    echo.stdin = vec![b'x'; 3 << 20];
    echo.max_output_bytes = 4 << 20;
    let outcome = run(echo.clone()).await.unwrap();
    assert_eq!((outcome.stdout.len(), outcome.truncated), (3 << 20, false));

    echo.max_output_bytes = 1000;
    let outcome = run(echo).await.unwrap();
    assert_eq!((outcome.stdout.len(), outcome.truncated, outcome.exit_code), (1000, true, Some(0)));
}

#[tokio::test]
async fn input_that_a_program_does_not_want_is_no_error_and_its_end_is_seen() {
    let mut deaf = script("exec <&-; echo done");
    deaf.stdin = vec![b'x'; 1 << 20];
    assert_eq!(text(&run(deaf).await.unwrap().stdout), "done\n");
    assert_eq!(text(&run(script("cat; echo end")).await.unwrap().stdout), "end\n");
}

#[tokio::test]
async fn without_a_directory_a_program_starts_in_an_empty_one_that_is_gone_afterwards() {
    let outcome = run(script("pwd; ls -A | wc -l; echo left > behind")).await.unwrap();
    let lines: Vec<&str> = text(&outcome.stdout).lines().map(str::trim).collect();
    assert_eq!(lines[1], "0");
    assert!(lines[0].contains("capstan-program-") && !Path::new(lines[0]).exists(), "{lines:?}");

    let folder = tempfile::tempdir().unwrap();
    let mut placed = script("pwd; echo kept > behind");
    placed.directory = Some(folder.path().canonicalize().unwrap());
    let outcome = run(placed).await.unwrap();
    assert_eq!(Path::new(text(&outcome.stdout).trim()), folder.path().canonicalize().unwrap());
    assert!(folder.path().join("behind").exists());
}

// X6
#[tokio::test]
async fn a_cancelled_program_is_gone_with_grandchildren_that_ignore_sigterm() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("family");
    let cancel = CancellationToken::new();
    let running = tokio::spawn({
        let (request, cancel) = (stubborn_family(&file), cancel.clone());
        async move { runner().run(request, &cancel).await }
    });
    let pids = family(&file, 3).await;
    assert!(pids.iter().all(|pid| is_alive(pid)));
    cancel.cancel();
    let error = tokio::time::timeout(SOON, running).await.unwrap().unwrap().unwrap_err();
    assert!(matches!(error, ProgramError::Cancelled), "{error}");
    for pid in pids {
        assert!(dies(&pid).await, "{pid} still runs");
    }
}

// X6
#[tokio::test]
async fn a_program_whose_future_is_dropped_is_gone_with_its_family_and_its_directory() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("family");
    let running = tokio::spawn({
        let request = stubborn_family(&file);
        async move { runner().run(request, &CancellationToken::new()).await }
    });
    let pids = family(&file, 3).await;
    let place = std::fs::read_link(format!("/proc/{}/cwd", pids[0])).unwrap();
    assert!(place.exists());
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    for pid in pids {
        assert!(dies(&pid).await, "{pid} still runs");
    }
    assert!(!place.exists());
}

// X6
#[tokio::test]
async fn a_program_that_takes_too_long_is_killed_with_its_family_and_keeps_what_it_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("family");
    let mut slow = stubborn_family(&file);
    slow.arguments[1] = format!("echo begun; {}", slow.arguments[1]);
    slow.timeout = Duration::from_millis(500);
    let started = Instant::now();
    let outcome = run(slow).await.unwrap();
    assert!(started.elapsed() < Duration::from_millis(500) + SOON);
    assert_eq!((outcome.exit_code, outcome.timed_out), (None, true));
    assert_eq!(text(&outcome.stdout), "begun\n");
    // How far the family came in this time depends on the machine.
    for pid in std::fs::read_to_string(&file).unwrap_or_default().lines() {
        assert!(dies(pid).await, "{pid} still runs");
    }
}

#[tokio::test]
async fn what_a_program_leaves_running_ends_with_it() {
    let mut leaving = script("sleep 60 & echo $!");
    leaving.environment = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
    let outcome = run(leaving).await.unwrap();
    assert_eq!(outcome.exit_code, Some(0));
    assert!(dies(text(&outcome.stdout).trim()).await);
}

#[tokio::test]
async fn a_run_that_is_already_aborted_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut touching = script("echo > started");
    touching.directory = Some(folder.path().to_path_buf());
    run(touching.clone()).await.unwrap();
    std::fs::remove_file(folder.path().join("started")).unwrap();

    let cancel = CancellationToken::new();
    cancel.cancel();
    assert!(matches!(runner().run(touching, &cancel).await, Err(ProgramError::Cancelled)));
    assert!(!folder.path().join("started").exists());
}

#[tokio::test]
async fn set_apart_by_a_session_a_program_runs_and_ends_the_same_way() {
    let Some(setsid) = ["/usr/bin/setsid", "/bin/setsid"].map(PathBuf::from).into_iter().find(|p| p.exists())
    else {
        return;
    };
    let programs = LocalPrograms::new().with_isolation(Isolation::Session(setsid));
    let mut asked = script("echo $COLOUR; cat");
    asked.environment = vec![("COLOUR".to_owned(), "blue".to_owned())];
    asked.stdin = b"sky".to_vec();
    let outcome = programs.run(asked, &CancellationToken::new()).await.unwrap();
    assert_eq!(text(&outcome.stdout), "blue\nsky");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("family");
    let cancel = CancellationToken::new();
    let running = tokio::spawn({
        let (request, cancel) = (stubborn_family(&file), cancel.clone());
        async move { programs.run(request, &cancel).await }
    });
    let pids = family(&file, 3).await;
    cancel.cancel();
    assert!(running.await.unwrap().is_err());
    for pid in pids {
        assert!(dies(&pid).await, "{pid} still runs");
    }
}
