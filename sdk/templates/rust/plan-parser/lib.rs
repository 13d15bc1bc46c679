//! A reader of plans: it makes steps of what a model wrote. It computes its answer from the text alone, so it is called without any
//! grant.

use capstan_sdk::prelude::*;

/// The text of a numbered line, `1. Do this` or `1) Do this`.
fn step(line: &str) -> Option<String> {
    let line = line.trim();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let text = rest.strip_prefix(['.', ')'])?.trim();
    (rest.len() < line.len() && !text.is_empty()).then(|| text.to_owned())
}

fn numbered(raw: &str, _goal: &str) -> Result<Plan> {
    let plan: Plan = raw.lines().filter_map(step).collect();
    if plan.steps.is_empty() {
        return Err(Error::new(
            "there are no numbered lines; write each step as `1. What to do`",
        ));
    }
    Ok(plan)
}

capstan_sdk::extension! {
    summary: "Lines that begin with a number and a dot, one for each step.",
    plan_parsers: [plan_parser("numbered", numbered)],
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(raw: &str) -> Result<Vec<String>> {
        let plan = numbered(raw, "any goal")?;
        Ok(plan
            .steps
            .into_iter()
            .map(|step| step.description)
            .collect())
    }

    #[test]
    fn numbered_lines_are_steps_and_others_are_not() {
        let raw = "Here is the plan:\n\n1. Read the file\n2) Change it\n2026 was a year.\n";
        assert_eq!(
            steps(raw).ok(),
            Some(vec!["Read the file".to_owned(), "Change it".to_owned()])
        );
    }

    #[test]
    fn a_text_without_steps_is_no_plan() {
        assert!(steps("I would rather not.").is_err());
    }
}
