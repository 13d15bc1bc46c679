use super::*;
use crate::scripted_tests::*;
use crate::{AgentLoopConfig, ExtensionRuntime, run_agent_loop};
use capstan_ports::{CallAccess, Permission, PermissionPort, ProgramOutcome, TurnContext};
use serde_json::json;

/// Answers for programs, and what they were asked.
#[derive(Default)]
struct Programs {
    answers: Mutex<Vec<(&'static str, ProgramOutcome)>>,
    requests: Mutex<Vec<ProgramRequest>>,
}

impl Programs {
    /// The program whose command line is `line` always ends like this.
    fn with(self, line: &'static str, code: i32, stdout: impl ToString, stderr: &str) -> Self {
        let (stdout, stderr) = (stdout.to_string().into_bytes(), stderr.into());
        let outcome = ProgramOutcome { exit_code: Some(code), stdout, stderr, ..ProgramOutcome::default() };
        self.answers.lock().unwrap().push((line, outcome));
        self
    }

    fn slow(self, line: &'static str) -> Self {
        let outcome = ProgramOutcome { timed_out: true, ..ProgramOutcome::default() };
        self.answers.lock().unwrap().push((line, outcome));
        self
    }

    /// What was asked, in order: the command line and the JSON.
    fn asked(&self) -> Vec<(String, Value)> {
        let requests = self.requests.lock().unwrap();
        requests
            .iter()
            .map(|asked| (asked.arguments[1].clone(), serde_json::from_slice(&asked.stdin).unwrap()))
            .collect()
    }
}

#[async_trait]
impl ProgramRunner for Programs {
    fn locate(&self, program: &std::path::Path) -> std::io::Result<std::path::PathBuf> {
        Ok(program.to_owned())
    }

    async fn run(
        &self,
        request: ProgramRequest,
        _cancel: &CancellationToken,
    ) -> Result<ProgramOutcome, ProgramError> {
        let line = request.arguments.last().cloned().unwrap_or_default();
        self.requests.lock().unwrap().push(request.clone());
        let answers = self.answers.lock().unwrap();
        let found = answers.iter().find(|(known, _)| *known == line).map(|(_, outcome)| outcome.clone());
        found.ok_or_else(|| ProgramError::NotStarted {
            program: request.program,
            source: std::io::ErrorKind::NotFound.into(),
        })
    }
}

fn settings(event: HookEvent, line: &str) -> ProcessHookSettings {
    let text = json!({"event": event.name(), "command": line});
    serde_json::from_value(text).unwrap()
}

fn host(programs: &Arc<Programs>) -> ProcessHookHost {
    ProcessHookHost {
        runner: programs.clone(),
        directory: "/work".into(),
        environment: [("PATH", "/bin"), ("LC_ALL", "C"), ("OPENAI_API_KEY", "canary"), ("EXTRA", "1")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
    }
}

fn process_hooks(programs: &Arc<Programs>, hooks: Vec<ProcessHookSettings>) -> ProcessHooks {
    ProcessHooks::new(hooks, &host(programs)).unwrap()
}

/// Runs one prompt with one call of `bash`, whose schema wants a text, and gives the transcript in short.
async fn work(programs: &Arc<Programs>, hooks: Vec<ProcessHookSettings>) -> Vec<String> {
    work_with(programs, hooks, |_| {}).await.0
}

async fn work_with(
    programs: &Arc<Programs>,
    hooks: Vec<ProcessHookSettings>,
    change: impl FnOnce(&mut AgentLoopConfig),
) -> (Vec<String>, Arc<ScriptedModel>) {
    let schema = json!({
        "type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"],
        "additionalProperties": false,
    });
    let mut bash = TestTool::echo().with_schema(schema);
    bash.definition.name = "bash".into();
    let model = ScriptedModel::new([calls([call("a", "bash", json!({"command": "ls"}))]), says("done")]);
    let mut config = config(&model);
    let mut runtime = ExtensionRuntime::new();
    runtime.register(Arc::new(process_hooks(programs, hooks))).unwrap();
    config.hooks.replace(runtime.chain());
    change(&mut config);
    let (context, cancel) = (context([bash]), CancellationToken::new());
    let added = run_agent_loop(vec![user("hi")], &context, &config, &Recorder::default(), &cancel).await;
    (added.map(|added| shorts(&added)).unwrap_or_else(|error| vec![format!("error: {error}")]), model)
}

const RAN: &str = r#"result a {"command":"ls"}"#;

fn updated(decision: &str) -> Value {
    json!({"hookSpecificOutput": {
        "permissionDecision": decision, "permissionDecisionReason": "sure?", "updatedInput": {"command": "ls -l"},
    }})
}

#[tokio::test]
async fn a_gate_reads_the_call_and_its_exit_code_or_json_decides() {
    let no =
        json!({"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "json"}});
    let programs = Arc::new(
        Programs::default()
            .with("pass", 0, "", "")
            .with("exit 2", 2, "", "by code\n")
            .with("json", 0, no, ""),
    );
    let pre = |line| vec![settings(HookEvent::PreToolUse, line)];
    assert_eq!(work(&programs, pre("pass")).await[2], RAN);
    assert_eq!(work(&programs, pre("exit 2")).await[2], "result! a by code");
    assert_eq!(work(&programs, pre("json")).await[2], "result! a json");

    let (line, asked) = programs.asked().remove(0);
    assert_eq!(line, "pass");
    assert_eq!(asked["tool_name"], "bash");
    assert_eq!(asked["tool_input"], json!({"command": "ls"}));
    assert_eq!(
        (asked["hook_event_name"].as_str(), asked["cwd"].as_str()),
        (Some("PreToolUse"), Some("/work"))
    );
    let request = programs.requests.lock().unwrap()[0].clone();
    assert_eq!((request.program, request.directory), ("/bin/sh".into(), Some("/work".into())));
}

// Design §6: a gate that fails stays closed, and says which one it was and what to do.
#[tokio::test]
async fn a_gate_that_fails_in_any_way_denies_unless_it_is_configured_otherwise() {
    let programs = Arc::new(
        Programs::default().with("code", 1, "", "oops").with("garbage", 0, "fine by me", "").slow("slow"),
    );
    for (line, problem) in [
        ("code", "it ended with exit code 1 (0 is an answer, 2 is a no): oops"),
        ("garbage", "it printed something else than a JSON object: fine by me"),
        ("slow", "it did not answer within 60s"),
        ("missing", "/bin/sh cannot be started: entity not found"),
    ] {
        let denied = work(&programs, vec![settings(HookEvent::PreToolUse, line)]).await;
        assert_eq!(
            denied[2],
            format!(
                "result! a hook PreToolUse `{line}` failed: {problem}; mend [[hook]] number 1 of config.toml, remove \
                 it, or give it on_failure = \"allow\""
            )
        );
        let lenient = ProcessHookSettings {
            on_failure: Some(OnFailure::Allow),
            ..settings(HookEvent::PreToolUse, line)
        };
        assert_eq!(work(&programs, vec![lenient]).await[2], RAN);
    }
}

/// Denies everything and keeps what it was asked.
#[derive(Default)]
struct Strict {
    decided: Mutex<Vec<Value>>,
    asked: Mutex<Vec<(Value, String)>>,
    yes: bool,
}

#[async_trait]
impl PermissionPort for Strict {
    async fn decide(&self, _turn: &TurnContext, call: &ToolCall, _access: &CallAccess) -> Permission {
        self.decided.lock().unwrap().push(call.arguments.clone());
        if self.yes { Permission::Allow } else { Permission::Deny("not permitted".into()) }
    }

    async fn ask(&self, _turn: &TurnContext, call: &ToolCall, _by: &str, question: &str) -> Permission {
        self.asked.lock().unwrap().push((call.arguments.clone(), question.to_owned()));
        if self.yes { Permission::Allow } else { Permission::Deny("the person says no".into()) }
    }
}

#[tokio::test]
async fn an_allow_never_passes_the_permissions_and_they_see_the_updated_input() {
    let programs = Arc::new(Programs::default().with("allow", 0, updated("allow"), ""));
    let hooks = || vec![settings(HookEvent::PreToolUse, "allow")];
    for yes in [true, false] {
        let strict = Arc::new(Strict { yes, ..Strict::default() });
        let port = strict.clone();
        let (seen, _) = work_with(&programs, hooks(), |config| config.permissions = port).await;
        let expected = if yes { r#"result a {"command":"ls -l"}"# } else { "result! a not permitted" };
        assert_eq!(seen[2], expected);
        assert_eq!(*strict.decided.lock().unwrap(), [json!({"command": "ls -l"})]);
        assert!(strict.asked.lock().unwrap().is_empty());
    }
}

#[tokio::test]
async fn an_ask_puts_the_updated_call_to_a_person() {
    let programs = Arc::new(Programs::default().with("ask", 0, updated("ask"), ""));
    for yes in [true, false] {
        let strict = Arc::new(Strict { yes, ..Strict::default() });
        let port = strict.clone();
        let hooks = vec![settings(HookEvent::PreToolUse, "ask")];
        let (seen, _) = work_with(&programs, hooks, |config| config.permissions = port).await;
        let expected = if yes { r#"result a {"command":"ls -l"}"# } else { "result! a the person says no" };
        assert_eq!(seen[2], expected);
        assert_eq!(*strict.asked.lock().unwrap(), [(json!({"command": "ls -l"}), "sure?".to_owned())]);
    }
}

#[tokio::test]
async fn an_updated_input_that_does_not_fit_is_refused() {
    let wrong = json!({"hookSpecificOutput": {"updatedInput": {"cmd": "ls"}}});
    let programs = Arc::new(Programs::default().with("wrong", 0, wrong, ""));
    let seen = work(&programs, vec![settings(HookEvent::PreToolUse, "wrong")]).await;
    assert!(
        seen[2].starts_with("result! a The arguments as the hook PreToolUse `wrong` rewrote them"),
        "{seen:?}"
    );
}

#[tokio::test]
async fn a_hook_that_ends_the_turn_is_obeyed() {
    let stop = json!({"continue": false, "stopReason": "enough"});
    let programs = Arc::new(Programs::default().with("stop", 0, stop, ""));
    assert_eq!(work(&programs, vec![settings(HookEvent::PreToolUse, "stop")]).await, ["error: enough"]);
    assert_eq!(work(&programs, vec![settings(HookEvent::UserPromptSubmit, "stop")]).await, ["error: enough"]);
    let seen = work(&programs, vec![settings(HookEvent::PostToolUse, "stop")]).await;
    assert_eq!(
        seen[2..],
        [format!("{RAN}[hook PostToolUse `stop`] enough")],
        "the turn ends after the batch"
    );
}

#[tokio::test]
async fn only_the_tools_that_match_are_asked_about_in_the_order_of_the_configuration() {
    let programs =
        Arc::new(Programs::default().with("z", 0, "", "").with("a", 0, "", "").with("w", 2, "", ""));
    let pre = |line, matcher: &str| ProcessHookSettings {
        matcher: Some(matcher.to_owned()),
        ..settings(HookEvent::PreToolUse, line)
    };
    let seen = work(&programs, vec![pre("z", "Bash"), pre("w", "Write|Edit"), pre("a", "^ba")]).await;
    assert_eq!(seen[2], RAN);
    let lines: Vec<_> = programs.asked().into_iter().map(|(line, _)| line).collect();
    assert_eq!(lines, ["z", "a"]);
}

#[tokio::test]
async fn after_a_call_that_worked_a_hook_can_add_to_the_result_and_its_failure_changes_nothing() {
    let block = json!({"decision": "block", "reason": "format it", "additionalContext": "see README"});
    let programs = Arc::new(Programs::default().with("block", 0, block, "").with("two", 2, "", "no good"));
    let post = |line| vec![settings(HookEvent::PostToolUse, line)];
    let name = |line| format!("[hook PostToolUse `{line}`]");
    let seen = work(&programs, post("block")).await;
    assert_eq!(seen[2], format!("{RAN}{0} format it{0} see README", name("block")));
    let asked = programs.asked().remove(0).1;
    assert_eq!(asked["tool_response"]["content"][0]["text"], r#"{"command":"ls"}"#);
    assert_eq!(asked["tool_input"], json!({"command": "ls"}));
    assert_eq!(work(&programs, post("two")).await[2], format!("{RAN}{} no good", name("two")));
    assert_eq!(work(&programs, post("missing")).await[2], RAN);
}

#[tokio::test]
async fn a_prompt_can_be_refused_or_get_context() {
    let context = json!({"hookSpecificOutput": {"additionalContext": "on branch main"}});
    let programs = Arc::new(
        Programs::default()
            .with("no", 2, "", "not this")
            .with("json", 0, context, "")
            .with("plain", 0, "it rains", ""),
    );
    let submit = |line| vec![settings(HookEvent::UserPromptSubmit, line)];
    assert_eq!(work(&programs, submit("no")).await, ["error: not this"]);
    assert_eq!(programs.asked()[0].1["prompt"], "hi");
    let (_, model) = work_with(&programs, submit("json"), |_| {}).await;
    assert_eq!(model.sent()[0], ["user hi[hook UserPromptSubmit `json`] on branch main"]);
    let (_, model) = work_with(&programs, submit("plain"), |_| {}).await;
    assert_eq!(model.sent()[0], ["user hi[hook UserPromptSubmit `plain`] it rains"]);
    let (_, model) = work_with(&programs, submit("missing"), |_| {}).await;
    assert_eq!(model.sent()[0], ["user hi"]);
}

#[tokio::test]
async fn session_hooks_hear_of_start_and_end_and_a_start_can_tell_the_model_something() {
    let programs = Arc::new(
        Programs::default().with("start", 0, "use tabs", "").with("end", 0, "", "").with("stop", 0, "", ""),
    );
    let start = |matcher: &str| ProcessHookSettings {
        matcher: Some(matcher.to_owned()),
        ..settings(HookEvent::SessionStart, "start")
    };
    let mut runtime = ExtensionRuntime::new();
    let hooks = vec![
        start("startup"),
        start("resume"),
        settings(HookEvent::SessionEnd, "end"),
        settings(HookEvent::Stop, "stop"),
    ];
    runtime.register(Arc::new(process_hooks(&programs, hooks))).unwrap();
    let model = ScriptedModel::new([says("one"), says("two")]);
    let opened = runtime.open(config(&model), MemoryLog::new(), Vec::new()).await.unwrap();
    opened.session.prompt_text("hi").await.unwrap();
    opened.session.prompt_text("more").await.unwrap();
    opened.session.tell(SessionLifecycle::End).await;
    assert_eq!(model.sent()[0], ["user hi[hook SessionStart `start`] use tabs"]);
    assert_eq!(model.sent()[1][2], "user more");
    let asked = programs.asked();
    let lines: Vec<_> = asked.iter().map(|(line, _)| line.as_str()).collect();
    assert_eq!(lines, ["start", "stop", "stop", "end"]);
    assert_eq!(asked[0].1["source"], "startup");
    assert_eq!(asked[1].1["last_assistant_message"], "one");
    assert_eq!((&asked[3].1["reason"], &asked[3].1["session_id"]), (&json!("other"), &json!("s1")));
}

// S2
#[tokio::test]
async fn a_program_gets_what_it_needs_of_the_environment_and_what_is_named() {
    let programs = Arc::new(Programs::default().with("pass", 0, "", ""));
    let mut named = settings(HookEvent::PreToolUse, "pass");
    work(&programs, vec![named.clone()]).await;
    named.env = vec!["EXTRA".into()];
    work(&programs, vec![named]).await;
    let environment = |at: usize| {
        let requests = programs.requests.lock().unwrap();
        requests[at].environment.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
    };
    assert_eq!(environment(0), ["LC_ALL=C", "PATH=/bin", "CLAUDE_PROJECT_DIR=/work"]);
    assert_eq!(environment(1), ["EXTRA=1", "LC_ALL=C", "PATH=/bin", "CLAUDE_PROJECT_DIR=/work"]);
}

#[tokio::test]
async fn a_program_is_started_without_a_shell() {
    let programs = Arc::new(Programs::default().with("$HOME; x", 0, "", ""));
    let direct: ProcessHookSettings = serde_json::from_value(json!({
        "event": "PreToolUse", "program": "guard", "args": ["--strict", "$HOME; x"], "timeout_seconds": 2, "name": "guard",
    }))
    .unwrap();
    assert_eq!(work(&programs, vec![direct]).await[2], RAN);
    let request = programs.requests.lock().unwrap()[0].clone();
    assert_eq!((request.program, request.timeout), ("guard".into(), Duration::from_secs(2)));
    assert_eq!(request.arguments, ["--strict", "$HOME; x"]);
}

// 001-124: an event that does not exist is refused, and so is every entry that would not do what it says.
#[test]
fn an_entry_that_cannot_be_a_hook_is_refused_with_its_number() {
    let parsed = |value| serde_json::from_value::<ProcessHookSettings>(value);
    assert!(parsed(json!({"event": "PreToolUse", "command": "x"})).is_ok());
    let error = parsed(json!({"event": "BeforeLunch", "command": "x"})).unwrap_err().to_string();
    assert!(error.contains("BeforeLunch") && error.contains("PreToolUse"), "{error}");
    assert!(parsed(json!({"event": "PreToolUse", "command": "x", "timeout": 5})).is_err());

    let programs = Arc::new(Programs::default());
    for (wrong, problem) in [
        (json!({"event": "Stop"}), "needs either"),
        (json!({"event": "Stop", "command": " "}), "needs either"),
        (json!({"event": "Stop", "command": "x", "program": "y"}), "needs either"),
        (json!({"event": "Stop", "command": "x", "args": ["y"]}), "`args` belong to `program`"),
        (json!({"event": "PreToolUse", "command": "x", "matcher": "(x"}), "neither a list of names"),
        (json!({"event": "Stop", "command": "x", "matcher": "bash"}), "Stop has nothing"),
        (json!({"event": "PostToolUse", "command": "x", "on_failure": "deny"}), "is for PreToolUse"),
    ] {
        let good = settings(HookEvent::PreToolUse, "x");
        let error = ProcessHooks::new(vec![good, parsed(wrong).unwrap()], &host(&programs)).err().unwrap();
        let text = error.to_string();
        assert!(text.contains("number 2") && text.contains(problem), "{text}");
    }
}
