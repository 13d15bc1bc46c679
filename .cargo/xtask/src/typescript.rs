//! The contract's types in TypeScript, for the JavaScript SDK.

use crate::run::Workspace;
use crate::tests::Bindings;
use anyhow::{Context, Result, bail};
use std::fmt::Write as _;
use wit_parser::{Docs, Function, Interface, Resolve, Type, TypeDef, TypeDefKind, TypeId, TypeOwner};

/// The one generated file of the JavaScript SDK.
const FILE: &str = "sdk/javascript/types/contract.d.ts";

const HEADER: &str = "\
// Generated from wit/ by `cargo xtask bindings`; do not edit.
//
// The contract as the engines show it: a namespace for each interface, with its functions in `Functions`. JSON travels as text. What is
// absent is `null` or `undefined`, depending on the engine. An error of a function is thrown.
";

/// Writes the file, or fails if it is not what the contract gives.
pub(crate) fn bindings(workspace: &Workspace, what: Bindings) -> Result<()> {
    let path = workspace.path(FILE);
    let text = generate(workspace)?;
    match what {
        Bindings::Write => {
            std::fs::write(&path, text).with_context(|| format!("{FILE} cannot be written"))?;
        }
        Bindings::Check => {
            let committed =
                std::fs::read_to_string(&path).with_context(|| format!("{FILE} cannot be read"))?;
            if committed != text {
                bail!("{FILE} is out of date: run `cargo xtask bindings` and commit the result");
            }
        }
    }
    Ok(())
}

fn generate(workspace: &Workspace) -> Result<String> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(workspace.path("wit/v0.1"))?;
    let mut text = HEADER.to_owned();
    for id in resolve.packages[package].interfaces.values() {
        interface(&resolve, &resolve.interfaces[*id], &mut text)?;
    }
    Ok(text)
}

fn interface(resolve: &Resolve, interface: &Interface, text: &mut String) -> Result<()> {
    let name = camel(interface.name.as_deref().context("an interface without a name")?);
    text.push('\n');
    docs(&interface.docs, "", text);
    writeln!(text, "export namespace {name} {{")?;
    for id in interface.types.values() {
        // What an interface takes from another is named there.
        if origin(resolve, *id) == *id {
            definition(resolve, &resolve.types[*id], text)?;
        }
    }
    writeln!(text, "  interface Functions {{")?;
    for function in interface.functions.values() {
        signature(resolve, function, text)?;
    }
    writeln!(text, "  }}\n}}")?;
    Ok(())
}

fn definition(resolve: &Resolve, definition: &TypeDef, text: &mut String) -> Result<()> {
    docs(&definition.docs, "  ", text);
    let name = pascal(definition.name.as_deref().context("a type without a name")?);
    match &definition.kind {
        TypeDefKind::Record(record) => {
            writeln!(text, "  interface {name} {{")?;
            for field in &record.fields {
                docs(&field.docs, "    ", text);
                let mark = if option(resolve, &field.ty).is_some() { "?" } else { "" };
                writeln!(text, "    {}{mark}: {};", camel(&field.name), name_of(resolve, &field.ty)?)?;
            }
            writeln!(text, "  }}")?;
        }
        TypeDefKind::Enum(choice) => {
            writeln!(text, "  type {name} =")?;
            for case in &choice.cases {
                docs(&case.docs, "    ", text);
                writeln!(text, "    | \"{}\"", case.name)?;
            }
            end(text);
        }
        TypeDefKind::Variant(variant) => {
            writeln!(text, "  type {name} =")?;
            for case in &variant.cases {
                docs(&case.docs, "    ", text);
                let value = match &case.ty {
                    Some(ty) => format!("val: {}", name_of(resolve, ty)?),
                    None => "val?: undefined".to_owned(),
                };
                writeln!(text, "    | {{ tag: \"{}\"; {value} }}", case.name)?;
            }
            end(text);
        }
        other => bail!("{name} is {}, for which there is no TypeScript here", other.as_str()),
    }
    Ok(())
}

/// Ends a list of alternatives.
fn end(text: &mut String) {
    text.truncate(text.trim_end().len());
    text.push_str(";\n");
}

fn signature(resolve: &Resolve, function: &Function, text: &mut String) -> Result<()> {
    docs(&function.docs, "    ", text);
    let mut parameters = Vec::new();
    for parameter in &function.params {
        parameters.push(format!("{}: {}", camel(&parameter.name), name_of(resolve, &parameter.ty)?));
    }
    let answer = match function.result {
        None => "void".to_owned(),
        Some(Type::Id(id)) => match &resolve.types[id].kind {
            TypeDefKind::Result(result) => match &result.ok {
                Some(ok) => name_of(resolve, ok)?,
                None => "void".to_owned(),
            },
            _ => name_of(resolve, &Type::Id(id))?,
        },
        Some(ty) => name_of(resolve, &ty)?,
    };
    writeln!(text, "    {}({}): {answer};", camel(&function.name), parameters.join(", "))?;
    Ok(())
}

fn name_of(resolve: &Resolve, ty: &Type) -> Result<String> {
    let id = match ty {
        Type::Bool => return Ok("boolean".to_owned()),
        Type::String | Type::Char => return Ok("string".to_owned()),
        Type::U8 | Type::U16 | Type::U32 | Type::S8 | Type::S16 | Type::S32 | Type::F32 | Type::F64 => {
            return Ok("number".to_owned());
        }
        Type::Id(id) => origin(resolve, *id),
        other => bail!("{other:?} has no TypeScript here: the engines differ about it"),
    };
    let definition = &resolve.types[id];
    Ok(match &definition.kind {
        TypeDefKind::List(Type::U8) => "Uint8Array".to_owned(),
        TypeDefKind::List(item) => format!("{}[]", name_of(resolve, item)?),
        TypeDefKind::Option(value) => format!("{} | null | undefined", name_of(resolve, value)?),
        TypeDefKind::Tuple(tuple) => {
            let items: Result<Vec<_>> = tuple.types.iter().map(|item| name_of(resolve, item)).collect();
            format!("[{}]", items?.join(", "))
        }
        _ => {
            let TypeOwner::Interface(owner) = definition.owner else { bail!("a type outside of interfaces") };
            let owner = resolve.interfaces[owner].name.as_deref().context("an interface without a name")?;
            let name = definition.name.as_deref().context("a type without a name")?;
            format!("{}.{}", camel(owner), pascal(name))
        }
    })
}

/// The type that a name stands for, through every `use`.
fn origin(resolve: &Resolve, id: TypeId) -> TypeId {
    match resolve.types[id].kind {
        TypeDefKind::Type(Type::Id(other)) => origin(resolve, other),
        _ => id,
    }
}

fn option<'a>(resolve: &'a Resolve, ty: &Type) -> Option<&'a Type> {
    let Type::Id(id) = ty else { return None };
    match &resolve.types[*id].kind {
        TypeDefKind::Option(value) => Some(value),
        _ => None,
    }
}

fn docs(docs: &Docs, indent: &str, text: &mut String) {
    let Some(contents) = docs.contents.as_deref().map(str::trim).filter(|contents| !contents.is_empty())
    else {
        return;
    };
    // What would end the comment early.
    let contents = contents.replace("*/", "*\\/");
    let lines: Vec<&str> = contents.lines().collect();
    match lines.as_slice() {
        [line] => text.push_str(&format!("{indent}/** {line} */\n")),
        lines => {
            text.push_str(&format!("{indent}/**\n"));
            for line in lines {
                text.push_str(format!("{indent} * {line}").trim_end());
                text.push('\n');
            }
            text.push_str(&format!("{indent} */\n"));
        }
    }
}

fn pascal(name: &str) -> String {
    name.split('-')
        .map(|word| {
            word.chars().take(1).flat_map(char::to_uppercase).chain(word.chars().skip(1)).collect::<String>()
        })
        .collect()
}

fn camel(name: &str) -> String {
    let name = pascal(name);
    name.chars().take(1).flat_map(char::to_lowercase).chain(name.chars().skip(1)).collect()
}
