use super::*;

fn tool(name: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        label: String::new(),
        description: String::new(),
        parameters: serde_json::json!({}),
        execution: Default::default(),
    }
}

#[test]
fn the_default_prompt_is_short_and_names_tools_date_and_place() {
    let tools = ["read", "write", "edit", "bash", "grep", "find", "ls"].map(tool);
    let parts =
        PromptParts { tools: &tools, working_directory: "/home/ada/app", date: "2026-01-02", context: &[] };
    let text = system_prompt(&parts);
    assert!(text.len() <= 1536, "{} bytes", text.len());
    assert!(text.contains("Tools: read, write, edit, bash, grep, find, ls\n"));
    assert!(text.ends_with("Date: 2026-01-02\nWorking directory: /home/ada/app"));
    assert_eq!(text, system_prompt(&parts));
}

#[test]
fn context_files_are_appended_with_their_paths() {
    let context = [
        ContextFile { path: "AGENTS.md".into(), text: "Use tabs.\n".into() },
        ContextFile { path: "sub/AGENTS.md".into(), text: "Never mind.".into() },
    ];
    let text = system_prompt(&PromptParts { context: &context, ..PromptParts::default() });
    assert!(text.ends_with(
        "\n\n# Project context: AGENTS.md\n\nUse tabs.\n\n# Project context: sub/AGENTS.md\n\nNever mind."
    ));
    assert!(!text.contains("Tools:"));
}

#[test]
fn dates_are_those_of_the_gregorian_calendar() {
    for (seconds, date) in [
        (0, "1970-01-01"),
        (951_782_399, "2000-02-28"),
        (951_782_400, "2000-02-29"),
        (951_868_800, "2000-03-01"),
        (1_735_689_599, "2024-12-31"),
        (1_735_689_600, "2025-01-01"),
        (4_107_542_400, "2100-03-01"),
    ] {
        assert_eq!(utc_date(seconds * 1000), date);
    }
}
