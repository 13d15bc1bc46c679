//! `edit`: replaces quoted pieces of a file.

use crate::error::RuntimeError;
use crate::locks::lock;
use crate::text::diff::numbered_diff;
use crate::text::nearest::nearest;
use crate::text::replace::{Misfit, Occurrence, Replacement, replace};
use crate::tools::known::{FileDigest, KnownFiles, digest};
use crate::tools::{arguments, definition, path_of, unless_cancelled};
use crate::workspace::{WorkspaceRuntime, WriteCondition};
use async_trait::async_trait;
use capstan_ports::message::ToolCall;
use capstan_ports::permission::CallAccess;
use capstan_ports::tool::{Tool, ToolContext, ToolDefinition, ToolError, ToolOutcome};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// The file, its new form and the work in between are in memory at once.
const MAX_FILE_BYTES: u64 = 32 * 1024 * 1024;

/// Replaces pieces of files of a workspace.
pub struct EditTool {
    definition: ToolDefinition,
    workspace: Arc<dyn WorkspaceRuntime>,
    known: Arc<KnownFiles>,
}

#[derive(Deserialize)]
struct EditArguments {
    path: String,
    edits: Vec<Edit>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Edit {
    old_text: String,
    new_text: String,
    #[serde(default)]
    first: bool,
}

impl EditTool {
    /// The tool over `workspace`.
    pub fn new(workspace: Arc<dyn WorkspaceRuntime>) -> Self {
        let definition = definition(
            "edit",
            "Replace text in a file. Each oldText must occur exactly once; edits all refer to the original file, must not \
             overlap, and succeed or fail together.",
            json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "edits": {
                        "type": "array",
                        "minItems": 1,
                        "items": {
                            "type": "object",
                            "properties": {
                                "oldText": {"type": "string", "description": "Exact, with just enough lines to be unique"},
                                "newText": {"type": "string"},
                                "first": {"type": "boolean", "description": "Take the first of several matches"}
                            },
                            "required": ["oldText", "newText"]
                        }
                    }
                },
                "required": ["path", "edits"]
            }),
        );
        Self { definition, workspace, known: Arc::default() }
    }

    /// Refuses to edit a file that was read and is another one now, as `known` remembers it. A file that was never read
    /// may be edited.
    #[must_use]
    pub fn with_known_files(mut self, known: Arc<KnownFiles>) -> Self {
        self.known = known;
        self
    }
}

#[async_trait]
impl Tool for EditTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    /// Accepts what models write from habit: one edit without the list, the list as a JSON string, a single object.
    async fn prepare(&self, mut arguments: Value) -> Result<Value, ToolError> {
        let Some(fields) = arguments.as_object_mut() else { return Ok(arguments) };
        if let Some(text) = fields.get("edits").and_then(Value::as_str)
            && let Ok(edits) = serde_json::from_str(text)
        {
            fields.insert("edits".to_owned(), edits);
        }
        if fields.get("edits").is_some_and(Value::is_object) {
            let edit = fields.remove("edits");
            fields.insert("edits".to_owned(), edit.into_iter().collect());
        }
        if fields.contains_key("oldText") && fields.contains_key("newText") {
            let names = ["oldText", "newText", "first"];
            let edit: Value =
                names.into_iter().filter_map(|name| Some((name.to_owned(), fields.remove(name)?))).collect();
            match fields.get_mut("edits") {
                Some(Value::Array(edits)) => edits.push(edit),
                _ => {
                    fields.insert("edits".to_owned(), Value::Array(vec![edit]));
                }
            }
        }
        Ok(arguments)
    }

    fn access(&self, arguments: &Value) -> CallAccess {
        CallAccess::Write(self.workspace.resolve(path_of(arguments)))
    }

    async fn execute(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolOutcome, ToolError> {
        let EditArguments { path, edits } = arguments(call)?;
        if edits.is_empty() {
            return Err(ToolError::InvalidArguments("edits is empty: give at least one edit".to_owned()));
        }
        let real_path = unless_cancelled(&context.cancel, self.workspace.real_path(&path)).await?;
        let _held =
            unless_cancelled(&context.cancel, async { Ok::<_, ToolError>(lock(real_path.clone()).await) })
                .await?;
        // Read and compared under the lock: an edit of the same round may just have changed the file.
        let before = unless_cancelled(&context.cancel, self.workspace.read(&path, MAX_FILE_BYTES)).await?;
        let text = String::from_utf8(before.bytes).map_err(|error| ToolError::Failed {
            message: format!("{path} is not UTF-8 text, and was not changed: edit it with bash (sed, perl)"),
            source: Some(Box::new(error)),
        })?;
        let known = Arc::clone(&self.known);
        let work = Work { path: path.clone(), real_path: real_path.clone(), text, edits, known };
        // Comparing a large file takes time that other calls of the round should not wait for.
        let done = tokio::task::spawn_blocking(move || work.done());
        let Done { contents, digest, outcome } = unless_cancelled(&context.cancel, async {
            done.await.map_err(|source| RuntimeError::Interrupted { source })
        })
        .await??;
        self.workspace.write(&path, contents.into_bytes(), WriteCondition::Unchanged(before.version)).await?;
        self.known.wrote(&real_path, digest);
        Ok(outcome)
    }
}

/// Everything that one call needs once the file is read.
struct Work {
    path: String,
    /// Without links.
    real_path: PathBuf,
    text: String,
    edits: Vec<Edit>,
    known: Arc<KnownFiles>,
}

/// What to write, and what to say when it is written.
struct Done {
    contents: String,
    digest: FileDigest,
    outcome: ToolOutcome,
}

impl Work {
    fn done(&self) -> Result<Done, ToolError> {
        if !self.known.agrees(&self.real_path, &digest(self.text.as_bytes())) {
            return Err(RuntimeError::ChangedSinceRead { path: self.path.clone() }.into());
        }
        let replacements: Vec<_> = self.edits.iter().map(Edit::replacement).collect();
        let replaced =
            replace(&self.text, &replacements).map_err(|misfit| ToolError::failed(self.explain(&misfit)))?;
        let mut text = format!("Successfully replaced {} block(s) in {}.", self.edits.len(), self.path);
        for index in &replaced.loose {
            let name = self.name_of(*index);
            text.push_str(&format!(
                " {name} matched loosely (spaces at line ends, quotes, dashes or Unicode form)."
            ));
        }
        let diff = numbered_diff(&self.text, &replaced.text);
        let details = json!({ "diff": diff.text, "firstChangedLine": diff.first_changed_line });
        Ok(Done {
            digest: digest(replaced.text.as_bytes()),
            contents: replaced.text,
            outcome: ToolOutcome { details: Some(details), ..ToolOutcome::text(text) },
        })
    }

    fn explain(&self, misfit: &Misfit) -> String {
        let path = &self.path;
        match *misfit {
            Misfit::EmptyOld(index) => format!("{} is empty: quote the text to replace", self.name_of(index)),
            Misfit::NotFound(index) => {
                let hint = match nearest(&self.text, &self.edits[index].old_text) {
                    Some(lines) => format!("The most similar part of the file:\n{lines}"),
                    None => "Nothing in the file resembles it; read the file again.".to_owned(),
                };
                format!("Could not find {} in {path}. Nothing was changed. {hint}", self.name_of(index))
            }
            Misfit::NotUnique(index, count) => format!(
                "Found {count} occurrences of {} in {path}. Nothing was changed. Quote more lines around it so that it \
                 is unique, or set first to replace only the first one",
                self.name_of(index)
            ),
            Misfit::Overlap(one, other) => format!(
                "edits[{one}] and edits[{other}] overlap in {path}. Nothing was changed. Make one edit of them"
            ),
            Misfit::NoChange => format!("The edits leave {path} as it is: newText equals what is there"),
        }
    }

    fn name_of(&self, index: usize) -> String {
        if self.edits.len() == 1 { "oldText".to_owned() } else { format!("edits[{index}].oldText") }
    }
}

impl Edit {
    fn replacement(&self) -> Replacement<'_> {
        let occurrence = if self.first { Occurrence::First } else { Occurrence::Only };
        Replacement { old: &self.old_text, new: &self.new_text, occurrence }
    }
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
