//! The tools that every session has: `read`, `write`, `edit` and `bash`.
//!
//! A tool never touches the machine itself. Files go through a [`WorkspaceRuntime`], commands through a
//! [`CommandRuntime`]; [`LocalWorkspace`] and [`LocalCommands`] are the real ones, [`InMemoryWorkspace`] is for tests
//! and embedders. What may run at all is not decided here: each tool says what a call would touch, the host's
//! permission port answers.
//!
//! What this crate cannot do: confine a command. `bash` runs with the rights of the user who started the host; only
//! the file tools are held to the workspace.

pub mod command;
pub mod error;
pub mod text;
pub mod tools;
pub mod workspace;

mod locks;
mod paths;
#[cfg(test)]
mod testing;

pub use command::{
    CommandEnd, CommandOutcome, CommandRequest, CommandRuntime, LocalCommands, LocalPrograms, OutputSink,
};
pub use error::RuntimeError;
pub use tools::{BashTool, EditTool, ReadTool, WriteTool};
pub use workspace::{
    FileContents, FileVersion, InMemoryWorkspace, LocalWorkspace, WorkspaceRuntime, WriteCondition, Written,
};

use capstan_ports::tool::Tool;
use std::sync::Arc;

/// The built-in tools over one workspace and one command runtime, in the order in which the model sees them.
pub fn builtin_tools(
    workspace: Arc<dyn WorkspaceRuntime>,
    commands: Arc<dyn CommandRuntime>,
) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(ReadTool::new(Arc::clone(&workspace))),
        Arc::new(BashTool::new(Arc::clone(&workspace), commands)),
        Arc::new(EditTool::new(Arc::clone(&workspace))),
        Arc::new(WriteTool::new(workspace)),
    ]
}

#[cfg(test)]
#[path = "lib_tests.rs"]
mod tests;
