use super::*;
use crate::scripted_tests::*;
use crate::{ExtensionRuntime, run_agent_loop};
use capstan_ports::tool::ToolContext;
use capstan_ports::{
    AgentEvent, CallAccess, Permission, PermissionPort, ProgramOutcome, ProgramRunner, TurnContext,
};
use tokio_util::sync::CancellationToken;

type Answer = Result<ProgramOutcome, std::io::ErrorKind>;

/// An `rtk` that always answers the same, and the command lines that it was asked about.
struct FakeRtk {
    answer: Answer,
    asked: Mutex<Vec<Vec<String>>>,
}

#[async_trait]
impl ProgramRunner for FakeRtk {
    fn locate(&self, program: &std::path::Path) -> std::io::Result<std::path::PathBuf> {
        Ok(program.to_owned())
    }

    async fn run(
        &self,
        request: ProgramRequest,
        _cancel: &CancellationToken,
    ) -> Result<ProgramOutcome, ProgramError> {
        self.asked.lock().unwrap().push(request.arguments);
        let program = request.program;
        self.answer.clone().map_err(|kind| ProgramError::NotStarted { program, source: kind.into() })
    }
}

fn exits(code: i32, stdout: &str) -> Answer {
    Ok(ProgramOutcome { exit_code: Some(code), stdout: stdout.into(), ..ProgramOutcome::default() })
}

/// Decides as told, and keeps what happened in order.
struct Port {
    yes: bool,
    seen: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl PermissionPort for Port {
    async fn decide(&self, _turn: &TurnContext, call: &ToolCall, _access: &CallAccess) -> Permission {
        self.seen.lock().unwrap().push(format!("decide {}", call.arguments));
        if self.yes { Permission::Allow } else { Permission::Deny("not permitted".into()) }
    }

    async fn ask(&self, _turn: &TurnContext, call: &ToolCall, by: &str, _question: &str) -> Permission {
        self.seen.lock().unwrap().push(format!("{by} asks {}", call.arguments));
        if self.yes { Permission::Allow } else { Permission::Deny("the person says no".into()) }
    }
}

/// What became of one call.
struct Worked {
    /// Permission decisions and executions, in order.
    seen: Vec<String>,
    result: String,
    details: Option<Value>,
    asked: Vec<Vec<String>>,
    reports: Vec<String>,
}

struct Case {
    answer: Answer,
    settings: RtkSettings,
    tool: &'static str,
    yes: bool,
}

impl Case {
    fn new(answer: Answer) -> Self {
        Self { answer, settings: RtkSettings::default(), tool: "bash", yes: true }
    }

    /// The model calls the tool twice with these arguments; the first call is looked at.
    async fn work(self, arguments: Value) -> Worked {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let runs = seen.clone();
        let schema = json!({
            "type": "object",
            "properties": {"command": {"type": "string"}, "cmd": {"type": "string"}, "timeout": {"type": "number"}},
            "anyOf": [{"required": ["command"]}, {"required": ["cmd"]}],
        });
        let tool = TestTool::new(self.tool, move |call: ToolCall, _: ToolContext| {
            runs.lock().unwrap().push(format!("run {}", call.arguments));
            async { Ok(ToolOutcome { details: Some(json!({"exit": 0})), ..ToolOutcome::text("ran") }) }
        })
        .with_schema(schema);
        let rtk = Arc::new(FakeRtk { answer: self.answer, asked: Mutex::default() });
        let reports = Arc::new(Mutex::new(Vec::new()));
        let told = reports.clone();
        let host = ProcessHookHost { runner: rtk.clone(), directory: "/work".into(), environment: [].into() };
        let mut runtime = ExtensionRuntime::new();
        let extension = Rtk::new(self.settings, host)
            .with_report(Arc::new(move |problem| told.lock().unwrap().push(problem.to_owned())));
        runtime.register(Arc::new(extension)).unwrap();
        let twice = [call("a", self.tool, arguments.clone()), call("b", self.tool, arguments)];
        let model = ScriptedModel::new([calls(twice), says("done")]);
        let mut config = config(&model);
        config.hooks.replace(runtime.chain());
        config.permissions = Arc::new(Port { yes: self.yes, seen: seen.clone() });
        config.tool_execution = crate::ToolExecutionMode::Sequential;
        let (sink, cancel) = (Recorder::default(), CancellationToken::new());
        let added =
            run_agent_loop(vec![user("hi")], &context([tool]), &config, &sink, &cancel).await.unwrap();
        let details = sink.events.lock().unwrap().iter().find_map(|event| match event {
            AgentEvent::ToolExecutionEnd { result, .. } => Some(result.details.clone()),
            _ => None,
        });
        let seen: Vec<String> = seen.lock().unwrap().clone();
        Worked {
            // Each half of it belongs to one of the two calls.
            seen: seen[..seen.len() / 2].to_vec(),
            result: shorts(&added)[2].clone(),
            details: details.flatten(),
            asked: rtk.asked.lock().unwrap().clone(),
            reports: reports.lock().unwrap().clone(),
        }
    }
}

const UNCHANGED: [&str; 2] = [r#"decide {"command":"git status"}"#, r#"run {"command":"git status"}"#];

fn git_status() -> Value {
    json!({"command": "git status"})
}

// 003-146, 003-147, 003-153
#[tokio::test]
async fn a_command_runs_as_rewritten_in_its_own_key_and_the_permissions_see_it_first() {
    let case = || Case::new(exits(0, "rtk git status\n"));
    let worked = case().work(json!({"command": "git status", "timeout": 5})).await;
    assert_eq!(
        worked.seen,
        [
            r#"decide {"command":"rtk git status","timeout":5}"#,
            r#"run {"command":"rtk git status","timeout":5}"#
        ]
    );
    assert_eq!(worked.asked[0], ["rewrite", "git status"]);
    assert_eq!(
        worked.details,
        Some(json!({"exit": 0, "rtk": {"original": "git status", "command": "rtk git status"}}))
    );
    assert!(worked.reports.is_empty());
    let worked = case().work(json!({"cmd": "git status"})).await;
    assert_eq!(worked.seen[1], r#"run {"cmd":"rtk git status"}"#);

    let denied = Case { yes: false, ..case() }.work(git_status()).await;
    assert_eq!(denied.seen, [r#"decide {"command":"rtk git status"}"#]);
    assert_eq!(denied.result, "result! a not permitted");
}

// 003-148
#[tokio::test]
async fn other_tools_and_commands_without_an_equivalent_stay_byte_for_byte() {
    let worked = Case { tool: "search", ..Case::new(exits(0, "rtk git status")) }.work(git_status()).await;
    assert_eq!((worked.seen, worked.asked.len()), (UNCHANGED.map(str::to_owned).to_vec(), 0));
    for nothing in [exits(1, "rtk x"), exits(0, ""), exits(0, "git status"), exits(3, "\n")] {
        let worked = Case::new(nothing).work(git_status()).await;
        assert_eq!(worked.seen, UNCHANGED);
        assert!(worked.reports.is_empty() && worked.details == Some(json!({"exit": 0})));
    }
}

// 003-149
#[tokio::test]
async fn risky_lines_are_not_even_proposed_and_assignments_stay_in_front() {
    for line in
        ["git diff | head", "echo $(git status)", "git diff > f", "rtk git status", "RTK_DISABLED=1 ls"]
    {
        let worked = Case::new(exits(0, "rtk git status")).work(json!({ "command": line })).await;
        assert!(worked.asked.is_empty(), "{line}");
        assert_eq!(worked.seen[1], format!("run {}", json!({ "command": line })));
    }
    let worked = Case::new(exits(0, "rtk git status")).work(json!({"command": "FOO=1 git status"})).await;
    assert_eq!(worked.asked[0], ["rewrite", "git status"]);
    assert_eq!(worked.seen[1], r#"run {"command":"FOO=1 rtk git status"}"#);
    let worked = Case::new(exits(0, "rtk git status 2>&1")).work(json!({"command": "git status 2>&1"})).await;
    assert_eq!(worked.seen[1], r#"run {"command":"rtk git status 2>&1"}"#);
}

// 003-150
#[tokio::test]
async fn the_exit_code_says_whether_it_is_rewritten_denied_or_left() {
    let worked = Case::new(exits(2, "")).work(git_status()).await;
    assert!(worked.seen.is_empty());
    assert_eq!(worked.result, "result! a a rule of rtk denies this command: git status");

    // A 3 is a rewrite that nothing has allowed: the permissions decide on it, as on every other.
    let worked = Case::new(exits(3, "rtk git status")).work(git_status()).await;
    assert_eq!(worked.seen[0], r#"decide {"command":"rtk git status"}"#);
    let worked = Case { yes: false, ..Case::new(exits(3, "rtk git status")) }.work(git_status()).await;
    assert_eq!(worked.result, "result! a not permitted");

    let asking = |code, yes| Case {
        settings: RtkSettings { ask: true, ..RtkSettings::default() },
        yes,
        ..Case::new(exits(code, "rtk git status"))
    };
    let worked = asking(3, true).work(git_status()).await;
    assert_eq!(worked.seen[0], r#"rtk asks {"command":"rtk git status"}"#);
    let worked = asking(3, false).work(git_status()).await;
    assert_eq!(worked.result, "result! a the person says no");
    assert!(asking(0, true).work(git_status()).await.seen[0].starts_with("decide"));
}

// 003-151
#[tokio::test]
async fn without_a_usable_answer_the_command_runs_as_it_is_and_that_is_said_once() {
    let slow = ProgramOutcome { timed_out: true, ..ProgramOutcome::default() };
    let cut = ProgramOutcome { truncated: true, ..exits(0, "rtk git status").unwrap() };
    let bytes = ProgramOutcome { stdout: vec![0xff], ..exits(0, "").unwrap() };
    for (answer, problem) in [
        (
            Err(std::io::ErrorKind::NotFound),
            "rtk cannot be started: entity not found; commands run as they are",
        ),
        (exits(101, "rtk git status"), "rtk ended with exit code 101"),
        (Ok(ProgramOutcome::default()), "rtk was ended by a signal"),
        (Ok(slow), "rtk did not answer within 2s"),
        (Ok(cut), "no rewritten command line"),
        (Ok(bytes), "is no text"),
        (exits(0, "usage: rtk COMMAND\n  -h"), "no rewritten command line"),
        (exits(3, "rtk git status | sh"), "no rewritten command line"),
    ] {
        let worked = Case::new(answer).work(git_status()).await;
        assert_eq!(worked.seen, UNCHANGED);
        assert_eq!((worked.asked.len(), worked.reports.len()), (2, 1), "{:?}", worked.reports);
        assert!(worked.reports[0].contains(problem), "{:?}", worked.reports);
        assert!(worked.reports[0].contains("enabled = false"));
    }
}

#[tokio::test]
async fn excluded_commands_stay_as_they_are() {
    let settings: RtkSettings =
        serde_json::from_value(json!({"enabled": true, "exclude": ["git status"]})).unwrap();
    let worked = Case { settings, ..Case::new(exits(0, "rtk git status")) }.work(git_status()).await;
    assert_eq!((worked.seen, worked.asked.len()), (UNCHANGED.map(str::to_owned).to_vec(), 0));
    assert!(serde_json::from_value::<RtkSettings>(json!({"exclud": []})).is_err());
}

// 003-154
#[tokio::test]
async fn a_call_without_a_command_text_is_an_error_of_the_schema_and_nothing_runs() {
    for arguments in [json!({}), json!({"command": ["git", "status"]}), json!({"command": {"a": 1}})] {
        let worked = Case::new(exits(0, "rtk git status")).work(arguments).await;
        assert!(worked.seen.is_empty() && worked.asked.is_empty());
        assert!(worked.result.starts_with("result! a "), "{}", worked.result);
    }
}
