//! A plan parser for what models really write: numbered, bulleted and check lists, headings, fenced JSON or YAML, with
//! talk around them.

mod blocks;
mod choose;
mod lines;
mod settings;
mod steps;
mod structured;
mod yaml;

use capstan_sdk::prelude::*;

use lines::Line;
use settings::Config;
use steps::Collector;

/// What the contract allows.
const MAX_STEPS: usize = 1_000;
const MAX_STEP_BYTES: usize = 8 << 10;

fn markdown(raw: &str, _goal: &str) -> Result<Plan> {
    let config: Config = config::get()?;
    let lines = lines::split(raw);
    let mut collector = Collector::new(&config);
    let problem = collect(&lines, &mut collector, 0);
    if collector.steps.is_empty() {
        return Err(match problem {
            Err(error) => error,
            Ok(()) if collector.done > 0 => Error::new(format!(
                "nothing is left to do: all {} steps are checked off; set `done = \"keep\"` to take them nevertheless",
                collector.done
            )),
            Ok(()) => nothing(&lines),
        });
    }
    if collector.steps.len() > MAX_STEPS {
        let line = collector.steps[MAX_STEPS].line;
        return Err(Error::new(format!(
            "the plan has {} steps; at most {MAX_STEPS} are allowed, which is reached before line {line}",
            collector.steps.len()
        )));
    }
    for (at, step) in collector.steps.iter().enumerate() {
        if step.text.len() > MAX_STEP_BYTES {
            return Err(Error::new(format!(
                "step {} at line {} has {} bytes; at most {MAX_STEP_BYTES} are allowed. Where it has items of its own, \
                 `nested = \"steps\"` makes steps of them",
                at + 1,
                step.line,
                step.text.len()
            )));
        }
    }
    Ok(collector.steps.into_iter().map(|step| step.text).collect())
}

/// Finds the steps. An error is what is wrong with data that was meant as the plan, where nothing else is there.
fn collect(lines: &[Line<'_>], collector: &mut Collector<'_>, level: usize) -> Result<()> {
    let found = structured::read(lines, collector);
    if matches!(found, Ok(true)) {
        return Ok(());
    }
    if let Some(chosen) = choose::choose(lines) {
        for (phase, item) in &chosen.items {
            collector.item(item, phase.as_deref());
        }
        if !collector.steps.is_empty() || collector.done > 0 {
            return Ok(());
        }
    }
    // The whole answer as one block of text, as some models send it.
    for (block, _) in blocks::scan(lines) {
        if let blocks::Block::Code { info, body, .. } = block
            && level == 0
            && matches!(info.to_ascii_lowercase().as_str(), "" | "markdown" | "md" | "text" | "txt" | "plan")
        {
            collect(&lines[body], collector, 1)?;
            if !collector.steps.is_empty() || collector.done > 0 {
                return Ok(());
            }
        }
    }
    let inline = structured::read_inline(lines, collector);
    match found {
        Err(error) if !matches!(inline, Ok(true)) => Err(error),
        _ => Ok(()),
    }
}

fn nothing(lines: &[Line<'_>]) -> Error {
    let Some(first) = lines.iter().find(|line| !line.is_blank()) else {
        return Error::new("there is no plan: the text is empty");
    };
    let shown: String = first.text.chars().take(60).collect();
    let last = lines.iter().rev().find(|line| !line.is_blank()).map_or(first.number, |line| line.number);
    Error::new(format!(
        "there is no plan in lines {} to {last}, which begin with `{shown}`: expected a list (`1. …`, `- …`, `- [ ] …`), \
         headings or lines such as `Step 1: …`, or JSON or YAML with `steps`",
        first.number
    ))
}

capstan_sdk::extension! {
    summary: "Reads plans as Markdown: a numbered, bulleted or check list (- [ ]), one item for each step, details indented below its item; or a fenced JSON or YAML block with `steps`.",
    config: config::schema::<Config>(),
    plan_parsers: [plan_parser("markdown", markdown)],
}

#[cfg(test)]
#[path = "lib_tests.rs"]
mod tests;
