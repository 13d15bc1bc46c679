use capstan_sdk::testing;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn parse_with(config: Value, raw: &str) -> Result<Vec<String>> {
    let plan = testing::with_config(config, || markdown(raw, "goal"))?;
    Ok(plan.steps.into_iter().map(|step| step.description).collect())
}

fn parse(raw: &str) -> Vec<String> {
    parse_with(json!({}), raw).unwrap_or_else(|error| panic!("{raw}\n{error}"))
}

fn problem(raw: &str) -> String {
    parse_with(json!({}), raw).unwrap_err().message().to_owned()
}

#[test]
fn lists_of_every_kind_are_plans() {
    let lists = [
        "1. look\n2. act\n",
        "1) look\n2) act",
        "(1) look\n(2) act",
        "1. look\n1. act",
        "- look\n- act",
        "* look\r\n* act\r\n",
        "• look\n• act",
        "- [ ] look\n- [ ] act",
        "[ ] look\n[ ] act",
        "1. [ ] look\n2. [ ] act",
        "Step 1: look\nStep 2: act",
        "**Step 1:** look\n\n**Step 2:** act",
        "**Step 1: look**\n**Step 2: act**",
        "## Step 1: look\n## Step 2: act",
        "### 1. look\n\n### 2. act\n",
        "**1. look**\n\n**2. act**\n",
        "1. **look**\n\n2. **act**",
        "1. Step 1: look\n2. Step 2: act",
        "Sure! Here is the plan:\n\n1. look\n2. act\n\nLet me know if this is fine.",
        "<plan>\n- look\n- act\n</plan>",
        "```markdown\n1. look\n2. act\n```",
        "```\n- look\n- act\n```",
        "```json\n[\"look\", \"act\"]\n```",
        "```yaml\n- look\n- act\n```",
        "Here it is: {\"steps\": [\"look\", \"act\"]}",
        "\u{feff}  1. look\n  2. act",
        " 1. look\n2. act",
        "1. look\n---\n2. act",
    ];
    for list in lists {
        assert_eq!(parse(list), ["look", "act"], "{list}");
    }
}

#[test]
fn what_belongs_to_an_item_stays_with_it() {
    let raw = "1. **Set up**\n   - install\n     - twice\n   and check\n2. Run:\n   ```sh\n   cargo test\n\n   ls\n   ```\n3. end\nof it";
    assert_eq!(
        parse(raw),
        ["Set up\n- install\n  - twice\nand check", "Run:\n```sh\ncargo test\n\nls\n```", "end\nof it"]
    );
}

#[test]
fn unindented_explanations_between_numbers_belong_to_the_number_before() {
    let raw = "1. look\n\nAround the house.\n\n2. act\n\n```sh\nls\n```\n\n3. end\n\nThat is all.";
    assert_eq!(parse(raw), ["look\n\nAround the house.", "act\n\n```sh\nls\n```", "end"]);
    let raw = "1. **Set up**\n- a\n- b\n\n2. **Act**\n\n- c\n- d\n\nGood luck!";
    assert_eq!(parse(raw), ["Set up\n- a\n- b", "Act\n\n- c\n- d"]);
    let raw = "1. a\n1.1 b\n1.2 c\n2. d";
    assert_eq!(parse(raw), ["a\n1.1 b\n1.2 c", "d"]);
}

#[test]
fn of_several_lists_the_plan_is_taken() {
    let raw =
        "# Fix it\n\n## Context\n- a\n- b\n- c\n\n## Plan\n1. look\n2. act\n\n## Risks\n- x\n- y\n- z\n";
    assert_eq!(parse(raw), ["look", "act"]);
    let raw = "I found:\n- a\n- b\n- c\n\nThe steps:\n- look\n- act\n";
    assert_eq!(parse(raw), ["look", "act"]);
    // Without any word, the longest; of two alike the numbered.
    assert_eq!(parse("- a\n\nthen\n\n1. look\n2. act\n\nand\n\n- b"), ["look", "act"]);
    assert_eq!(parse("- a\n- b\n\nthen\n\n1. look\n2. act"), ["look", "act"]);
    let raw = "Plan\n====\n\n1. look\n2. act\n\nNotes\n-----\n\n- a\n- b\n- c\n";
    assert_eq!(parse(raw), ["look", "act"]);
}

#[test]
fn headings_are_phases_or_steps() {
    let raw = "# Plan\n\n## Phase 1: Set up\n1. a\n2. b\n\n## Phase 2: Act\nJust act.\n\n## Risks\n- r\n";
    assert_eq!(parse(raw), ["Set up: a", "Set up: b", "Act\nJust act."]);
    let raw = "## Plan\n\n### Backend\n- a\n- b\n\n### Frontend\n- c\n\n### Notes\n- n\n";
    assert_eq!(parse(raw), ["Backend: a", "Backend: b", "Frontend: c"]);
    let raw = "## Step 1: Set up\nFirst this.\n\n- a\n- b\n\n## Step 2: Act\n\n## Summary\nDone.";
    assert_eq!(parse(raw), ["Set up\nFirst this.\n\n- a\n- b", "Act"]);
    let raw = "**Phase 1: Set up**\n- a\n\n**Phase 2: Act**\n- b\n";
    assert_eq!(parse(raw), ["Set up: a", "Act: b"]);
}

#[test]
fn nested_items_become_steps_where_the_user_says_so() {
    let raw = "1. Set up:\n   - a\n     - deep\n   - b\n   note\n2. Act";
    assert_eq!(
        parse_with(json!({"nested": "steps"}), raw).unwrap(),
        ["Set up: a: deep", "Set up: b\nnote", "Act"]
    );
    let raw = "1. Set up\n   Carefully.\n   - a\n   - b";
    assert_eq!(parse_with(json!({"nested": "steps"}), raw).unwrap(), ["Set up: a\nCarefully.", "Set up: b"]);
}

#[test]
fn what_is_checked_off_is_left_out_or_kept() {
    let raw = "- [x] look\n- [ ] act\n- [X] rest";
    assert_eq!(parse(raw), ["act"]);
    assert_eq!(parse_with(json!({"done": "keep"}), raw).unwrap(), ["look", "act", "rest"]);
    assert_eq!(
        problem("- [x] look\n- [x] act"),
        "nothing is left to do: all 2 steps are checked off; set `done = \"keep\"` to take them nevertheless"
    );
}

#[test]
fn tables_rules_and_code_are_no_steps() {
    let raw = "| a | b |\n|---|---|\n| 1. | x |\n\n---\n\n```rust\n// 1. no\n- no\n```\n\n1. look\n2. act\n";
    assert_eq!(parse(raw), ["look", "act"]);
}

#[test]
fn where_nothing_is_found_the_lines_and_what_was_expected_are_named() {
    assert_eq!(problem(" \n\n"), "there is no plan: the text is empty");
    let said = problem("\nI cannot do that.\nSorry.\n");
    assert!(
        said.starts_with(
            "there is no plan in lines 2 to 3, which begin with `I cannot do that.`: expected a list"
        ),
        "{said}"
    );
    let said = problem("Here:\n```json\n{\"steps\": [\"a\",]\n```\n");
    assert!(said.starts_with("line 3: the JSON cannot be read"), "{said}");
    // A broken block matters only where there is no list.
    assert_eq!(parse("```json\n{\n```\n\n1. look\n2. act"), ["look", "act"]);
}

#[test]
fn limits_of_the_contract_are_told_before_the_host_meets_them() {
    let many: String = (1..=1_000).map(|number| format!("{number}. step\n")).collect();
    assert_eq!(parse(&many).len(), 1_000);
    let said = problem(&format!("{many}1001. one more\n"));
    assert!(said.contains("1001 steps") && said.contains("line 1001"), "{said}");
    assert_eq!(parse(&format!("1. {}", "x".repeat(8 << 10)))[0].len(), 8 << 10);
    let said = problem(&format!("1. a\n2. {}", "x".repeat((8 << 10) + 1)));
    assert!(said.contains("step 2 at line 2 has 8193 bytes"), "{said}");
}

#[test]
fn a_wrong_configuration_is_an_error_that_names_it() {
    let said = parse_with(json!({"nested": "maybe"}), "1. a").unwrap_err().message().to_owned();
    assert!(said.contains("the configuration at `nested`"), "{said}");
}

#[test]
fn it_asks_for_nothing() {
    let descriptor = testing::describe::<Extension>();
    assert!(descriptor.requests.is_empty());
    assert_eq!(descriptor.plan_parsers, ["markdown"]);
}

/// A plan in the form in which this extension would like to read it.
fn rendered(steps: &[String]) -> String {
    let mut text = String::new();
    for (at, step) in steps.iter().enumerate() {
        let mut lines = step.split('\n');
        text.push_str(&format!("{}. {}\n", at + 1, lines.next().unwrap_or_default()));
        for line in lines {
            text.push_str(&format!("      {line}\n"));
        }
    }
    text
}

/// Texts that consist of what plans are made of, in any order.
fn plan_like() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("1. ".to_owned()),
        Just("2) ".to_owned()),
        Just("- ".to_owned()),
        Just("* ".to_owned()),
        Just("[x] ".to_owned()),
        Just("[ ] ".to_owned()),
        Just("\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("  ".to_owned()),
        Just("\t".to_owned()),
        Just("# Plan\n".to_owned()),
        Just("## Phase 1: ".to_owned()),
        Just("Step 1: ".to_owned()),
        Just("**".to_owned()),
        Just("```".to_owned()),
        Just("```json\n".to_owned()),
        Just("---".to_owned()),
        Just("===".to_owned()),
        Just("{\"steps\": [\"a\"]}".to_owned()),
        Just("| a |".to_owned()),
        Just("1.2 ".to_owned()),
        "[a-z:]{1,6}",
        "\\PC{0,3}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn checked(raw: &str) -> std::result::Result<(), TestCaseError> {
    let Ok(steps) = parse_with(json!({}), raw) else { return Ok(()) };
    prop_assert!((1..=1_000).contains(&steps.len()));
    prop_assert!(steps.iter().all(|step| !step.trim().is_empty() && step.len() <= 8 << 10));
    let text = rendered(&steps);
    let again = parse_with(json!({}), &text);
    prop_assert_eq!(again.as_ref().ok(), Some(&steps), "{}", text);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn any_text_is_an_error_or_a_plan_that_reads_as_itself(raw in "(?s).{0,200}") {
        checked(&raw)?;
    }

    #[test]
    fn a_text_of_markers_is_an_error_or_a_plan_that_reads_as_itself(raw in plan_like()) {
        checked(&raw)?;
    }

    #[test]
    fn spread_out_it_keeps_the_bounds_too(raw in plan_like()) {
        if let Ok(steps) = parse_with(json!({"nested": "steps", "done": "keep"}), &raw) {
            prop_assert!((1..=1_000).contains(&steps.len()));
            prop_assert!(steps.iter().all(|step| !step.trim().is_empty() && step.len() <= 8 << 10));
        }
    }
}

#[test]
fn large_texts_are_read_in_time_that_grows_with_them() {
    // None of these ends in a test's time if a line is looked at once for each other line.
    let texts = [
        "1. a\n\nb\n\n".repeat(50_000),
        "- a\n".repeat(100_000),
        "# Plan\n".repeat(100_000),
        "## Phase 1: x\n- a\n\ntext\n\n".repeat(20_000),
        format!("## Phase 1: x\n{}", "- a\n\ntext\n\n".repeat(50_000)),
        "Step 1: a\n".repeat(100_000),
        "```\n".repeat(100_001),
        "{\n".repeat(100_000),
        format!("1. {}", "**".repeat(4_000)),
    ];
    for text in texts {
        let _answer = parse_with(json!({}), &text);
    }
}
