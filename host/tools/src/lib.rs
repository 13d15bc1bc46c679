//! The tools that every session has: `read`, `write`, `edit` and `bash`; and `grep`, `find` and `ls` for those who want
//! them.
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
mod selection;
#[cfg(test)]
mod testing;

pub use command::{
    CommandEnd, CommandOutcome, CommandRequest, CommandRuntime, LocalCommands, LocalPrograms, OutputFolder,
    OutputSink,
};
pub use error::RuntimeError;
pub use selection::{UnknownTool, all_tools, builtin_tools, optional_tools, selected_tools};
pub use tools::{BashTool, EditTool, FindTool, GrepTool, KnownFiles, LsTool, ReadTool, WriteTool};
pub use workspace::{
    FileContents, FileVersion, InMemoryWorkspace, LocalWorkspace, WorkspaceRuntime, WriteCondition, Written,
};

#[cfg(test)]
#[path = "lib_tests.rs"]
mod tests;
