//! Which of the tools a session gets.

use crate::command::CommandRuntime;
use crate::tools::{BashTool, EditTool, FindTool, GrepTool, KnownFiles, LsTool, ReadTool, WriteTool};
use crate::workspace::WorkspaceRuntime;
use capstan_ports::tool::Tool;
use std::sync::Arc;

/// The tools that every session has, over one workspace and one command runtime, in the order in which the model sees
/// them.
pub fn builtin_tools(
    workspace: Arc<dyn WorkspaceRuntime>,
    commands: Arc<dyn CommandRuntime>,
) -> Vec<Arc<dyn Tool>> {
    let known = Arc::new(KnownFiles::new());
    vec![
        Arc::new(ReadTool::new(Arc::clone(&workspace)).with_known_files(Arc::clone(&known))),
        Arc::new(BashTool::new(Arc::clone(&workspace), commands)),
        Arc::new(EditTool::new(Arc::clone(&workspace)).with_known_files(Arc::clone(&known))),
        Arc::new(WriteTool::new(workspace).with_known_files(known)),
    ]
}

/// `grep`, `find` and `ls`. Off unless asked for: `bash` can do what they do, and every definition is a part of every
/// request. They are for sessions that may read but not run commands.
pub fn optional_tools(workspace: Arc<dyn WorkspaceRuntime>) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(GrepTool::new(Arc::clone(&workspace))),
        Arc::new(FindTool::new(Arc::clone(&workspace))),
        Arc::new(LsTool::new(workspace)),
    ]
}

/// All of them: those that every session has, and then the optional ones.
pub fn all_tools(
    workspace: Arc<dyn WorkspaceRuntime>,
    commands: Arc<dyn CommandRuntime>,
) -> Vec<Arc<dyn Tool>> {
    let mut tools = builtin_tools(Arc::clone(&workspace), commands);
    tools.extend(optional_tools(workspace));
    tools
}

/// The tools with these names, in their usual order whatever the order of the names. A name that comes twice counts
/// once.
///
/// # Errors
/// When a name is none of [`all_tools`].
pub fn selected_tools<'a>(
    names: impl IntoIterator<Item = &'a str>,
    workspace: Arc<dyn WorkspaceRuntime>,
    commands: Arc<dyn CommandRuntime>,
) -> Result<Vec<Arc<dyn Tool>>, UnknownTool> {
    let names: Vec<_> = names.into_iter().collect();
    let mut tools = all_tools(workspace, commands);
    let is_unknown = |name: &&&str| tools.iter().all(|tool| tool.definition().name != ***name);
    if let Some(name) = names.iter().find(is_unknown) {
        let known = tools.iter().map(|tool| tool.definition().name.clone()).collect();
        return Err(UnknownTool { name: (*name).to_owned(), known });
    }
    tools.retain(|tool| names.contains(&tool.definition().name.as_str()));
    Ok(tools)
}

/// A name that is no built-in tool's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no built-in tool `{name}`; there are {}", known.join(", "))]
pub struct UnknownTool {
    /// As it was asked for.
    pub name: String,
    /// Those that there are.
    pub known: Vec<String>,
}
