//! Guests made in the test from WebAssembly text: no toolchain, milliseconds, and attacks that no compiler would emit.
//!
//! A [`Guest`] writes its descriptor into a data segment in the component model's canonical layout and gives each exported
//! function the body that the test wants.

mod descriptor;

pub use descriptor::{Hook, Request, Tool};

use anyhow::{Context, Result};
use std::fmt::Write as _;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;
use wit_parser::abi::{AbiVariant, WasmType};

/// Where the descriptor's bytes begin. Below lie the answers that bodies return, above it the heap.
const DESCRIPTOR_AT: u32 = 4096;

/// The functions of an interface of the contract, each with its core type.
fn functions(resolve: &Resolve, interface: &str) -> Result<Vec<(String, String)>> {
    let known = resolve.interfaces.iter().map(|(_, known)| known);
    let found = known.into_iter().find(|known| {
        let package = known.package.map(|package| resolve.packages[package].name.to_string());
        known.name.as_deref() == Some(interface)
            && package.is_some_and(|name| name.starts_with("capstan:extension"))
    });
    let found = found.with_context(|| format!("the contract has no interface {interface}"))?;
    let words = |types: &[WasmType]| types.iter().map(|ty| core_type(*ty)).collect::<Vec<_>>().join(" ");
    Ok(found
        .functions
        .values()
        .map(|function| {
            let core = resolve.wasm_signature(AbiVariant::GuestExport, function);
            let mut ty = String::new();
            for (keyword, types) in [("param", &core.params), ("result", &core.results)] {
                if !types.is_empty() {
                    ty.push_str(&format!("({keyword} {}) ", words(types)));
                }
            }
            (function.name.clone(), ty)
        })
        .collect())
}

fn core_type(ty: WasmType) -> &'static str {
    match ty {
        WasmType::I32 | WasmType::Pointer | WasmType::Length => "i32",
        WasmType::I64 | WasmType::PointerOrI64 => "i64",
        WasmType::F32 => "f32",
        WasmType::F64 => "f64",
    }
}

/// A component under construction.
#[derive(Clone)]
pub struct Guest {
    /// The descriptor's id.
    pub id: String,
    /// Tools that it declares.
    pub tools: Vec<Tool>,
    /// Hooks that it declares.
    pub hooks: Vec<Hook>,
    /// Plan formats that it declares.
    pub plan_parsers: Vec<String>,
    /// Compaction strategies that it declares.
    pub compressors: Vec<String>,
    /// Slash commands that it declares.
    pub commands: Vec<String>,
    /// What it asks for.
    pub requests: Vec<Request>,
    /// `lifetime: session`.
    pub session_lifetime: bool,
    /// Pages of its memory at the start, 64 KiB each.
    pub memory_pages: u32,
    exports: Vec<(&'static str, String)>,
    imports: Vec<&'static str>,
    data: Vec<(u32, Vec<u8>)>,
    prelude: String,
    describe: Option<String>,
    allocate: Option<String>,
    timers: bool,
}

impl Guest {
    /// A component that only describes itself.
    pub fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            tools: Vec::new(),
            hooks: Vec::new(),
            plan_parsers: Vec::new(),
            compressors: Vec::new(),
            commands: Vec::new(),
            requests: Vec::new(),
            session_lifetime: false,
            memory_pages: 2,
            exports: Vec::new(),
            imports: Vec::new(),
            data: Vec::new(),
            prelude: String::new(),
            describe: None,
            allocate: None,
            timers: false,
        }
    }

    /// Declares a tool; its calls run `body`, which leaves a pointer to the result on the stack.
    pub fn tool(mut self, name: &str, body: &str) -> Self {
        self.tools.push(Tool::new(name));
        self.exports.retain(|(interface, _)| *interface != "tools");
        self.exports.push(("tools", body.to_owned()));
        self
    }

    /// Exports the gate; it runs `body`, which leaves a pointer to the verdict on the stack.
    pub fn gate(mut self, tools: &[&str], body: &str) -> Self {
        self.hooks.push(Hook::before_tool_call(tools));
        self.exports.push(("before-tool-call", body.to_owned()));
        self
    }

    /// Declares a plan format; `body` leaves a pointer to the result on the stack.
    pub fn plan_parser(mut self, name: &str, body: &str) -> Self {
        self.plan_parsers.push(name.to_owned());
        self.exports.push(("plan-parser", body.to_owned()));
        self
    }

    /// Declares a compaction strategy and asks for the power to compact; `body` leaves a pointer to the result on the stack.
    pub fn compressor(mut self, name: &str, body: &str) -> Self {
        self.compressors.push(name.to_owned());
        self.exports.push(("compressor", body.to_owned()));
        self.request(Request::Compress)
    }

    /// Exports the observer; `body` leaves nothing on the stack.
    pub fn observer(mut self, body: &str) -> Self {
        self.exports.push(("observer", body.to_owned()));
        self
    }

    /// Exports the memory and asks for the power to be one; `body` leaves a pointer to the result on the stack.
    pub fn memory(mut self, body: &str) -> Self {
        self.exports.push(("memory", body.to_owned()));
        self.request(Request::Remember)
    }

    /// Declares a slash command; `body` leaves a pointer to the result on the stack.
    pub fn command(mut self, name: &str, body: &str) -> Self {
        self.commands.push(name.to_owned());
        self.exports.retain(|(interface, _)| *interface != "commands");
        self.exports.push(("commands", body.to_owned()));
        self
    }

    /// Exports a hook with the defaults; it runs `body`, which answers what its interface wants.
    pub fn hook(mut self, interface: &'static str, body: &str) -> Self {
        self.exports.push((interface, body.to_owned()));
        self
    }

    /// Asks for something.
    pub fn request(mut self, request: Request) -> Self {
        self.requests.push(request);
        self
    }

    /// Replaces the body of `describe`, which leaves a pointer to the descriptor on the stack.
    pub fn describe_with(mut self, body: &str) -> Self {
        self.describe = Some(body.to_owned());
        self
    }

    /// A body for [`Guest::describe_with`] that answers the descriptor after all.
    pub fn describing(&self) -> String {
        format!("i32.const {}", descriptor::encode(self, DESCRIPTOR_AT).1)
    }

    /// Imports an interface of the contract; its functions are declared by `wat` in the core module.
    pub fn import(mut self, interface: &'static str, wat: &str) -> Self {
        self.imports.push(interface);
        self.prelude.push_str(wat);
        self
    }

    /// Imports WASI's timers as `$timer`, which takes nanoseconds and leaves a pollable, and `$wait`, which takes one.
    pub fn timers(mut self) -> Self {
        self.timers = true;
        self.prelude.push_str(
            "(import \"wasi:clocks/monotonic-clock@0.2.0\" \"subscribe-duration\" (func $timer (param i64) (result i32)))
             (import \"wasi:io/poll@0.2.0\" \"[method]pollable.block\" (func $wait (param i32)))",
        );
        self
    }

    /// Replaces the body of the allocator, which gets an old pointer, its size, an alignment and a new size.
    pub fn allocate_with(mut self, body: &str) -> Self {
        self.allocate = Some(body.to_owned());
        self
    }

    /// Runs `body` after the answer of an exported interface was read; it gets the pointer to that answer.
    pub fn afterwards(self, interface: &str, body: &str) -> Self {
        let function = if interface == "tools" { "call" } else { "run" };
        self.define(&format!(
            "(func (export \"cabi_post_capstan:extension/{interface}@0.1.0#{function}\") (param i32) {body})"
        ))
    }

    /// Adds core definitions (functions, globals).
    pub fn define(mut self, wat: &str) -> Self {
        self.prelude.push_str(wat);
        self
    }

    /// Puts bytes at an address below 4096.
    pub fn data(mut self, at: u32, bytes: &[u8]) -> Self {
        self.data.push((at, bytes.to_vec()));
        self
    }

    /// A body that answers a gate's verdict of this case (0 pass, 1 rewrite, 2 block, 3 defer, 4 ask) and text.
    pub fn verdict(self, case: u8, text: &str) -> (Self, String) {
        let guest = self.data(256, &pointer_pair(case, 320, text)).data(320, text.as_bytes());
        (guest, "i32.const 256".to_owned())
    }

    /// A body that answers a text, or with case 1 an error of this text. The layout is a verdict's.
    pub fn answer(self, case: u8, text: &str) -> (Self, String) {
        self.verdict(case, text)
    }

    /// A body that answers a tool result of one text.
    pub fn text_result(self, text: &str) -> (Self, String) {
        let mut result = vec![0, 0, 0, 0];
        result.extend(600u32.to_le_bytes()); // content: one element at 600
        result.extend(1u32.to_le_bytes());
        result.extend([0; 12]); // no details
        result.extend([0; 4]); // no error
        let guest = self.data(560, &result).data(600, &pointer_pair(0, 640, text)).data(640, text.as_bytes());
        (guest, "i32.const 560".to_owned())
    }

    /// The component's bytes.
    pub fn build(&self) -> Result<Vec<u8>> {
        self.build_for("0.1.0")
    }

    /// The component's bytes, against a contract that calls itself by another version.
    pub fn build_for(&self, version: &str) -> Result<Vec<u8>> {
        self.build_against(version, |contract| contract)
    }

    /// The component's bytes, against a contract that was changed.
    pub fn build_against(&self, version: &str, change: impl FnOnce(String) -> String) -> Result<Vec<u8>> {
        let mut resolve = Resolve::default();
        resolve.push_str("contract.wit", &change(merged(version)?))?;
        let mut world = String::from("package test:guest;\nworld guest {\n");
        if self.timers {
            resolve.push_str("io.wit", IO)?;
            resolve.push_str("clocks.wit", CLOCKS)?;
            world.push_str("import wasi:io/poll@0.2.0;\nimport wasi:clocks/monotonic-clock@0.2.0;\n");
        }
        for interface in &self.imports {
            writeln!(world, "import capstan:extension/{interface}@{version};")?;
        }
        writeln!(world, "export capstan:extension/extension@{version};")?;
        for (interface, _) in &self.exports {
            writeln!(world, "export capstan:extension/{interface}@{version};")?;
        }
        world.push('}');
        let package = resolve.push_str("guest.wit", &world)?;
        let world = resolve.select_world(&[package], Some("guest"))?;
        let mut module = wat::parse_str(self.core(version, &resolve)?)?;
        embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)?;
        ComponentEncoder::default().module(&module)?.validate(true).encode().context("encoding the guest")
    }

    fn core(&self, version: &str, resolve: &Resolve) -> Result<String> {
        let (descriptor, root) = descriptor::encode(self, DESCRIPTOR_AT);
        let mut wat = String::from("(module\n");
        wat.push_str(&self.prelude);
        writeln!(wat, "(memory (export \"memory\") {})", self.memory_pages)?;
        wat.push_str("(global $heap (mut i32) (i32.const 65536))\n");
        // A bump allocator that grows the memory when it must.
        let allocate = "(local.set $at (i32.and (i32.add (global.get $heap) (i32.const 7)) (i32.const -8)))
               (global.set $heap (i32.add (local.get $at) (local.get 3)))
               (if (i32.gt_u (global.get $heap) (i32.mul (memory.size) (i32.const 65536)))
                 (then (drop (memory.grow (i32.add (i32.div_u (local.get 3) (i32.const 65536)) (i32.const 1))))))
               (local.get $at)";
        let allocate = self.allocate.as_deref().unwrap_or(allocate);
        writeln!(
            wat,
            "(func (export \"cabi_realloc\") (param i32 i32 i32 i32) (result i32) (local $at i32) {allocate})"
        )?;
        let default = format!("i32.const {root}");
        let describe = self.describe.as_deref().unwrap_or(&default);
        writeln!(
            wat,
            "(func (export \"capstan:extension/extension@{version}#describe\") (result i32) {describe})"
        )?;
        for (interface, body) in &self.exports {
            for (function, ty) in functions(resolve, interface)? {
                writeln!(
                    wat,
                    "(func (export \"capstan:extension/{interface}@{version}#{function}\") {ty} {body})"
                )?;
            }
        }
        segment(&mut wat, DESCRIPTOR_AT, &descriptor)?;
        for (at, bytes) in &self.data {
            segment(&mut wat, *at, bytes)?;
        }
        wat.push(')');
        Ok(wat)
    }
}

/// As much of WASI as a timer needs.
const IO: &str = "package wasi:io@0.2.0;
interface poll { resource pollable { block: func(); } }";
const CLOCKS: &str = "package wasi:clocks@0.2.0;
interface monotonic-clock { use wasi:io/poll@0.2.0.{pollable}; subscribe-duration: func(when: u64) -> pollable; }";

/// A core module that is no component.
pub fn core_module() -> Result<Vec<u8>> {
    Ok(wat::parse_str("(module (func (export \"run\")))")?)
}

/// A case number, then pointer and length of a text: a verdict, or a piece of content.
fn pointer_pair(case: u8, at: u32, text: &str) -> Vec<u8> {
    let mut bytes = vec![case, 0, 0, 0];
    bytes.extend(at.to_le_bytes());
    bytes.extend((text.len() as u32).to_le_bytes());
    bytes
}

fn segment(wat: &mut String, at: u32, bytes: &[u8]) -> Result<()> {
    write!(wat, "(data (i32.const {at}) \"")?;
    for byte in bytes {
        write!(wat, "\\{byte:02x}")?;
    }
    wat.push_str("\")\n");
    Ok(())
}

/// All files of the contract as one, under another version.
fn merged(version: &str) -> Result<String> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../wit/v0.1");
    let mut merged = format!("package capstan:extension@{version};\n");
    let mut files: Vec<_> = std::fs::read_dir(directory)?.collect::<Result<_, _>>()?;
    files.sort_by_key(std::fs::DirEntry::file_name);
    for file in files {
        let text = std::fs::read_to_string(file.path())?;
        merged
            .extend(text.lines().filter(|line| !line.starts_with("package ")).flat_map(|line| [line, "\n"]));
    }
    Ok(merged)
}
