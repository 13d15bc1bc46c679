use super::*;
use crate::command::LocalCommands;
use crate::testing::{Reported, Scripted, context_with, good, run, run_in, text};
use crate::text::truncate::Truncation;
use crate::workspace::{InMemoryWorkspace, LocalWorkspace};
use tokio_util::sync::CancellationToken;

fn bash(commands: impl CommandRuntime + 'static) -> BashTool {
    BashTool::new(Arc::new(InMemoryWorkspace::new("/workspace")), Arc::new(commands))
}

async fn scripted(output: &str, end: CommandEnd) -> ToolOutcome {
    run(&bash(Scripted::new(output, end)), json!({"command": "x"})).await.unwrap()
}

// 001-090
#[tokio::test]
async fn every_end_of_a_command_shows_in_text_and_details() {
    let cases = [
        ("out\n", CommandEnd::Exited(0), "out\n", false),
        ("", CommandEnd::Exited(0), "(no output)", false),
        ("out\n", CommandEnd::Exited(3), "out\n\nCommand exited with code 3", true),
        ("", CommandEnd::Exited(1), "(no output)\n\nCommand exited with code 1", true),
        ("out\n", CommandEnd::Signalled(11), "out\n\nCommand was killed by signal 11", true),
        ("out", CommandEnd::Cancelled, "out\n\n(command cancelled)", true),
        ("", CommandEnd::Cancelled, "(command cancelled)", true),
        ("", CommandEnd::TimedOut(Duration::from_millis(1500)), "Command timed out after 1.5 seconds", true),
    ];
    for (output, end, expected, is_error) in cases {
        let outcome = scripted(output, end).await;
        assert_eq!((text(&outcome).as_str(), outcome.is_error), (expected, is_error));
        let details = outcome.details.unwrap();
        assert_eq!(details["cancelled"], end == CommandEnd::Cancelled);
        assert_eq!(details["timedOut"], matches!(end, CommandEnd::TimedOut(_)));
        assert_eq!(details["truncated"], false);
        assert_eq!(
            details["exitCode"].as_i64(),
            match end {
                CommandEnd::Exited(code) => Some(i64::from(code)),
                _ => None,
            }
        );
    }
}

// 001-090
#[tokio::test]
async fn truncation_and_the_full_output_show_in_text_and_details() {
    let mut commands = Scripted::new("tail\n", CommandEnd::Exited(0));
    let truncation = Truncation {
        truncated_by: TruncatedBy::Bytes,
        total_lines: 9,
        total_bytes: 99_999,
        output_lines: 1,
        output_bytes: 5,
        line_too_long: false,
    };
    commands.outcome.output.truncation = Some(truncation);
    commands.outcome.output.full_output = Some("/tmp/all.log".into());
    let outcome = run(&bash(commands), json!({"command": "x"})).await.unwrap();
    let expected = "tail\n\n[Showing lines 9-9 of 9 (50.0KB limit). Full output: /tmp/all.log]";
    assert_eq!(text(&outcome), expected);
    let details = outcome.details.unwrap();
    assert_eq!(details["fullOutputPath"], "/tmp/all.log");
    assert_eq!(details["truncation"]["totalBytes"], 99_999);
    assert_eq!(details["truncated"], true);
}

#[tokio::test]
async fn the_command_runs_in_the_workspace_with_the_timeout_that_was_asked_for() {
    let commands = Arc::new(Scripted::new("", CommandEnd::Exited(0)));
    let tool = BashTool::new(Arc::new(InMemoryWorkspace::new("/workspace")), commands.clone());
    good(&tool, json!({"command": "ls", "timeout": 2.5})).await;
    let asked = commands.asked.lock().unwrap()[0].clone();
    assert_eq!(asked.directory, std::path::Path::new("/workspace"));
    assert_eq!((asked.command.as_str(), asked.timeout), ("ls", Some(Duration::from_millis(2500))));
    for timeout in [json!(0), json!(-1), json!(1e300)] {
        let error = run(&tool, json!({"command": "ls", "timeout": timeout})).await.unwrap_err();
        assert!(matches!(error, ToolError::InvalidArguments(_)), "{error}");
    }
}

// 001-088 001-093 001-175
#[tokio::test]
async fn a_real_command_answers_with_its_output_and_its_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Arc::new(LocalWorkspace::open(folder.path()).unwrap());
    let tool = BashTool::new(workspace.clone(), Arc::new(LocalCommands::new()));
    let shown = good(&tool, json!({"command": "pwd; echo err >&2; echo out"})).await;
    assert_eq!(shown, format!("{}\nerr\nout\n", workspace.directory().display()));
    let outcome = run(&tool, json!({"command": "echo no; exit 7"})).await.unwrap();
    assert!(outcome.is_error);
    assert_eq!(text(&outcome), "no\n\nCommand exited with code 7");
}

// 001-088
#[tokio::test]
async fn an_aborted_command_keeps_its_output_and_says_that_it_was_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Arc::new(LocalWorkspace::open(folder.path()).unwrap());
    let tool = BashTool::new(workspace, Arc::new(LocalCommands::new()));
    let progress = Arc::new(Reported::default());
    let cancel = CancellationToken::new();
    let context = context_with(progress.clone(), cancel.clone());
    let running = run_in(&tool, json!({"command": "echo before; sleep 300"}), &context);
    let aborting = async {
        while progress.0.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(running, aborting);
    let outcome = outcome.unwrap();
    assert_eq!((text(&outcome).as_str(), outcome.is_error), ("before\n\n(command cancelled)", true));
    assert_eq!(*progress.0.lock().unwrap(), ["before\n"]);
}
