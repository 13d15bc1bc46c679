//! Texts that are no plan, and parsers that go wrong: said, ended with 1, and nothing lost.

use super::{entries, of_type, playing};
use crate::roles::bad_guests;
use anyhow::Result;
use capstan_provider::Answer;

// 004-102, 004-105
#[tokio::test]
async fn what_is_no_plan_is_said_and_stays_in_the_session() -> Result<()> {
    let many = vec![r#"{"description":"again"}"#; 10_000].join(",");
    for (text, said) in [
        ("I would rather not.".to_owned(), "there is no JSON object"),
        (r#"{"steps": 7}"#.to_owned(), "invalid type"),
        (r#"{"steps": []}"#.to_owned(), "it has no steps"),
        (format!(r#"{{"steps":[{many}]}}"#), "more than 1000 steps"),
    ] {
        let (server, product) = playing([Answer::text(&text)]).await?;
        let finished = product.run(&["plan", "tidy up", "--yes"]).await?.with_code(1);
        assert!(finished.stderr.contains(said), "{said}: {}", finished.stderr);
        assert!(finished.stderr.contains("capstan session show"), "{}", finished.stderr);
        assert_eq!((finished.stdout.as_str(), server.requests().len()), ("", 1));
        let shown = product.run(&["session", "show", "--full"]).await?.with_code(0).stdout;
        assert!(shown.contains(&text[..12]), "{shown}");
        assert!(entries(&product)?.is_empty());
        let none = product.run(&["plan", "--continue", "--yes"]).await?.with_code(1);
        assert!(none.stderr.contains("has no plan"), "{}", none.stderr);
    }
    Ok(())
}

#[tokio::test]
async fn a_parser_that_traps_loops_or_grows_is_an_error_that_names_it() -> Result<()> {
    for (said, guest) in bad_guests(|guest, body| guest.plan_parser("bad", body)) {
        let name = format!("{}/bad", guest.id);
        let (server, product) = playing([Answer::text("- look"), Answer::text("still here")]).await?;
        product.install(&guest)?;
        let finished = product
            .run(&["plan", "tidy up", "--yes", "--mode", "json", "--parser", &name])
            .await?
            .with_code(1);
        assert!(finished.stderr.contains(said) && finished.stderr.contains(&name), "{}", finished.stderr);
        let lines = finished.json_lines()?;
        assert_eq!(of_type(&lines, "plan_end")[0]["outcome"], "no-plan");
        // The conversation goes on.
        let on = product.run(&["--continue", "-p", "are you there?"]).await?.with_code(0);
        assert_eq!((on.stdout.as_str(), server.requests().len()), ("still here\n", 2));
    }
    Ok(())
}

#[tokio::test]
async fn a_plan_needs_a_goal_or_a_session_and_somebody_who_agrees() -> Result<()> {
    let (server, product) = playing([]).await?;
    for (arguments, said) in [
        (&["plan"][..], "say what is to be reached"),
        (&["plan", " ", "--yes"], "say what is to be reached"),
        (&["plan", "tidy up"], "--yes carries it out without asking"),
        (&["plan", "tidy up", "--mode", "json"], "--yes carries it out without asking"),
        (&["plan", "tidy up", "--yes", "--dry-run"], "cannot be used with"),
    ] {
        let finished = product.run(arguments).await?.with_code(2);
        assert!(finished.stderr.contains(said), "{arguments:?}: {}", finished.stderr);
    }
    assert!(server.requests().is_empty() && product.session_files()?.is_empty());
    Ok(())
}
