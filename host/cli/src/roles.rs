//! Which extension plays a part that only one can play: the compressor and the memory.
//!
//! One that is granted and alone is in force. Of several none is, until the user names one: load order never decides.

use crate::config::Config;
use crate::home::Home;
use capstan_agent::recall::RetrieveTool;
use capstan_agent::remember::{ForgetTool, RememberTool};
use capstan_engine::Extension;
use capstan_policy::name::skeleton;
use capstan_ports::extension::Power;
use capstan_ports::{CompressorPort, MemoryPort, SessionId, Tool, ToolDefinition};
use capstan_runtime::MemoryRetriever;
use capstan_storage::{MemoryFileError, REMEMBERED, SqliteMemory};
use std::sync::Arc;

/// The parts as they are played.
pub(crate) struct Roles {
    pub(crate) compressor: Option<Arc<dyn CompressorPort>>,
    /// The memory and whose it is.
    pub(crate) memory: Option<(String, Arc<dyn MemoryPort>)>,
    /// Whether the user's own memory is searched: no extension is the memory, and none was meant to be.
    pub(crate) own_memory: bool,
    /// What the user should know about parts that nobody plays.
    pub(crate) notices: Vec<String>,
}

/// Whom the user names for the parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    compressor: Option<String>,
    memory: Option<String>,
}

impl Wanted {
    pub(crate) fn of(config: &Config) -> Self {
        Self { compressor: config.compressor.clone(), memory: config.memory.clone() }
    }
}

/// Chooses among the extensions in force, for one session.
pub(crate) fn choose(active: &[Extension], wanted: &Wanted, session: &SessionId) -> Roles {
    let granted =
        |power: Power| active.iter().filter(move |extension| extension.effective().has_power(power));
    let compressors: Vec<_> = granted(Power::Compress)
        .flat_map(|extension| {
            let strategies = extension.compressors().into_iter();
            strategies.map(|(strategy, port)| (format!("{}/{strategy}", extension.id()), port))
        })
        .collect();
    let memories: Vec<_> = granted(Power::Remember)
        .filter_map(|extension: &Extension| Some((extension.id().to_string(), extension.memory(session)?)))
        .collect();
    let mut notices = Vec::new();
    let mut the_one = |part: &Part, names: Vec<&str>, wanted: Option<&str>| {
        pick(part, &names, wanted).unwrap_or_else(|notice| {
            notices.push(notice);
            None
        })
    };
    let compressor = the_one(&COMPRESSOR, names(&compressors), wanted.compressor.as_deref());
    let wants_none = wanted.memory.as_deref() == Some(NO_MEMORY);
    let memory = match wants_none {
        true => None,
        false => the_one(&MEMORY, names(&memories), wanted.memory.as_deref()),
    };
    Roles {
        own_memory: memories.is_empty() && wanted.memory.is_none(),
        compressor: compressor.map(|at| compressors[at].1.clone()),
        memory: memory.map(|at| memories[at].clone()),
        notices,
    }
}

/// The tool with which the model searches what the user keeps with `capstan memory`. It only finds: what is kept there the
/// user keeps. `None` while nothing is; the model's first request stays as small as it was.
///
/// # Errors
/// When the file cannot be read.
pub(crate) async fn own_memory(home: &Home) -> Result<Option<Arc<dyn Tool>>, MemoryFileError> {
    let memory = SqliteMemory::read_only(home.memory_file());
    if memory.count(REMEMBERED).await? == 0 {
        return Ok(None);
    }
    let tool = RetrieveTool::new(Arc::new(MemoryRetriever::over(Arc::new(memory))));
    Ok(Some(Arc::new(tool.with_description("Search the notes and documents that the user keeps for you."))))
}

/// Whether no tool has a name, or one that reads like it.
pub(crate) fn is_free(name: &str, taken: &[ToolDefinition]) -> bool {
    let wanted = skeleton(name);
    taken.iter().all(|other| skeleton(&other.name) != wanted)
}

/// The tools with which the model uses a memory. A tool of an extension that has the name, or one that reads like it, stays.
pub(crate) fn memory_tools(
    owner: &str,
    memory: &Arc<dyn MemoryPort>,
    taken: &[ToolDefinition],
) -> Vec<Arc<dyn Tool>> {
    let tools: [Arc<dyn Tool>; 3] = [
        Arc::new(RetrieveTool::new(memory.clone())),
        Arc::new(RememberTool::new(memory.clone(), owner)),
        Arc::new(ForgetTool::new(memory.clone(), owner)),
    ];
    tools.into_iter().filter(|tool| is_free(&tool.definition().name, taken)).collect()
}

fn names<T>(offers: &[(String, T)]) -> Vec<&str> {
    offers.iter().map(|(name, _)| name.as_str()).collect()
}

/// What the key `memory` says where nothing is to be remembered and the user's own memory not searched.
const NO_MEMORY: &str = "none";

/// A part that only one can play.
struct Part {
    /// Its key in the configuration.
    key: &'static str,
    /// What stands in its place.
    otherwise: &'static str,
}

const COMPRESSOR: Part = Part { key: "compressor", otherwise: "the built-in compaction is used" };
const MEMORY: Part = Part { key: "memory", otherwise: "nothing is remembered" };

/// The offer that is meant, by its position; the error is what the user should know.
fn pick(part: &Part, names: &[&str], wanted: Option<&str>) -> Result<Option<usize>, String> {
    let Part { key, otherwise } = part;
    let meant: Vec<usize> = (0..names.len())
        .filter(|at| {
            let name = names[*at];
            let owner = name.split_once('/').map_or(name, |(owner, _)| owner);
            wanted.is_none_or(|wanted| wanted == name || wanted == owner)
        })
        .collect();
    let list =
        |meant: &[usize]| meant.iter().map(|at| format!("\"{}\"", names[*at])).collect::<Vec<_>>().join(", ");
    match (meant.as_slice(), wanted) {
        ([one], _) => Ok(Some(*one)),
        ([], None) => Ok(None),
        ([], Some(wanted)) => {
            let all: Vec<usize> = (0..names.len()).collect();
            let there =
                if all.is_empty() { "there is none".to_owned() } else { format!("there is {}", list(&all)) };
            Err(format!(
                "config.toml says {key} = \"{wanted}\", but no extension in force is granted to be that ({there}); {otherwise}"
            ))
        }
        (several, _) => Err(format!(
            "several extensions could be the {key}: {}. Say {key} = {} in config.toml to choose; until then {otherwise}",
            list(several),
            list(&several[..1])
        )),
    }
}

#[cfg(test)]
#[path = "roles_tests.rs"]
mod tests;
