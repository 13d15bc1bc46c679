//! A gate: it is asked before a tool runs, and lets the call pass, blocks it, or has a person asked. It cannot allow anything
//! that would otherwise be denied.

use capstan_sdk::prelude::*;

/// What the user can set, in the table `[extension.{{name}}]` of the configuration.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Config {
    /// Ends of file names that are not to be written.
    protected: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            protected: vec![".lock".to_owned()],
        }
    }
}

/// The arguments of the tools that this gate looks at, as far as it needs them.
#[derive(Deserialize)]
struct Arguments {
    path: String,
}

fn guard(call: &ToolCall, _context: &Context) -> Result<Verdict> {
    let config: Config = config::get()?;
    let Arguments { path } = call.arguments()?;
    Ok(
        match config
            .protected
            .iter()
            .find(|end| path.ends_with(end.as_str()))
        {
            Some(end) => Verdict::block(format!(
                "Files that end in `{end}` are not written by hand."
            )),
            None => Verdict::pass(),
        },
    )
}

capstan_sdk::extension! {
    summary: "Keeps generated files from being written by hand.",
    config: config::schema::<Config>(),
    before_tool_call: hook(guard).tools(&["write", "edit"]),
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_lock_file_is_protected_and_another_is_not() {
        let verdict = |path: &str| {
            capstan_sdk::testing::before_tool_call::<Extension>(
                "write",
                json!({ "path": path, "content": "" }),
            )
        };
        assert!(matches!(verdict("Cargo.lock"), Verdict::Block(_)));
        assert_eq!(verdict("src/main.rs"), Verdict::Pass);
    }
}
