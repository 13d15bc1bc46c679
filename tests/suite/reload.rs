//! Extensions that come, change and go while a session runs.

use anyhow::{Context, Result};
use capstan_engine::CallError;
use capstan_ports::hook::GateVerdict;
use capstan_ports::message::text_of;
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::bomb;
use capstan_tests::conversation::Conversation;
use capstan_tests::guest::{Guest, Request};
use capstan_tests::product;
use capstan_tests::product::Product;
use capstan_tests::sandboxed::{Place, call, hook_context, tool_context};
use capstan_tests::terminal::{Key, Terminal};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const PROMPT: &str = "> ";

/// An extension with a tool `greet` that says this.
fn greeter(id: &str, says: &str) -> Guest {
    let (guest, body) = Guest::new(id).text_result(says);
    guest.tool("greet", &body)
}

/// A gate for `bash` that asks for something, so that it has grants to lose. `text` makes its bytes unlike others.
fn guard(case: u8, text: &str) -> Guest {
    let (guest, body) = Guest::new("guard").verdict(case, text);
    guest.gate(&["bash"], &body).request(Request::KeyValue(1000))
}

/// A session at a terminal, and a server whose model calls this tool in every turn and then says `turn N over`.
struct Session {
    server: ScriptedServer,
    product: Product,
    terminal: Terminal,
    turns: usize,
}

impl Session {
    async fn start(tool: &'static str, prepare: impl AsyncFnOnce(&Product) -> Result<()>) -> Result<Self> {
        let server = ScriptedServer::start(Arc::new(move |n, _| match n % 2 {
            0 => {
                Answer::default().and_call_with_id(format!("call-{n}"), tool, json!({"command": "echo ran"}))
            }
            _ => Answer::text(format!("turn {} over", n / 2 + 1)),
        }))
        .await?;
        let product = product!()?.with_openai(&server.base_url());
        prepare(&product).await?;
        let mut terminal = Terminal::start(&product, &["--permissions", "all"])?;
        terminal.wait_for(PROMPT).await?;
        Ok(Self { server, product, terminal, turns: 0 })
    }

    /// Replaces or makes a file of the extension folder at once, as an installer does.
    fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let aside = self.product.home().join("aside");
        std::fs::write(&aside, bytes)?;
        Ok(std::fs::rename(aside, self.product.extensions().join(name))?)
    }

    fn remove(&self, name: &str) -> Result<()> {
        Ok(std::fs::remove_file(self.product.extensions().join(name))?)
    }

    /// Runs a command beside the session, as in another terminal.
    async fn beside(&self, arguments: &[&str]) -> Result<()> {
        self.product.run(arguments).await?.with_code(0);
        Ok(())
    }

    /// Runs a turn and answers what the tool said.
    async fn turn(&mut self) -> Result<String> {
        self.turns += 1;
        self.terminal.type_line("go")?;
        self.terminal.wait_for(&format!("turn {} over", self.turns)).await?;
        self.terminal.wait_for(PROMPT).await?;
        Conversation::of(&self.server.requests()[2 * self.turns - 1]).last_result()
    }

    /// The names of the tools in the last turn's first request, and its system prompt.
    fn offered(&self) -> (Vec<String>, String) {
        let requests = self.server.requests();
        let request = &requests[2 * self.turns - 2];
        let tools = Conversation::of(request).tools().iter().map(|(name, ..)| (*name).to_owned()).collect();
        (tools, request.body["messages"][0]["content"].to_string())
    }

    async fn says(&mut self, part: &str) -> Result<String> {
        self.terminal.wait_for(part).await
    }

    async fn leave(mut self) -> Result<String> {
        self.terminal.press(Key::End)?;
        let (code, last) = self.terminal.end().await?;
        assert_eq!(code, 0);
        Ok(last)
    }
}

// 001-125, H1
#[tokio::test]
async fn a_file_that_comes_changes_and_goes_is_followed_by_a_running_session() -> Result<()> {
    let mut session = Session::start("greet", async |_| Ok(())).await?;
    assert!(session.turn().await?.contains("greet"), "there is no such tool yet");
    session.put("greeter.wasm", &greeter("greeter", "hello").build()?)?;
    session.says("+ greeter 1.0.0: tools greet").await?;
    assert_eq!(session.turn().await?, "hello");
    let (tools, prompt) = session.offered();
    assert!(tools.contains(&"greet".to_owned()) && prompt.contains("greet"), "{tools:?} {prompt}");
    session.put("greeter.wasm", &greeter("greeter", "good day").build()?)?;
    session.says("~ greeter 1.0.0: tools greet").await?;
    assert_eq!(session.turn().await?, "good day");
    session.remove("greeter.wasm")?;
    session.says("- greeter 1.0.0: removed").await?;
    assert!(session.turn().await?.contains("greet"));
    let (tools, prompt) = session.offered();
    assert!(!tools.contains(&"greet".to_owned()) && !prompt.contains("greet"), "{tools:?} {prompt}");
    session.leave().await?;
    Ok(())
}

// H2, H10
#[tokio::test]
async fn a_broken_successor_changes_nothing_and_is_told_once() -> Result<()> {
    let mut session = Session::start("greet", async |product| {
        product.install(&greeter("greeter", "hello"))?;
        Ok(())
    })
    .await?;
    assert_eq!(session.turn().await?, "hello");
    let next = greeter("greeter", "good day").build()?;
    session.put("greeter.wasm", &next[..next.len() / 2])?;
    let told = session.says("stays in force").await?;
    assert!(told.contains("does not validate") && told.contains("greeter 1.0.0"), "{told}");
    assert_eq!(session.turn().await?, "hello");
    // Others come and go beside it, and it is not told again.
    session.put("other.wasm", &Guest::new("other").build()?)?;
    let told = session.says("+ other").await?;
    assert!(!told.contains("stays in force"), "{told}");
    session.put("greeter.wasm", &next)?;
    session.says("~ greeter").await?;
    assert_eq!(session.turn().await?, "good day");
    session.leave().await?;
    Ok(())
}

// H3
#[tokio::test]
async fn a_file_that_is_being_written_is_not_taken_for_a_broken_one() -> Result<()> {
    let mut session = Session::start("greet", async |_| Ok(())).await?;
    let bytes = greeter("greeter", "hello").build()?;
    let path = session.product.extensions().join("greeter.wasm");
    let quarter = bytes.len().div_ceil(4);
    for end in 1..=4 {
        std::fs::write(&path, &bytes[..bytes.len().min(end * quarter)])?;
        // Longer than it takes for a file to count as still, shorter than it takes to complain.
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
    let told = session.says("+ greeter").await?;
    assert!(!told.contains("greeter.wasm"), "no complaint before: {told}");
    assert_eq!(session.turn().await?, "hello");
    session.leave().await?;
    Ok(())
}

// T3, T4: grants are bound to bytes, and the gate does not open while the user has not answered.
#[tokio::test]
async fn a_gate_whose_new_bytes_wait_for_the_user_stays_closed_until_the_user_acts() -> Result<()> {
    let mut session = Session::start("bash", async |product| {
        product.install(&guard(0, "one"))?;
        product.run(&["ext", "allow", "guard"]).await?.with_code(0);
        Ok(())
    })
    .await?;
    let output = session.turn().await?;
    assert!(output.contains("ran"), "the gate lets it pass: {output}");
    session.put("guard.wasm", &guard(0, "two").build()?)?;
    session.says("- guard 1.0.0").await?;
    session.says("capstan ext allow guard").await?;
    let denied = session.turn().await?;
    assert!(denied.contains("capstan ext allow guard") && denied.contains("denied"), "{denied}");
    // Allowing it in another terminal opens it.
    session.beside(&["ext", "allow", "guard"]).await?;
    session.says("+ guard 1.0.0").await?;
    assert_eq!(session.turn().await?, output);
    // So does switching it off, and removing it.
    session.put("guard.wasm", &guard(0, "three").build()?)?;
    session.says("- guard 1.0.0").await?;
    session.says("capstan ext allow guard").await?;
    assert!(session.turn().await?.contains("denied"));
    session.beside(&["ext", "revoke", "guard"]).await?;
    session.says("- guard: what it guarded is open again").await?;
    assert_eq!(session.turn().await?, output);
    session.leave().await?;
    Ok(())
}

// T3
#[tokio::test]
async fn a_gate_that_waits_opens_when_its_file_is_removed() -> Result<()> {
    let mut session = Session::start("bash", async |product| {
        product.install(&guard(2, "no output"))?;
        product.run(&["ext", "allow", "guard"]).await?.with_code(0);
        Ok(())
    })
    .await?;
    let told = session.turn().await?;
    assert!(told.contains("no output"), "the control: {told}");
    session.put("guard.wasm", &guard(0, "now with more").request(Request::RewriteArguments).build()?)?;
    session.says("- guard 1.0.0").await?;
    assert!(session.turn().await?.contains("capstan ext allow guard"));
    session.remove("guard.wasm")?;
    session.says("open again").await?;
    let output = session.turn().await?;
    assert!(output.contains("ran"), "{output}");
    session.leave().await?;
    Ok(())
}

// T5
#[tokio::test]
async fn what_is_allowed_or_revoked_in_another_terminal_counts_in_this_one() -> Result<()> {
    let asking = greeter("greeter", "hello").request(Request::KeyValue(1000));
    let mut session = Session::start("greet", async |_| Ok(())).await?;
    session.put("greeter.wasm", &asking.build()?)?;
    session.says("off until you answer").await?;
    assert_ne!(session.turn().await?, "hello");
    session.beside(&["ext", "allow", "greeter"]).await?;
    session.says("+ greeter").await?;
    assert_eq!(session.turn().await?, "hello");
    session.beside(&["ext", "revoke", "greeter"]).await?;
    session.says("- greeter 1.0.0: switched off").await?;
    assert_ne!(session.turn().await?, "hello");
    session.leave().await?;
    Ok(())
}

#[tokio::test]
async fn configuration_reaches_an_extension_that_runs_and_a_mistake_in_it_changes_nothing() -> Result<()> {
    let mut session = Session::start("bash", async |product| {
        product.install_built("command-guard")?;
        // So that it is greeted with the others, and not compiled beside.
        product.run(&["ext", "list"]).await?.with_code(0);
        Ok(())
    })
    .await?;
    assert!(session.turn().await?.contains("ran"), "the control");
    let rule = |action: &str| {
        format!("[extension.command-guard]\n{action} = [{{ pattern = \"echo *\", reason = \"quiet\" }}]\n")
    };
    session.product.configure(&rule("block"))?;
    session.says("~ command-guard").await?;
    session.says("its grants, limits or configuration changed").await?;
    assert!(session.turn().await?.contains("quiet"));
    for mistake in ["[extension.command-guard\n".to_owned(), rule("blokc")] {
        session.product.configure(&mistake)?;
        session.says("stays in force").await?;
        assert!(session.turn().await?.contains("quiet"), "after {mistake}");
    }
    session.product.configure("")?;
    session.says("~ command-guard").await?;
    assert!(session.turn().await?.contains("ran"));
    session.leave().await?;
    Ok(())
}

// H5: a newcomer takes no name from what is in force.
#[tokio::test]
async fn a_newcomer_with_a_name_that_is_taken_is_refused_and_switches_nothing_off() -> Result<()> {
    let mut session = Session::start("greet", async |product| {
        product.install(&greeter("greeter", "hello"))?;
        Ok(())
    })
    .await?;
    session.put("same-id.wasm", &greeter("greeter", "I am the better one").build()?)?;
    session.says("cannot be told from").await?;
    assert_eq!(session.turn().await?, "hello");
    session.put("same-tool.wasm", &greeter("impostor", "so am I").build()?)?;
    session.says("cannot be told from").await?;
    assert_eq!(session.turn().await?, "hello");
    session.leave().await?;
    Ok(())
}

// A10: the prompt is there at once; a turn waits, because what is missing could be a gate.
#[tokio::test]
async fn what_takes_long_to_compile_does_not_hold_up_the_prompt() -> Result<()> {
    let mut session = Session::start("greet", async |product| {
        product.configure("compile_seconds = 6\n")?;
        product.install_bytes("bomb.wasm", &bomb::nested_loops(1_000, 10_000))?;
        product.install(&greeter("greeter", "hello"))?;
        Ok(())
    })
    .await?;
    session.terminal.type_line("go")?;
    session.says("waits for the extensions that are being compiled").await?;
    session.terminal.press(Key::Interrupt)?;
    session.says(PROMPT).await?;
    assert!(session.server.requests().is_empty(), "the turn never began");
    session.turns = 0;
    assert_eq!(session.turn().await?, "hello");
    session.leave().await?;
    Ok(())
}

fn count(folder: &Path) -> Result<usize> {
    Ok(std::fs::read_dir(folder)?.count())
}

/// Threads, open files and resident kilobytes of a process.
fn footprint(process: &Path) -> Result<(usize, usize, u64)> {
    let status = std::fs::read_to_string(process.join("status"))?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("it has memory")?;
    let resident = resident.split_whitespace().next().context("a number")?.parse()?;
    Ok((count(&process.join("task"))?, count(&process.join("fd"))?, resident))
}

// H4
#[tokio::test]
async fn a_session_does_not_grow_with_the_number_of_reloads() -> Result<()> {
    let mut session = Session::start("greet", async |_| Ok(())).await?;
    let process = Path::new("/proc").join(session.terminal.id()?.to_string());
    let mut before = None;
    for n in 0..40 {
        session.put("greeter.wasm", &greeter("greeter", &format!("hello {n}")).build()?)?;
        session.says(if n == 0 { "+ greeter" } else { "~ greeter" }).await?;
        if n == 15 {
            assert_eq!(session.turn().await?, "hello 15");
            before = Some(footprint(&process)?);
        }
    }
    let (threads, files, resident) = before.context("there were that many rounds")?;
    assert_eq!(session.turn().await?, "hello 39");
    let after = footprint(&process)?;
    // A compiler's pipes may still be closing.
    assert!(after.0 <= threads + 2 && after.1 <= files + 4, "{before:?} {after:?}");
    assert!(after.2 < resident + (32 << 10), "{before:?} {after:?}");
    session.leave().await?;
    Ok(())
}

// H4: the engine's share, many times.
#[tokio::test]
async fn extensions_that_were_replaced_leave_nothing_behind() -> Result<()> {
    let place = Place::new()?;
    let process = Path::new("/proc/self");
    let (guest, body) = Guest::new("guest").verdict(0, "");
    let guest = guest.gate(&[], &body);
    let bytes = guest.tool("greet", "unreachable").build()?;
    let mut before = None;
    for n in 0..200 {
        let inspected = place.inspect("guest.wasm", &bytes).await?;
        let extension = place.put_in_force(inspected, capstan_tests::sandboxed::Granted::Nothing)?;
        let hook = extension.hook().context("it has a hook")?;
        hook.before_tool_call(&hook_context(), &call("any", json!({}))).await?;
        if n == 100 {
            before = Some(footprint(process)?);
        }
    }
    let before = before.context("there were that many rounds")?;
    let after = footprint(process)?;
    assert!(after.2 < before.2 + (32 << 10), "{before:?} {after:?}");
    Ok(())
}

// 001-125, H1, H9: a call in progress ends, a later one through an old handle fails with a clear error.
#[tokio::test]
async fn a_retired_extension_ends_its_calls_and_takes_no_more() -> Result<()> {
    let place = Place::new()?;
    let (guest, body) = Guest::new("slow").text_result("done");
    // Counts long enough to be overtaken.
    let counting = format!(
        "(local $n i64) (loop $l (br_if $l (i64.lt_u
           (local.tee $n (i64.add (local.get $n) (i64.const 1))) (i64.const 1000000000)))) {body}"
    );
    let extension = place.load(&guest.tool("count", &counting)).await?;
    extension.prepare().await?;
    let tool = extension.tools().remove(0);
    let (context, arguments) = (tool_context(), call("count", json!({})));
    let running = tool.execute(&arguments, &context);
    tokio::pin!(running);
    // It has begun when it has been polled once.
    let early = futures::poll!(&mut running);
    assert!(early.is_pending(), "it counts for longer than one tick");
    extension.retire();
    assert_eq!(text_of(&running.await?.content), "done");
    let refused = tool.execute(&arguments, &context).await.expect_err("it was taken out of force");
    assert!(refused.to_string().contains("unloaded"), "{refused}");
    Ok(())
}

// H1: a gate that failed stays closed, whatever chain it is put into.
#[tokio::test]
async fn a_gate_that_closed_stays_closed_over_a_reload() -> Result<()> {
    let place = Place::new()?;
    // Traps at the first call of each instance, and would pass at none.
    let extension = place.load(&Guest::new("frail").gate(&[], "unreachable")).await?;
    let (context, any) = (hook_context(), call("any", json!({})));
    let hook = extension.hook().context("it has a hook")?;
    let first = hook.before_tool_call(&context, &any).await.expect_err("it trapped").to_string();
    assert!(Arc::ptr_eq(&hook, &extension.hook().context("still")?), "one object while anybody holds it");
    drop(hook);
    let again = extension.hook().context("still")?;
    let second = again.before_tool_call(&context, &any).await.expect_err("it is closed").to_string();
    assert_eq!(first, second, "it was not called again");
    // Another extension of the same bytes is another gate.
    let other = place.load(&Guest::new("frail").gate(&[], "unreachable")).await?;
    assert!(!other.is_same(&extension));
    let (passing, body) = Guest::new("sound").verdict(0, "");
    let sound = place.load(&passing.gate(&[], &body)).await?;
    let sound_hook = sound.hook().context("it has a hook")?;
    assert_eq!(sound_hook.before_tool_call(&context, &any).await?, GateVerdict::Pass, "the control");
    sound.retire();
    let denied = sound_hook.before_tool_call(&context, &any).await.expect_err("a retired gate denies");
    let cause = std::error::Error::source(&denied).and_then(|cause| cause.downcast_ref::<CallError>());
    assert!(matches!(cause, Some(CallError::Retired)), "{denied}");
    Ok(())
}
