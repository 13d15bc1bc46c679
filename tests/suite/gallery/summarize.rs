//! `extensions/summarize` in sessions that grow long.

use anyhow::Result;
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::product;

/// The host would compact above 8,000 tokens; this extension does above 6,300.
const SMALL: &str = "[compaction]\nreserve_tokens = 2000\n\
                     [provider.openai.models.test-model]\ncontext_window = 10000\nmax_output_tokens = 1000\n\
                     [extension.summarize]\nturns = 1\ninstructions = \"the colours\"\n";

#[tokio::test]
async fn a_summary_is_made_before_the_host_would_and_cut_at_a_turn() -> Result<()> {
    let server = ScriptedServer::play(["one", "two", "in short: mend", "three"].map(Answer::text)).await?;
    let product = product!()?.with_openai(&server.base_url());
    product.configure(SMALL)?;
    product.install_built("summarize")?;
    product.run(&["ext", "allow", "summarize", "--yes"]).await?.with_code(0);
    product.run(&["-p", &format!("mend {}", "word ".repeat(2_000))]).await?.with_code(0);
    product.run(&["-p", &format!("second {}", "word ".repeat(2_000)), "--continue"]).await?.with_code(0);
    assert_eq!(server.requests().len(), 2, "there was room");
    product.run(&["-p", &format!("third {}", "word ".repeat(1_500)), "--continue"]).await?.with_code(0);
    let requests = server.requests();
    let asked = Conversation::of(&requests[2]).said();
    assert!(asked[0].contains("mend word") && asked[0].contains("second word"), "{asked:?}");
    assert!(
        asked[0].contains("Keep, in this order") && asked[0].contains("Above all: the colours"),
        "{asked:?}"
    );
    let said = Conversation::of(&requests[3]).said();
    assert!(
        said[0].contains("in short: mend") && said[1].starts_with("third word") && said.len() == 2,
        "{said:?}"
    );
    Ok(())
}

#[tokio::test]
async fn without_the_grant_the_host_goes_on_as_it_would() -> Result<()> {
    let server = ScriptedServer::play(["one", "two", "three"].map(Answer::text)).await?;
    let product = product!()?.with_openai(&server.base_url());
    product.configure(SMALL)?;
    product.install_built("summarize")?;
    product.run(&["-p", &format!("mend {}", "word ".repeat(2_000))]).await?.with_code(0);
    product.run(&["-p", &format!("second {}", "word ".repeat(2_000)), "--continue"]).await?.with_code(0);
    product.run(&["-p", &format!("third {}", "word ".repeat(1_500)), "--continue"]).await?.with_code(0);
    assert_eq!(Conversation::of(&server.requests()[2]).said().len(), 3, "nothing was summarized");
    Ok(())
}
