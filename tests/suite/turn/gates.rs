//! Gates in the whole product: what they block is not done, what they do to themselves costs only themselves.

use anyhow::Result;
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::guest::Guest;
use capstan_tests::product;
use capstan_tests::product::SOON;
use serde_json::json;
use std::sync::Arc;

const MARK: &str = "touch marker";
const SPIN: &str = "(loop $l (br $l)) unreachable";

/// A gate over `bash` that always answers this verdict (2 block, 4 ask).
fn gate(id: &str, case: u8, text: &str) -> Guest {
    let (guest, body) = Guest::new(id).verdict(case, text);
    guest.gate(&["bash"], &body)
}

// 000-131, 001-115, 001-177
#[tokio::test]
async fn a_blocked_command_is_not_run_and_the_model_reads_why() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|n, _| match n % 2 {
        0 => Answer::call("bash", json!({"command": MARK})),
        _ => Answer::text("done"),
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    let marker = product.workspace().join("marker");
    product.install(&gate("warden", 2, "not on a Sunday"))?;
    product.run(&["-p", "go", "--permissions", "all"]).await?.with_code(0);
    let reason = Conversation::of(&server.requests()[1]).last_result()?;
    assert!(reason.contains("not on a Sunday"), "{reason}");
    assert!(!marker.exists());

    // The control: without the gate the same call does what it says.
    product.run(&["-p", "go", "--permissions", "all", "--no-extensions"]).await?.with_code(0);
    assert!(marker.exists());
    Ok(())
}

// Design §6: a gate can only tighten. Asking with nobody there is a denial.
#[tokio::test]
async fn a_question_of_a_gate_with_nobody_there_is_a_denial() -> Result<()> {
    let server =
        ScriptedServer::play([Answer::call("bash", json!({"command": MARK})), Answer::text("done")]).await?;
    let product = product!()?.with_openai(&server.base_url());
    product.install(&gate("curious", 4, "really touch it?"))?;
    product.run(&["-p", "go", "--permissions", "all"]).await?.with_code(0);
    let reason = Conversation::of(&server.requests()[1]).last_result()?;
    assert!(reason.contains("curious") && reason.contains("really touch it?"), "{reason}");
    assert!(!product.workspace().join("marker").exists());
    Ok(())
}

// T7: passing is not granting; the permission mode still decides.
#[tokio::test]
async fn a_gate_that_passes_a_command_allows_nothing() -> Result<()> {
    let server =
        ScriptedServer::play([Answer::call("bash", json!({"command": MARK})), Answer::text("done")]).await?;
    let product = product!()?.with_openai(&server.base_url());
    product.install(&gate("lax", 0, ""))?;
    product.run(&["-p", "go"]).await?.with_code(0);
    assert!(Conversation::of(&server.requests()[1]).last_result()?.contains("--permissions all"));
    assert!(!product.workspace().join("marker").exists());
    Ok(())
}

// C1, 000-134, 001-126: denied within the deadline, stays closed, and everything else goes on.
#[tokio::test]
async fn a_gate_that_never_answers_denies_in_time_and_the_run_goes_on() -> Result<()> {
    let server = ScriptedServer::play([
        Answer::call("bash", json!({"command": MARK})),
        Answer::default().and_call_with_id("again", "bash", json!({"command": MARK})).and_call_with_id(
            "read",
            "read",
            json!({"path": "note"}),
        ),
        Answer::text("done"),
    ])
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    std::fs::write(product.workspace().join("note"), "still here")?;
    product.install(&Guest::new("spinner").gate(&["bash"], SPIN))?;
    let finished = product.run(&["-p", "go", "--permissions", "all"]).await?.with_code(0);
    assert_eq!(finished.stdout, "done\n");
    // The advice is the command that works: see the suite of `capstan ext`.
    assert!(finished.stderr.contains("capstan ext revoke spinner"), "{}", finished.stderr);
    assert!(!product.workspace().join("marker").exists());

    let requests = server.requests();
    let denied = Conversation::of(&requests[1]).last_result()?;
    assert!(denied.contains("spinner") && denied.contains("did not answer within"), "{denied}");
    let between = requests[1].received - requests[0].answered.unwrap_or(requests[0].received);
    assert!(between < SOON, "the deadline is 500 ms, this took {between:?}");
    let results = Conversation::of(&requests[2]).results();
    assert!(results[1].text.contains("spinner"), "it stays closed: {:?}", results[1]);
    assert_eq!(results[2].text, "still here", "what it does not guard works");
    Ok(())
}

// 000-134
#[tokio::test]
async fn a_gate_that_traps_denies() -> Result<()> {
    let server =
        ScriptedServer::play([Answer::call("bash", json!({"command": MARK})), Answer::text("done")]).await?;
    let product = product!()?.with_openai(&server.base_url());
    product.install(&Guest::new("broken").gate(&["bash"], "unreachable"))?;
    product.run(&["-p", "go", "--permissions", "all"]).await?.with_code(0);
    let denied = Conversation::of(&server.requests()[1]).last_result()?;
    assert!(denied.contains("broken"), "{denied}");
    assert!(!product.workspace().join("marker").exists());
    Ok(())
}

// The real extension. The commands are harmless should they run: there is no repository, no remote and no such path.
#[tokio::test]
async fn command_guard_blocks_what_destroys_and_lets_the_rest_run() -> Result<()> {
    let server = ScriptedServer::play([
        Answer::default()
            .and_call_with_id("push", "bash", json!({"command": "git push --force origin main"}))
            .and_call_with_id(
                "hidden",
                "bash",
                json!({"command": "true && sh -c 'git push -f nowhere main'"}),
            )
            .and_call_with_id("fine", "bash", json!({"command": "echo fine > marker"})),
        Answer::text("done"),
    ])
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    product.install_built("command-guard")?;
    let finished = product.run(&["-p", "go", "--permissions", "all"]).await?.with_code(0);
    assert_eq!(finished.warnings(), [""; 0], "it asks for nothing, so it is in force at once");
    let requests = server.requests();
    let results = Conversation::of(&requests[1]).results();
    for result in &results[..2] {
        assert!(result.text.contains("command-guard blocked this"), "{result:?}");
        assert!(!result.text.contains("exited with code"), "it must not have run: {result:?}");
    }
    assert!(!results[2].text.contains("command-guard"), "{:?}", results[2]);
    assert_eq!(std::fs::read_to_string(product.workspace().join("marker"))?, "fine\n");
    Ok(())
}
