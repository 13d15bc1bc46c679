use super::*;
use crate::lines;
use crate::settings::{Config, Done};

fn read_with(config: &Config, text: &str) -> Result<Option<Vec<String>>, Error> {
    let lines = lines::split(text);
    let mut collector = Collector::new(config);
    let found = read(&lines, &mut collector)?;
    Ok(found.then(|| collector.steps.into_iter().map(|step| step.text).collect()))
}

fn steps(text: &str) -> Vec<String> {
    read_with(&Config::default(), text).unwrap().unwrap_or_default()
}

fn problem(text: &str) -> String {
    read_with(&Config::default(), text).unwrap_err().message().to_owned()
}

#[test]
fn json_in_every_shape_is_read() {
    let shapes = [
        r#"["look", "act"]"#,
        r#"{"steps": ["look", "act"]}"#,
        r#"{"plan": {"goal": "x", "steps": [{"description": "look"}, {"task": "act"}]}}"#,
        r#"{"todos": [{"content": "look", "status": "pending"}, {"content": "act", "status": "in_progress"}]}"#,
        r#"{"thought": "hm", "tasks": [{"id": 1, "title": "look"}, {"id": 2, "name": "act"}]}"#,
    ];
    for shape in shapes {
        assert_eq!(steps(&format!("Here:\n```json\n{shape}\n```\nDone.")), ["look", "act"], "{shape}");
        assert_eq!(steps(&format!("Here:\n\n{shape}\nDone.")), ["look", "act"], "{shape}");
    }
}

#[test]
fn yaml_fenced_or_as_it_stands_is_read() {
    let text =
        "steps:\n  - title: Look\n    description: around the house\n  - act: now\n    description: act\n";
    assert_eq!(steps(&format!("```yaml\n{text}```")), ["Look: around the house", "act"]);
    assert_eq!(steps(text), ["Look: around the house", "act"]);
    assert_eq!(steps("---\nplan:\n- a\n- b\n"), ["a", "b"]);
}

#[test]
fn what_is_done_is_left_out() {
    let text =
        r#"{"steps": [{"task": "a", "status": "completed"}, {"task": "b", "done": true}, "[x] c", "d"]}"#;
    assert_eq!(steps(text), ["d"]);
    let keep = Config { done: Done::Keep, ..Config::default() };
    assert_eq!(read_with(&keep, text).unwrap().unwrap(), ["a", "b", "c", "d"]);
}

#[test]
fn steps_below_a_step_are_folded_or_spread() {
    let text = r#"{"steps": [{"title": "Set up:", "steps": ["a", {"task": "b", "substeps": ["c"]}]}, "z"]}"#;
    assert_eq!(steps(text), ["Set up:\n- a\n- b\n  - c", "z"]);
    let spread = Config { nested: Nested::Steps, ..Config::default() };
    assert_eq!(read_with(&spread, text).unwrap().unwrap(), ["Set up: a", "Set up: b: c", "z"]);
    let phases = r#"{"phases": [{"name": "One", "tasks": ["a"]}, {"name": "Two", "tasks": ["b"]}]}"#;
    assert_eq!(steps(phases), ["One: a", "Two: b"]);
}

#[test]
fn a_mistake_names_its_line_and_its_place() {
    let said = problem("Here:\n\n```json\n{\"steps\": [\n  \"a\",,\n]}\n```\n");
    assert!(said.starts_with("line 5: the JSON cannot be read: "), "{said}");
    let said = problem("```json\n{\"steps\": [{\"description\": \"a\"}, {\"id\": 2}]}\n```\n");
    assert_eq!(said, "line 2: this is no plan: `steps[1]` says nothing: give it a `description`");
    let said = problem("```yaml\nsteps:\n  - a\n - b\n```\n");
    assert!(said.starts_with("line 4: the YAML cannot be read: "), "{said}");
    let deep = format!("{}\"x\"{}", r#"{"description": "a", "steps": ["#.repeat(20), "]}".repeat(20));
    assert!(problem(&format!("```json\n[{deep}]\n```")).contains("deeper than 8"), "{deep}");
}

#[test]
fn data_that_is_no_plan_is_passed_over() {
    assert_eq!(steps("```json\n{\"name\": \"x\", \"version\": 1}\n```\n"), Vec::<String>::new());
    assert_eq!(steps("[see](x) and {this}\n"), Vec::<String>::new());
}
