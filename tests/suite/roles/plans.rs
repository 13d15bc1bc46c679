//! Plan parsers: what they read, what they may not find, and how they fail.

use super::{bad_guests, lies_beneath, roles};
use anyhow::{Context, Result, bail};
use capstan_engine::Extension;
use capstan_ports::memory::MemoryEntry;
use capstan_ports::plan::{MAX_STEPS, Plan, PlanParseError, PlanParser};
use capstan_ports::session::SessionId;
use capstan_tests::guest::Guest;
use capstan_tests::product;
use capstan_tests::sandboxed::{Granted, Place};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

fn parser(extension: &Extension, name: &str) -> Result<Arc<dyn PlanParser>> {
    let mut parsers = extension.plan_parsers().into_iter();
    parsers.find(|parser| parser.name() == name).with_context(|| format!("there is no {name}"))
}

fn steps(plan: &Plan) -> Vec<&str> {
    plan.steps().iter().map(capstan_ports::Step::description).collect()
}

fn refused(parsed: Result<Plan, PlanParseError>) -> Result<PlanParseError> {
    match parsed {
        Ok(plan) => bail!("must be refused: {plan:?}"),
        Err(error) => Ok(error),
    }
}

#[tokio::test]
async fn a_component_reads_a_plan() -> Result<()> {
    let extension = roles(&Place::with_cache()?, Granted::Nothing).await?;
    let list = parser(&extension, "roles/list")?;
    let plan = list.parse("Here it is:\n\n- look around \n- act\n", "tidy up").await?;
    assert_eq!((plan.goal(), steps(&plan)), ("tidy up", vec!["look around", "act"]));
    Ok(())
}

// 004-105
#[tokio::test]
async fn what_is_no_plan_is_refused_with_parser_and_place() -> Result<()> {
    let extension = roles(&Place::with_cache()?, Granted::Nothing).await?;
    let list = parser(&extension, "roles/list")?;
    let long = "- again\n".repeat(MAX_STEPS + 1);
    for (raw, said) in [
        ("- act\nand then?", "line 2 is no step: and then?"),
        ("no steps here", "it has no steps"),
        ("- act\n-  \n", "step 2 is empty"),
        (long.as_str(), "more than 1000 steps"),
    ] {
        let error = refused(list.parse(raw, "goal").await)?;
        assert_eq!(error.parser, "roles/list");
        assert!(error.message.contains(said), "{error}");
    }
    assert!(list.parse(&"- again\n".repeat(MAX_STEPS), "goal").await.is_ok());
    Ok(())
}

#[tokio::test]
async fn nothing_hides_in_a_step() -> Result<()> {
    let extension = roles(&Place::with_cache()?, Granted::Nothing).await?;
    let plan = parser(&extension, "roles/list")?.parse("- a\u{202e}b\u{1b}[2K", "goal").await?;
    assert_eq!(steps(&plan), ["a\\u{202e}b\\u{1b}[2K"]);
    Ok(())
}

// S11
#[tokio::test]
async fn a_plan_depends_on_nothing_but_the_text_whatever_was_granted() -> Result<()> {
    let place = Place::with_cache()?;
    let granted = roles(&place, Granted::Everything).await?;
    // The control: in another role the very same extension does reach its folder.
    let memory = granted.memory(&SessionId::new("test")).context("it has a memory")?;
    memory.store(MemoryEntry::new("kept")).await?;
    assert!(place.workspace().join("notes/notes.json").is_file());
    let commands = granted.commands();
    let keep = commands.iter().find(|command| command.name() == "keep").context("it has one")?;
    let kept = keep.run(&SessionId::new("test"), "x", &CancellationToken::new()).await;
    // Granted, and only this test lends no storage.
    assert!(kept.err().is_some_and(|error| error.message.contains("this host has no")));

    let parser = parser(&granted, "roles/surroundings")?;
    let first = parser.parse("", "goal").await?;
    assert_eq!(first, parser.parse("", "goal").await?);
    let shown = steps(&first);
    assert_eq!(shown[1], "time: 0ns, 0ns passed");
    assert_eq!((shown[3], shown[4]), ("environment: []", "files: false"));
    assert!(shown[5].contains("Denied"), "{shown:?}");

    let bare = roles(&Place::with_cache()?, Granted::Nothing).await?;
    assert_eq!(first, self::parser(&bare, "roles/surroundings")?.parse("", "goal").await?);
    Ok(())
}

#[tokio::test]
async fn a_parser_that_goes_wrong_is_an_error_that_names_it() -> Result<()> {
    let place = Place::new()?;
    for (said, guest) in bad_guests(|guest, body| guest.plan_parser("bad", body)) {
        let extension = place.load(&guest).await?;
        let name = format!("{}/bad", guest.id);
        let error = refused(parser(&extension, &name)?.parse("- act", "goal").await)?;
        assert!(error.to_string().contains(said) && error.parser == name, "{error}");
        assert!(lies_beneath(&error), "{error:?}");
    }
    Ok(())
}

#[tokio::test]
async fn the_list_of_extensions_shows_every_part() -> Result<()> {
    let product = product!()?;
    super::install_roles(&product).await?;
    let list = product.run(&["ext", "list"]).await?.with_code(0).stdout;
    for part in ["plans in list", "compaction by tail", "observer", "memory", "/count"] {
        assert!(list.contains(part), "{part}: {list}");
    }
    let about = product.run(&["ext", "inspect", "roles"]).await?.with_code(0).stdout;
    for part in ["plans in surroundings", "compaction by fresh", "command /refuse", "Does not do it."] {
        assert!(about.contains(part), "{part}: {about}");
    }
    Ok(())
}

// S11: also for an extension whose other parts keep their state.
#[tokio::test]
async fn a_parser_gets_a_fresh_instance_even_where_instances_live_longer() -> Result<()> {
    let (guest, answer) = Guest::new("lasting").answer(1, "no plan");
    let once =
        format!("(if (global.get $called) (then unreachable)) (global.set $called (i32.const 1)) {answer}");
    let mut guest = guest.define("(global $called (mut i32) (i32.const 0))");
    guest.session_lifetime = true;
    let extension = Place::new()?.load(&guest.plan_parser("once", &once).command("once", &once)).await?;

    // The control: a command's second call meets the instance of the first.
    let command = extension.commands().remove(0);
    for said in ["no plan", "trapped"] {
        let ran = command.run(&SessionId::new("test"), "", &CancellationToken::new()).await;
        assert!(ran.err().is_some_and(|error| error.to_string().contains(said)), "{said}");
    }
    let parser = parser(&extension, "lasting/once")?;
    for _ in 0..2 {
        assert_eq!(refused(parser.parse("", "goal").await)?.message, "no plan");
    }
    Ok(())
}
