//! What a guest has besides files: no environment, no arguments, no network, coarse clocks, random numbers, two streams into
//! the log, and an end that is told in names.

use anyhow::Result;
use capstan_engine::{Sandbox, SandboxOptions};
use capstan_ports::extension::Capability;
use capstan_ports::tool::ToolError;
use capstan_tests::logged::Logged;
use capstan_tests::probe::{Probe, built_guest};
use capstan_tests::sandboxed::{Place, tool_context};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// A variable that every test process has.
const SET: &str = "PATH";

const MILLISECOND: u64 = 1_000_000;

fn variable(name: &str) -> Capability {
    Capability::Environment { name: name.to_owned() }
}

async fn probe(granted: &[Capability]) -> Result<Probe> {
    Probe::load(&Place::new()?, granted).await
}

// S1
#[tokio::test]
async fn a_guest_sees_the_variables_that_were_granted_and_no_others() -> Result<()> {
    let value = std::env::var(SET)?;
    assert!(std::env::vars().count() > 3, "there is something to hide");
    let environment = json!({ "try": "environment" });
    let granted = probe(&[variable(SET), variable("CAPSTAN_PROBE_IS_NOT_SET")]).await?;
    assert_eq!(granted.step(environment.clone()).await?, json!({ "ok": { SET: value } }));
    assert_eq!(probe(&[]).await?.step(environment).await?, json!({ "ok": {} }));
    Ok(())
}

#[tokio::test]
async fn names_that_no_variable_can_have_are_no_way_to_another() -> Result<()> {
    for name in ["", "=", "PATH=", "PA\0TH", "*", "path\0"] {
        let seen = probe(&[variable(name)]).await?.step(json!({ "try": "environment" })).await?;
        assert_eq!(seen, json!({ "ok": {} }), "{name:?}");
    }
    Ok(())
}

// S1
#[tokio::test]
async fn there_are_no_arguments_no_terminal_no_input_and_no_working_directory() -> Result<()> {
    let outcomes = probe(&[])
        .await?
        .steps(json!([
            { "try": "arguments" },
            { "try": "terminals" },
            { "try": "stdin" },
            { "try": "working-directory" },
        ]))
        .await?;
    let expected =
        [json!([]), json!([false, false, false]), json!(0), json!({ "initial": null, "standard": "/" })];
    assert_eq!(outcomes, expected.map(|value| json!({ "ok": value })));
    Ok(())
}

#[tokio::test]
async fn clocks_are_right_and_no_finer_than_a_millisecond() -> Result<()> {
    let probe = probe(&[]).await?;
    let clocks = probe.step(json!({ "try": "clocks" })).await?["ok"].clone();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_secs();
    let seconds = clocks["seconds"].as_u64().unwrap_or_default();
    assert!(seconds.abs_diff(now) < 60, "{clocks}");
    for fine in ["nanoseconds", "monotonic"] {
        assert_eq!(clocks[fine].as_u64().map(|now| now % MILLISECOND), Some(0), "{fine}: {clocks}");
    }
    for resolution in ["wallResolution", "monotonicResolution"] {
        assert_eq!(clocks[resolution], MILLISECOND);
    }
    let steps = probe.step(json!({ "try": "clock-steps" })).await?["ok"].clone();
    let steps: Vec<_> = steps.as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    assert_eq!(steps.len(), 5);
    assert!(steps.iter().all(|step| *step > 0 && step % MILLISECOND == 0), "{steps:?}");
    Ok(())
}

// S11, T2: the probe puts clocks, random numbers, environment and directories into its summary.
#[tokio::test]
async fn describe_answers_the_same_whenever_it_is_asked() -> Result<()> {
    let path = built_guest("probe")?;
    let mut summaries = BTreeSet::new();
    for _ in 0..2 {
        // Without a cache, so that it is really asked.
        let sandbox = Sandbox::new(&SandboxOptions::default())?;
        summaries.insert(sandbox.inspect(&path).await?.surface.descriptor.summary);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(summaries.len(), 1, "{summaries:?}");
    let summary = summaries.into_iter().next().unwrap_or_default();
    assert!(
        summary.contains("\"seconds\":0") && summary.contains("\"monotonic\":0"),
        "a frozen clock: {summary}"
    );
    assert!(summary.ends_with("{} []"), "no environment, no directories: {summary}");
    Ok(())
}

#[tokio::test]
async fn random_numbers_of_a_call_are_random() -> Result<()> {
    let probe = probe(&[]).await?;
    let mut seen = BTreeSet::new();
    for _ in 0..3 {
        let numbers = probe.step(json!({ "try": "random" })).await?["ok"].clone();
        seen.extend(numbers.as_array().into_iter().flatten().map(Value::to_string));
    }
    assert_eq!(seen.len(), 9, "three kinds, three times, all different: {seen:?}");
    Ok(())
}

// M15
#[tokio::test]
async fn random_bytes_in_bulk_are_refused_before_they_are_made() -> Result<()> {
    let probe = probe(&[]).await?;
    let bytes = |bytes: u64| json!({ "try": "random-bytes", "bytes": bytes });
    assert_eq!(probe.step(bytes(4_096)).await?, json!({ "ok": 4_096 }));
    let failure = probe.step(bytes(1 << 40)).await.expect_err("too many").to_string();
    assert!(failure.contains("limit 65536"), "{failure}");
    assert!(probe.step(bytes(1)).await.is_ok());
    Ok(())
}

// N13
#[tokio::test]
async fn sockets_and_names_are_out_of_reach() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    // The control: the way is open, for those who may go it.
    drop(TcpStream::connect(("127.0.0.1", port))?);
    listener.accept()?;
    listener.set_nonblocking(true)?;
    let outcomes = probe(&[])
        .await?
        .steps(json!([
            { "try": "connect", "ip": [127, 0, 0, 1], "port": port },
            { "try": "bind", "port": 0 },
            { "try": "resolve", "name": "localhost" },
            { "try": "resolve", "name": "127.0.0.1" },
        ]))
        .await?;
    for (outcome, expected) in outcomes.iter().zip([
        "create: access-denied",
        "create: access-denied",
        "resolve: permanent-resolver-failure",
        "resolve: permanent-resolver-failure",
    ]) {
        assert_eq!(outcome["error"], expected);
    }
    let came = listener.accept().map(|(_, from)| from);
    assert!(came.is_err_and(|reason| reason.kind() == std::io::ErrorKind::WouldBlock));
    Ok(())
}

// O1
#[tokio::test]
async fn what_a_guest_prints_goes_to_the_log_bounded_and_escaped() -> Result<()> {
    let logged = Logged::begin();
    let probe = probe(&[]).await?;
    let print = |to: &str, text: &str, bytes: usize| json!({ "try": "print", "to": to, "text": text, "bytes": bytes });
    let few = json!([print("stdout", "to out", 1), print("stderr", "to err", 1)]);
    assert!(probe.steps(few).await?.iter().all(|outcome| outcome.get("ok").is_some()));
    assert!(logged.with("to out").iter().any(|line| line.contains("stdout") && line.contains("probe")));
    assert!(logged.with("to err").iter().any(|line| line.contains("stderr")));

    // Much of it, with a title for the terminal and a red colour; the guest is not stopped for it.
    let much = "\u{1b}]0;title\u{7}\u{1b}[31m red \u{202e}".repeat(40);
    let outcome = probe.step(print("stdout", &much, 16 << 20)).await?;
    assert!(outcome["ok"].as_u64() >= Some(16 << 20), "{outcome}");
    let lines = logged.with("red");
    assert!(!lines.is_empty());
    // 64 KiB are kept; escaping makes a character longer, and the log's own quoting once more.
    assert!(lines.iter().map(String::len).sum::<usize>() < 1 << 20);
    assert!(lines.iter().all(|line| !line.contains(['\u{1b}', '\u{7}', '\u{202e}'])));
    Ok(())
}

// A17
#[tokio::test]
async fn a_panic_is_told_with_its_text_and_the_names_of_functions() -> Result<()> {
    let probe = probe(&[]).await?;
    let failure =
        probe.step(json!({ "try": "panic", "text": "oops", "bytes": 1 })).await.expect_err("it panics");
    let text = failure.to_string();
    for part in ["probe", "unreachable", "panic_with", "oops", "machine.rs"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for machinery in ["abort_internal", "rust_panic", "0x"] {
        assert!(!text.contains(machinery), "{machinery}: {text}");
    }
    assert!(probe.step(json!({ "try": "arguments" })).await.is_ok(), "the next call is unharmed");
    Ok(())
}

// A19
#[tokio::test]
async fn the_text_of_a_panic_is_bounded_and_escaped() -> Result<()> {
    let probe = probe(&[]).await?;
    let panic = json!({ "try": "panic", "text": "\u{1b}[2J\u{e0041}ä\r", "bytes": 1 << 20 });
    let text = probe.step(panic).await.expect_err("it panics").to_string();
    // 4 KiB of the guest's text, where an escaped character takes up to ten times its room.
    assert!((1_000..41_000).contains(&text.len()), "{}", text.len());
    assert!(!text.contains(['\u{1b}', '\u{e0041}', '\r']), "{text}");
    assert!(text.contains("\\u{1b}[2J"), "{text}");
    Ok(())
}

#[tokio::test]
async fn leaving_the_program_is_told_as_such() -> Result<()> {
    let probe = probe(&[]).await?;
    // WASI 0.2 knows success and failure, and no other code.
    for (code, status) in [(3, 1), (0, 0)] {
        let text = probe.step(json!({ "try": "exit", "code": code })).await.expect_err("it left").to_string();
        assert!(text.contains(&format!("exit with status {status}")), "{text}");
    }
    assert!(probe.step(json!({ "try": "arguments" })).await.is_ok());
    Ok(())
}

// O2
#[tokio::test]
async fn log_lines_over_the_limit_are_counted_and_dropped() -> Result<()> {
    let logged = Logged::begin();
    let probe = probe(&[]).await?;
    let long = "x".repeat(10_000);
    let flood = json!([
        { "try": "log", "text": "line-of-the-flood", "lines": 990 },
        { "try": "log", "text": format!("cut-here-{long}"), "lines": 1 },
        // Events are no way around the limit.
        { "try": "emit", "label": "flood", "data": "event-of-the-flood", "times": 50 },
        { "try": "log", "text": "line-of-the-flood", "lines": 2_000 },
    ]);
    assert!(probe.steps(flood.clone()).await?.iter().all(|outcome| outcome.get("ok").is_some()));
    assert_eq!(logged.with("line-of-the-flood").len(), 990);
    assert_eq!(logged.with("event-of-the-flood").len(), 9);
    assert!(logged.with("cut-here").iter().all(|line| line.len() < 4_300 && line.contains('…')));
    let dropped = logged.with("dropped");
    assert!(dropped.iter().any(|line| line.contains("dropped=2041")), "{dropped:?}");
    // The next call has lines again.
    probe.steps(flood).await?;
    assert_eq!(logged.with("line-of-the-flood").len(), 1_980);
    Ok(())
}

// O3
#[tokio::test]
async fn log_lines_are_escaped() -> Result<()> {
    let logged = Logged::begin();
    let hostile =
        "\u{1b}]52;c;aGk=\u{7} \u{1b}]8;;http://x\u{1b}\\ over\rwrite \u{202e}txt.exe \u{200b}\u{e0041}";
    probe(&[]).await?.step(json!({ "try": "log", "text": hostile, "lines": 1 })).await?;
    let lines = logged.with("txt.exe");
    assert_eq!(lines.len(), 1);
    assert!(!lines[0].chars().any(capstan_policy::text::is_hidden), "{}", lines[0]);
    Ok(())
}

// C8, X2: no epoch comes to a guest that waits in a host call.
#[tokio::test]
async fn a_guest_that_sleeps_is_ended_by_an_abort() -> Result<()> {
    let probe = probe(&[]).await?;
    assert!(probe.step(json!({ "try": "sleep", "millis": 5 })).await.is_ok());
    let context = tool_context();
    let cancel = context.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    });
    let began = Instant::now();
    let slept = probe.steps_in(json!([{ "try": "sleep", "millis": 3_600_000 }]), &context).await;
    assert!(matches!(slept, Err(ToolError::Aborted)), "{slept:?}");
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    assert!(probe.step(json!({ "try": "arguments" })).await.is_ok());
    Ok(())
}

#[tokio::test]
async fn an_extension_reads_its_own_configuration() -> Result<()> {
    assert_eq!(
        probe(&[]).await?.step(json!({ "try": "config" })).await?,
        json!({ "ok": { "greeting": "hello" } })
    );
    Ok(())
}
