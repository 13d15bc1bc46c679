use super::*;
use capstan_ports::ModelErrorKind;
use std::path::Path;

/// The first Python 3 on the way to programs.
fn python() -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("python3")).find(|program| program.is_file())
}

// 001-142: driven from a Python script, as a client of pi drives pi.
#[tokio::test]
async fn every_command_is_driven_from_a_python_script() -> Result<()> {
    let Some(python) = python() else {
        println!("skipped: there is no python3 here");
        return Ok(());
    };
    let server = ScriptedServer::start(Arc::new(|_, request| {
        let last = request.body["messages"].as_array().and_then(|all| all.last());
        let of_user = last.is_some_and(|last| last["role"] == "user");
        match Conversation::of(request).said().last().map(String::as_str) {
            Some("use the tool") if of_user => Answer::call("bash", json!({"command": "echo from the tool"})),
            Some("fail") => Answer::error(ModelErrorKind::RateLimited, "slow down"),
            _ => echo(request),
        }
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    product.configure(&format!(
        "model = \"openai/test-model\"\n[provider.other]\napi = \"openai-completions\"\nbase_url = {:?}\n\
         [provider.other.models.second]\n",
        server.base_url()
    ))?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("rpc/drive.py");
    // Isolated: nothing of the machine's own Python settings counts.
    let script = script.to_string_lossy();
    let finished = product.run_driver(&python, &["-I", "-B", &script]).await?.with_code(0);
    assert_eq!(finished.stdout.lines().count(), 8, "{}", finished.stdout);
    // Retries are told on stderr as well.
    assert!(finished.stderr.lines().all(|line| line.contains("did not answer")), "{}", finished.stderr);
    Ok(())
}
