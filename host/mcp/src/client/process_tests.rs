use super::*;
use std::collections::BTreeMap;
use std::str::FromStr;
use tokio::io::AsyncWriteExt;

fn shell(script: &str) -> Program {
    Program {
        command: "sh".to_owned(),
        args: vec!["-c".to_owned(), script.to_owned()],
        env: BTreeMap::from([("NAMED".to_owned(), "yes".to_owned())]),
        pass_env: Vec::new(),
        cwd: None,
    }
}

fn start(program: &Program) -> Result<(Process, Pipes), String> {
    Process::start(&ServerName::from_str("s").unwrap(), program, Path::new("/"))
}

/// Whether a process of this id is there, be it as a zombie.
fn is_there(id: &str) -> bool {
    Path::new("/proc").join(id).exists()
}

async fn line(pipes: &mut Pipes) -> String {
    let mut text = String::new();
    while !text.ends_with('\n') {
        let byte = pipes.stdout.read_u8().await.unwrap();
        text.push(byte as char);
    }
    text.trim().to_owned()
}

#[tokio::test]
async fn a_server_sees_no_variable_that_was_not_named() {
    let (process, mut pipes) = start(&shell("env; echo end")).unwrap();
    let mut names = Vec::new();
    loop {
        let line = line(&mut pipes).await;
        if line == "end" {
            break;
        }
        names.extend(line.split_once('=').map(|(name, _)| name.to_owned()));
    }
    process.end().await;
    assert!(names.contains(&"NAMED".to_owned()) && names.contains(&"PATH".to_owned()), "{names:?}");
    // Those that the shell sets itself.
    let expected = |name: &String| {
        PASSED_ON.contains(&name.as_str())
            || ["NAMED", "PWD", "OLDPWD", "SHLVL", "_"].contains(&name.as_str())
    };
    assert!(names.iter().all(expected), "{names:?}");
    assert!(
        std::env::var_os("CARGO_MANIFEST_DIR").is_some(),
        "there was a variable that could have been seen"
    );
}

#[tokio::test]
async fn a_variable_that_is_to_be_passed_on_must_be_set() {
    let mut program = shell("true");
    program.pass_env = vec!["CAPSTAN_NEVER_SET".to_owned()];
    assert!(start(&program).err().unwrap().contains("CAPSTAN_NEVER_SET"));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let program = Program { command: "no-such-server".to_owned(), ..shell("") };
    assert!(start(&program).err().unwrap().contains("`no-such-server` was not found"));
    let program = Program { cwd: Some("/no/such/place".into()), ..shell("") };
    assert!(start(&program).err().unwrap().contains("/no/such/place"));
}

// 003-142
#[tokio::test]
async fn the_end_takes_the_whole_group_also_where_nobody_listens() {
    let script = "trap '' TERM; sleep 1000 & echo $!; echo $$; while :; do sleep 1000; done";
    let (process, mut pipes) = start(&shell(script)).unwrap();
    let (grandchild, child) = (line(&mut pipes).await, line(&mut pipes).await);
    assert!(is_there(&grandchild) && is_there(&child));
    drop(pipes);
    let status = process.end().await.unwrap();
    assert!(!status.success());
    assert!(!is_there(&child), "reaped");
    // The grandchild is killed, too, which takes it a moment; who reaps it is the system's business.
    let is_alive = || {
        let state = std::fs::read_to_string(format!("/proc/{grandchild}/stat")).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z")
    };
    let began = std::time::Instant::now();
    while is_alive() {
        assert!(began.elapsed() < Duration::from_secs(30), "it goes on");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn one_that_heeds_its_closed_input_ends_with_its_own_status() {
    let (process, pipes) = start(&shell("cat > /dev/null; exit 3")).unwrap();
    drop(pipes);
    assert_eq!(process.end().await.unwrap().code(), Some(3));
}

#[tokio::test]
async fn the_end_of_stderr_is_kept_and_no_more() {
    let script = "i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done; echo done; cat";
    let (mut process, mut pipes) = start(&shell(script)).unwrap();
    line(&mut pipes).await;
    pipes.stdin.write_all(b"x").await.unwrap();
    drop(pipes);
    assert!(process.ended(Duration::from_secs(30)).await.is_some());
    let tail = process.stderr.clone();
    while !tail.text().ends_with("line 2999") {
        tokio::task::yield_now().await;
    }
    assert_eq!(tail.text().lines().count(), SHOWN_LINES);
    assert!(tail.0.lock().unwrap().len() <= MAX_STDERR_BYTES);
}
