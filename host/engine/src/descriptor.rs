//! The contract's descriptor as a checked [`Descriptor`]. The text comes from a stranger and goes to the model and to the
//! user's screen, so it is held to a form: bounded, visible, and consistent with what the component exports.

use crate::abi::Interface;
use crate::bindings::exports::capstan::extension::extension as wit;
use crate::configuration;
use crate::error::LoadProblem;
use crate::import::printable;
use capstan_policy::program::ProgramRule;
use capstan_policy::{HttpRule, SecretBinding, name};
use capstan_ports::extension::{
    Access, Capability, CapabilityRequest, CommandDeclaration, Descriptor, ExtensionId, FailureRule,
    HookDeclaration, HookStage, Lifetime, Power,
};
use capstan_ports::tool::{Execution, ToolDefinition};
use serde_json::Value;
use std::collections::BTreeSet;

/// Raised whenever the rules below change: what was accepted by older ones is then checked again instead of being taken from
/// the cache.
pub(crate) const RULES: u32 = 3;

const MAX_DESCRIPTION_BYTES: usize = 8 << 10;
const MAX_LINE_BYTES: usize = 400;
const MAX_SCHEMA_BYTES: usize = 256 << 10;
/// Of each list in a descriptor. The largest real tool servers have some dozens of tools.
const MAX_ITEMS: usize = 128;

/// Checks and converts.
pub(crate) fn check(raw: wit::Descriptor, exports: &BTreeSet<Interface>) -> Result<Descriptor, LoadProblem> {
    let id: ExtensionId = raw.id.parse().map_err(|source| bad("id", source))?;
    line("version", &raw.version)?;
    line("summary", &raw.summary)?;
    let tools = tools(raw.tools)?;
    let needs = [
        (!tools.is_empty(), Interface::Tools, "tools"),
        (!raw.plan_parsers.is_empty(), Interface::PlanParser, "plan-parsers"),
        (!raw.compressors.is_empty(), Interface::Compressor, "compressors"),
        (!raw.commands.is_empty(), Interface::Commands, "commands"),
    ];
    for (declared, interface, part) in needs {
        if declared && !exports.contains(&interface) {
            return Err(bad(
                part,
                format!("it lists some, but the component does not export `{}`", interface.export_name()),
            ));
        }
    }
    if tools.is_empty() && exports.contains(&Interface::Tools) {
        return Err(bad("tools", "the component exports `tools`, but lists none"));
    }
    let hooks = hooks(raw.hooks, exports)?;
    let config_schema = raw.config_schema.map(|text| schema("config-schema", &text)).transpose()?;
    Ok(Descriptor {
        id,
        version: raw.version,
        summary: raw.summary,
        tools,
        hooks,
        plan_parsers: names("plan-parsers", raw.plan_parsers)?,
        compressors: names("compressors", raw.compressors)?,
        commands: commands(raw.commands)?,
        requests: requests(raw.requests)?,
        config_schema,
        lifetime: match raw.lifetime {
            wit::Lifetime::Call => Lifetime::Call,
            wit::Lifetime::Session => Lifetime::Session,
        },
    })
}

fn bad(subject: impl Into<String>, reason: impl ToString) -> LoadProblem {
    LoadProblem::Descriptor { subject: subject.into(), reason: reason.to_string() }
}

/// Bounded text without anything that a screen would act on or an eye would miss.
fn visible(subject: &str, text: &str, max_bytes: usize) -> Result<(), LoadProblem> {
    if text.len() > max_bytes {
        return Err(bad(subject, format!("it has {} bytes; at most {max_bytes} are allowed", text.len())));
    }
    if printable(text, max_bytes) != text {
        return Err(bad(subject, "it holds control, bidirectional or invisible characters"));
    }
    Ok(())
}

fn line(subject: &str, text: &str) -> Result<(), LoadProblem> {
    short(subject, text)?;
    if text.trim().is_empty() {
        return Err(bad(subject, "it must be one line of text"));
    }
    Ok(())
}

/// One line or nothing. A second line could pass for one of the host's own on the screen where the user decides.
fn short(subject: &str, text: &str) -> Result<(), LoadProblem> {
    visible(subject, text, MAX_LINE_BYTES)?;
    if text.contains(['\n', '\t']) {
        return Err(bad(subject, "it must be one line of text"));
    }
    Ok(())
}

/// Every text in a schema: the model reads them as it reads the description.
fn visible_within(subject: &str, value: &Value) -> Result<(), LoadProblem> {
    match value {
        Value::String(text) => visible(subject, text, MAX_SCHEMA_BYTES),
        Value::Array(items) => items.iter().try_for_each(|item| visible_within(subject, item)),
        Value::Object(fields) => fields.iter().try_for_each(|(key, value)| {
            visible(subject, key, MAX_SCHEMA_BYTES)?;
            visible_within(subject, value)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

fn bounded<T>(subject: &str, items: &[T]) -> Result<(), LoadProblem> {
    if items.len() > MAX_ITEMS {
        return Err(bad(subject, format!("it lists {}; at most {MAX_ITEMS} are allowed", items.len())));
    }
    Ok(())
}

fn tools(raw: Vec<wit::Tool>) -> Result<Vec<ToolDefinition>, LoadProblem> {
    bounded("tools", &raw)?;
    let mut seen = BTreeSet::new();
    raw.into_iter()
        .map(|tool| {
            let subject = format!("tool `{}`", printable(&tool.name, 80));
            name::check(&tool.name).map_err(|problem| bad(format!("{subject}: name"), problem))?;
            if !seen.insert(name::skeleton(&tool.name)) {
                return Err(bad(
                    subject,
                    "another tool of this extension has this name, or one that reads like it",
                ));
            }
            visible(&format!("{subject}: description"), &tool.description, MAX_DESCRIPTION_BYTES)?;
            if tool.description.trim().is_empty() {
                return Err(bad(
                    format!("{subject}: description"),
                    "the model needs one to know when to call",
                ));
            }
            short(&format!("{subject}: label"), &tool.label)?;
            let parameters = schema(&format!("{subject}: parameters"), &tool.parameters)?;
            if parameters.get("type").and_then(Value::as_str) != Some("object") {
                return Err(bad(format!("{subject}: parameters"), "the schema's `type` must be `object`"));
            }
            Ok(ToolDefinition {
                label: if tool.label.is_empty() { tool.name.clone() } else { tool.label },
                name: tool.name,
                description: tool.description,
                parameters,
                execution: match tool.execution {
                    wit::Execution::Parallel => Execution::Parallel,
                    wit::Execution::Sequential => Execution::Sequential,
                },
            })
        })
        .collect()
}

fn schema(subject: &str, text: &str) -> Result<Value, LoadProblem> {
    if text.len() > MAX_SCHEMA_BYTES {
        return Err(bad(
            subject,
            format!("it has {} bytes; at most {MAX_SCHEMA_BYTES} are allowed", text.len()),
        ));
    }
    let value: Value = serde_json::from_str(text)
        .map_err(|reason| bad(subject, format!("it is not valid JSON: {reason}")))?;
    if !value.is_object() {
        return Err(bad(subject, "it must be a JSON Schema object"));
    }
    visible_within(subject, &value)?;
    if let Some(reference) = remote_reference(&value) {
        return Err(bad(
            subject,
            format!(
                "it refers to `{}`; only references within the schema (`#…`) are followed",
                printable(reference, 200)
            ),
        ));
    }
    configuration::compile(&value).map_err(|reason| bad(subject, reason))?;
    Ok(value)
}

fn remote_reference(value: &Value) -> Option<&str> {
    match value {
        Value::Object(fields) => fields.iter().find_map(|(key, value)| match (key.as_str(), value) {
            ("$ref" | "$dynamicRef", Value::String(target)) if !target.starts_with('#') => {
                Some(target.as_str())
            }
            _ => remote_reference(value),
        }),
        Value::Array(items) => items.iter().find_map(remote_reference),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn hooks(raw: Vec<wit::Hook>, exports: &BTreeSet<Interface>) -> Result<Vec<HookDeclaration>, LoadProblem> {
    let mut declared = Vec::new();
    let mut seen = BTreeSet::new();
    for hook in raw {
        let (stage, interface) = stage(hook.stage);
        let subject = format!("hook `{}`", interface.name());
        if !exports.contains(&interface) {
            return Err(bad(subject, format!("the component does not export `{}`", interface.export_name())));
        }
        if !seen.insert(interface) {
            return Err(bad(subject, "it is listed twice"));
        }
        bounded(&subject, &hook.tools)?;
        for pattern in &hook.tools {
            short(&format!("{subject}: tools"), pattern)?;
            globset::Glob::new(pattern)
                .map_err(|reason| bad(format!("{subject}: tools"), format!("not a glob: {reason}")))?;
        }
        declared.push(HookDeclaration {
            stage,
            tools: hook.tools,
            priority: hook.priority,
            on_failure: match hook.on_failure {
                wit::FailureRule::Standard => FailureRule::Standard,
                wit::FailureRule::Closed => FailureRule::Closed,
            },
        });
    }
    // Exported but not listed: the defaults.
    for stage in HOOK_STAGES {
        let (stage, interface) = self::stage(stage);
        if exports.contains(&interface) && !seen.contains(&interface) {
            declared.push(HookDeclaration {
                stage,
                tools: Vec::new(),
                priority: 0,
                on_failure: FailureRule::Standard,
            });
        }
    }
    Ok(declared)
}

const HOOK_STAGES: [wit::Stage; 11] = [
    wit::Stage::BeforeTurn,
    wit::Stage::BeforeModel,
    wit::Stage::AfterModel,
    wit::Stage::ModelError,
    wit::Stage::BeforeToolCall,
    wit::Stage::AfterToolCall,
    wit::Stage::ToolError,
    wit::Stage::AfterTurn,
    wit::Stage::TurnError,
    wit::Stage::PlanStep,
    wit::Stage::SessionLifecycle,
];

fn stage(stage: wit::Stage) -> (HookStage, Interface) {
    match stage {
        wit::Stage::BeforeTurn => (HookStage::BeforeTurn, Interface::BeforeTurn),
        wit::Stage::BeforeModel => (HookStage::BeforeModel, Interface::BeforeModel),
        wit::Stage::AfterModel => (HookStage::AfterModel, Interface::AfterModel),
        wit::Stage::ModelError => (HookStage::ModelError, Interface::ModelError),
        wit::Stage::BeforeToolCall => (HookStage::BeforeToolCall, Interface::BeforeToolCall),
        wit::Stage::AfterToolCall => (HookStage::AfterToolCall, Interface::AfterToolCall),
        wit::Stage::ToolError => (HookStage::ToolError, Interface::ToolError),
        wit::Stage::AfterTurn => (HookStage::AfterTurn, Interface::AfterTurn),
        wit::Stage::TurnError => (HookStage::TurnError, Interface::TurnError),
        wit::Stage::PlanStep => (HookStage::PlanStep, Interface::PlanStep),
        wit::Stage::SessionLifecycle => (HookStage::SessionLifecycle, Interface::SessionLifecycle),
    }
}

fn names(subject: &str, raw: Vec<String>) -> Result<Vec<String>, LoadProblem> {
    bounded(subject, &raw)?;
    for name in &raw {
        name::check_form(name)
            .map_err(|problem| bad(format!("{subject} `{}`", printable(name, 80)), problem))?;
    }
    Ok(raw)
}

fn commands(raw: Vec<wit::Command>) -> Result<Vec<CommandDeclaration>, LoadProblem> {
    bounded("commands", &raw)?;
    raw.into_iter()
        .map(|command| {
            let subject = format!("command `{}`", printable(&command.name, 80));
            let fits = (1..=32).contains(&command.name.len())
                && command.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
            if !fits {
                return Err(bad(subject, "the name must be 1 to 32 of a-z, 0-9 and -"));
            }
            line(&format!("{subject}: description"), &command.description)?;
            Ok(CommandDeclaration { name: command.name, description: command.description })
        })
        .collect()
}

fn requests(raw: Vec<wit::Request>) -> Result<Vec<CapabilityRequest>, LoadProblem> {
    bounded("requests", &raw)?;
    raw.into_iter()
        .map(|request| {
            let capability = capability(request.capability);
            let subject = format!("request to {}", printable(&capability.to_string(), 200));
            line(&subject, &capability.to_string())?;
            line(&format!("{subject}: reason"), &request.reason)?;
            grantable(&subject, &capability)?;
            Ok(CapabilityRequest { capability, reason: request.reason, required: request.required })
        })
        .collect()
}

/// Whether a request could be granted at all, so that the author hears of it and not the user.
fn grantable(subject: &str, capability: &Capability) -> Result<(), LoadProblem> {
    match capability {
        Capability::Http { pattern, methods } => {
            HttpRule::new(pattern, methods).map(drop).map_err(|reason| bad(subject, reason))
        }
        Capability::Secret { name, endpoint } => {
            SecretBinding::new(name, endpoint).map(drop).map_err(|reason| bad(subject, reason))
        }
        Capability::Process { program } => {
            ProgramRule::parse(program).map(drop).map_err(|reason| bad(subject, reason))
        }
        Capability::Directory { .. }
        | Capability::Environment { .. }
        | Capability::Model { .. }
        | Capability::KeyValue { .. }
        | Capability::SessionMemory
        | Capability::Power { .. } => Ok(()),
    }
}

fn capability(capability: wit::Capability) -> Capability {
    match capability {
        wit::Capability::Directory(directory) => Capability::Directory {
            path: directory.path,
            access: match directory.access {
                wit::Access::ReadOnly => Access::ReadOnly,
                wit::Access::ReadWrite => Access::ReadWrite,
            },
        },
        wit::Capability::Http(endpoint) => {
            Capability::Http { pattern: endpoint.pattern, methods: endpoint.methods }
        }
        wit::Capability::Secret(secret) => {
            Capability::Secret { name: secret.name, endpoint: secret.endpoint }
        }
        wit::Capability::Environment(name) => Capability::Environment { name },
        wit::Capability::Process(program) => Capability::Process { program },
        wit::Capability::Model(tokens) => Capability::Model { tokens },
        wit::Capability::KeyValue(bytes) => Capability::KeyValue { bytes },
        wit::Capability::SessionMemory => Capability::SessionMemory,
        wit::Capability::Power(power) => Capability::Power {
            power: match power {
                wit::Power::RewriteArguments => Power::RewriteArguments,
                wit::Power::RewriteResult => Power::RewriteResult,
                wit::Power::RewriteContext => Power::RewriteContext,
                wit::Power::Compress => Power::Compress,
                wit::Power::Remember => Power::Remember,
            },
        },
    }
}

#[cfg(test)]
#[path = "descriptor_tests.rs"]
mod tests;
