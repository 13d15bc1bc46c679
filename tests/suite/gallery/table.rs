//! `extensions/table` in a session. Left out, with a line that says so, where there is no Python to build it.

use anyhow::Result;
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::product;
use serde_json::json;

const SALES: &str = "region,product,price\nnorth,apple,1.5\nsouth,fig,9\nnorth,pear,10\n";

// One test, because a Python takes many seconds to compile and every home has a store of its own.
#[tokio::test]
async fn the_model_asks_a_table_of_the_workspace_once_the_user_grants_reading() -> Result<()> {
    let sums = json!({ "file": "sales.csv", "group_by": ["region"], "aggregates": [{ "function": "sum", "column": "price" }] });
    let outside = json!({ "file": "../outside.csv" });
    let server = ScriptedServer::play([
        Answer::call("table_query", sums),
        Answer::call("table_query", outside),
        Answer::text("done"),
    ])
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    if !capstan_tests::python::is_installed() {
        eprintln!("left out: table is written in Python, and python3 with venv is not installed");
        return Ok(());
    }
    product.install_built("table")?;
    std::fs::write(product.workspace().join("sales.csv"), SALES)?;
    std::fs::write(product.beside("outside.csv"), SALES)?;

    product.run(&["ext", "allow", "table", "--yes"]).await?.with_code(0);
    product.run(&["-p", "which region sells most?", "--no-session"]).await?.with_code(0);
    let requests = server.requests();
    let [_, second, third] = requests.as_slice() else { anyhow::bail!("{} requests", requests.len()) };
    let answer = Conversation::of(second).last_result()?;
    assert!(answer.contains("| north | 11.5 |") && answer.contains("| south | 9 |"), "{answer}");
    let refused = Conversation::of(third).last_result()?;
    assert!(refused.contains("outside of the workspace"), "{refused}");
    Ok(())
}
