//! The terminal: what models, tools, extensions and files write is shown and never acts; a flood ends; a reader may go away.

use anyhow::{Context, Result};
use capstan_policy::text::is_hidden;
use capstan_ports::ModelErrorKind;
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::guest::Guest;
use capstan_tests::product;
use capstan_tests::product::{Product, TIME_LIMIT};
use capstan_tests::terminal::{Key, Terminal};
use serde_json::json;
use std::process::Stdio;
use std::sync::Arc;

/// What the prompt looks like when it waits for a line.
const PROMPT: &str = "> ";
const QUESTION: &str = "[N]o: ";

/// Title, clearing, clipboard, link, bell, overwriting, backspace, C1 controls, direction, and what takes no room.
const HOSTILE: &str = "safe\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}]52;c;AAAA\u{7}\u{1b}]8;;http://x\u{1b}\\\rlie\u{8}\u{9b}2J\
                       \u{9d}0;x\u{9c}\u{202e}\u{2066}\u{200b}\u{feff}\u{e0041}end";

/// Fails if anything of it acted. The program's own sequences are styles, and those of line editing.
fn check_harmless(shown: &str) {
    let mut rest = shown;
    while let Some(at) = rest.find('\u{1b}') {
        rest = &rest[at + 1..];
        let end = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let (parameters, after) = rest.split_at(end);
        assert!(parameters.starts_with('['), "a sequence that is not the program's own: {rest:?}");
        let is_own = after.starts_with(['m', 'C', 'K', 'h', 'l', 'J'])
            && !(parameters == "[2" && after.starts_with('J'));
        assert!(is_own, "a sequence that is not the program's own: {rest:?}");
    }
    // Line editing goes to the beginning of its line and rings the bell at a wrong key; neither is followed by the text.
    for part in ["\rlie", "\u{7}\u{1b}", "lie\u{8}"] {
        assert!(!shown.contains(part), "{part:?} arrived: {shown:?}");
    }
    let acting = shown.chars().find(|c| is_hidden(*c) && !matches!(c, '\r' | '\u{1b}' | '\u{7}' | '\u{8}'));
    assert_eq!(acting, None, "{shown:?}");
}

async fn leave(mut terminal: Terminal) -> Result<()> {
    terminal.press(Key::End)?;
    assert_eq!(terminal.end().await?.0, 0);
    Ok(())
}

// O3
#[tokio::test]
async fn names_arguments_results_and_errors_arrive_escaped() -> Result<()> {
    let server = ScriptedServer::play([
        Answer::call(HOSTILE, json!({ HOSTILE: HOSTILE })),
        Answer::call("grumble", json!({})),
        Answer::call("bash", json!({ "command": format!("echo '{HOSTILE}'\n# [y]es once") }))
            .with_text(HOSTILE),
        Answer::text(HOSTILE).with_thinking(HOSTILE),
        Answer::error(ModelErrorKind::InvalidRequest, HOSTILE),
    ])
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    let (guest, body) = Guest::new("grumbler").answer(1, HOSTILE);
    product.install(&guest.tool("grumble", &body))?;
    let (gate, body) = Guest::new("curious").verdict(4, &format!("{HOSTILE}\n[y]es once"));
    product.install(&gate.gate(&["bash"], &body))?;
    let mut terminal = Terminal::start(&product, &["--permissions", "all"])?;
    terminal.wait_for(PROMPT).await?;
    terminal.type_line("go")?;
    let shown = terminal.wait_for(QUESTION).await?;
    check_harmless(&shown);
    assert!(shown.contains("\\u{1b}]0;owned\\u{7}"), "shown, escaped: {shown:?}");
    assert!(shown.contains("curious asks: safe\\u{1b}") && shown.contains("  | [y]es once"), "{shown:?}");
    terminal.type_line("y")?;
    check_harmless(&terminal.wait_for(PROMPT).await?);
    terminal.type_line("again")?;
    let failed = terminal.wait_for(PROMPT).await?;
    check_harmless(&failed);
    assert!(failed.contains("owned"), "{failed:?}");
    leave(terminal).await?;
    // Where it is data, it is whole.
    let results = Conversation::of(&server.requests()[3]).results();
    assert!(results.iter().any(|result| result.text.contains(HOSTILE)), "{results:?}");
    let session = std::fs::read_to_string(&product.session_files()?[0])?;
    assert!(session.lines().any(|line| {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        entry["message"]["content"][1]["text"] == HOSTILE || entry["message"]["content"][0]["text"] == HOSTILE
    }));
    Ok(())
}

// O3: JSON escapes what ends a string, and no more; on a terminal that is not enough.
#[tokio::test]
async fn json_lines_act_on_no_terminal_and_read_back_the_same() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text(HOSTILE))).await?;
    let product = product!()?.with_openai(&server.base_url());
    let arguments = ["--mode", "json", "-p", HOSTILE];
    let (code, shown) = Terminal::start(&product, &arguments)?.end().await?;
    assert_eq!(code, 0);
    assert!(
        shown.contains("\\u001b]0;owned\\u0007") && !shown.replace("\r\n", "").chars().any(is_hidden),
        "{shown:?}"
    );
    let finished = product.run(&arguments).await?.with_code(0);
    let last = finished.json_lines()?.pop().context("no line")?;
    let texts: Vec<_> =
        last["messages"].as_array().into_iter().flatten().map(|m| &m["content"][0]["text"]).collect();
    assert_eq!(texts, [HOSTILE, HOSTILE]);
    Ok(())
}

// O3: what extensions and the host log.
#[tokio::test]
async fn what_is_logged_arrives_escaped() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|n, _| match n {
        0 => Answer::call("bash", json!({"command": "true"})),
        _ => Answer::text("fine"),
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    // A process hook that fails with words of its own.
    let script = product.beside("hook.sh");
    std::fs::write(&script, format!("printf '%s' '{HOSTILE}' >&2; exit 1"))?;
    product
        .configure(&format!("[[hook]]\nevent = \"PostToolUse\"\ncommand = \"sh {}\"\n", script.display()))?;
    let (code, shown) =
        Terminal::start(&product, &["-vv", "-p", "go", "--permissions", "all"])?.end().await?;
    assert_eq!(code, 0);
    assert!(shown.contains("owned"), "the control: it was logged: {shown:?}");
    check_harmless(&shown);
    Ok(())
}

// O6
#[tokio::test]
async fn one_endless_line_and_a_million_empty_ones_do_not_hold_the_screen_up() -> Result<()> {
    let server = ScriptedServer::play([
        Answer::call("bash", json!({"command": "head -c 10485760 /dev/zero | tr '\\0' x"})),
        Answer::call("bash", json!({"command": "yes '' | head -n 1000000"})),
        Answer::call("bash", json!({"command": format!("# {}", "x".repeat(1 << 20))})),
        Answer::call("bash", json!({"command": "\n".repeat(100_000)})),
        Answer::text("y".repeat(4 << 20)).with_thinking("z".repeat(4 << 20)),
        Answer::text("short again"),
    ])
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    // The script has no summaries.
    product.configure("[compaction]\nenabled = false\n")?;
    let mut terminal = Terminal::start(&product, &["--permissions", "all"])?;
    terminal.wait_for(PROMPT).await?;
    terminal.type_line("go")?;
    let shown = terminal.wait_for(PROMPT).await?;
    assert!(shown.len() < 1 << 20, "{} bytes", shown.len());
    assert_eq!(shown.matches("[what follows is not shown; the session holds it]").count(), 2);
    terminal.type_line("again")?;
    terminal.wait_for("short again").await?;
    terminal.wait_for(PROMPT).await?;
    leave(terminal).await?;
    let answers = product.session()?.into_iter().rev();
    let text =
        answers.filter_map(|entry| entry["message"]["content"][1]["text"].as_str().map(str::len)).next();
    assert_eq!(text, Some(4 << 20), "the session holds all of it");
    Ok(())
}

// O6: what a person is asked about.
#[tokio::test]
async fn an_endless_question_is_still_a_question() -> Result<()> {
    let command = format!("touch done\n{}", "\n".repeat(200_000));
    let server =
        ScriptedServer::play([Answer::call("bash", json!({ "command": command })), Answer::text("well")])
            .await?;
    let product = product!()?.with_openai(&server.base_url());
    let mut terminal = Terminal::start(&product, &[])?;
    terminal.wait_for(PROMPT).await?;
    terminal.type_line("go")?;
    let shown = terminal.wait_for(QUESTION).await?;
    assert!(shown.contains("  | touch done") && shown.len() < 1 << 20, "{} bytes", shown.len());
    terminal.type_line("n")?;
    terminal.wait_for("well").await?;
    terminal.wait_for(PROMPT).await?;
    assert!(!product.workspace().join("done").exists());
    leave(terminal).await
}

/// A run whose output nobody reads, on one or both channels.
async fn unread(
    product: &Product,
    server: &ScriptedServer,
    arguments: &[&str],
    also_stderr: bool,
) -> Result<String> {
    let (reader, writer) = std::io::pipe()?;
    drop(reader);
    let mut running = tokio::process::Command::new(env!("CARGO_BIN_EXE_capstan-under-test"));
    running
        .args(arguments)
        .current_dir(product.workspace())
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .env("CAPSTAN_HOME", product.home())
        .env("HOME", product.user())
        .env("OPENAI_BASE_URL", server.base_url())
        .env("CAPSTAN_MODEL", "openai/test-model")
        .stdin(Stdio::piped())
        .stdout(writer.try_clone()?)
        .stderr(if also_stderr { Stdio::from(writer) } else { Stdio::piped() })
        .kill_on_drop(true);
    let mut child = running.spawn()?;
    let mut stdin = child.stdin.take().context("no stdin")?;
    tokio::io::AsyncWriteExt::write_all(&mut stdin, b"one\n/help\ntwo\n").await?;
    drop(stdin);
    let output = tokio::time::timeout(TIME_LIMIT, child.wait_with_output()).await??;
    assert_eq!(output.status.code(), Some(0), "{arguments:?} {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stderr).into_owned())
}

// O7
#[tokio::test]
async fn nobody_reading_costs_neither_the_session_nor_the_exit_code() -> Result<()> {
    let text = "word ".repeat(2_000);
    let answer = text.clone();
    let server = ScriptedServer::start(Arc::new(move |_, _| Answer::text(answer.clone()))).await?;
    let cases: [(&[&str], usize); 4] = [
        (&["-p", "go"], 1),
        (&["-vv", "-p", "go"], 1),
        (&["-vv", "--mode", "json", "-p", "go"], 1),
        // Without a terminal each line is a prompt.
        (&["-vv"], 2),
    ];
    for (arguments, turns) in cases {
        for also_stderr in [false, true] {
            let product = product!()?;
            // Something to log: a hook that fails.
            product.configure("[[hook]]\nevent = \"Stop\"\ncommand = \"echo broken >&2; exit 1\"\n")?;
            let told = unread(&product, &server, arguments, also_stderr).await?;
            assert!(!told.contains("panicked"), "{told}");
            assert!(also_stderr || told.contains("broken"), "the control: it is logged: {told}");
            let session = product.session()?;
            assert_eq!(session.len(), 1 + 2 * turns, "{arguments:?}");
            assert_eq!(session[2 * turns]["message"]["content"][0]["text"], json!(text));
        }
    }
    Ok(())
}
