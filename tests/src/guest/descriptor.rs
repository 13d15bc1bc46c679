//! A descriptor's bytes in the canonical layout of the component model.

use super::Guest;

/// A tool as the guest declares it.
#[derive(Clone)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// For screens.
    pub label: String,
    /// Its description.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: String,
    /// Whether its calls run alone.
    pub sequential: bool,
}

impl Tool {
    /// A tool that takes any object.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            label: String::new(),
            description: format!("The tool {name}."),
            parameters: r#"{"type":"object"}"#.to_owned(),
            sequential: false,
        }
    }
}

/// A hook as the guest declares it.
#[derive(Clone)]
pub struct Hook {
    stage: u8,
    tools: Vec<String>,
    /// Lower runs earlier.
    pub priority: i32,
}

impl Hook {
    /// A gate for these tools.
    pub fn before_tool_call(tools: &[&str]) -> Self {
        Self { stage: 4, tools: tools.iter().map(|&tool| tool.to_owned()).collect(), priority: 0 }
    }
}

/// A request as the guest makes it; always required.
#[derive(Clone)]
pub enum Request {
    /// Read-only files.
    Directory(String),
    /// To read at an endpoint.
    Http(String),
    /// A secret of this name toward an endpoint.
    Secret(String, String),
    /// Storage.
    KeyValue(u32),
    /// The power to rewrite arguments.
    RewriteArguments,
    /// The power to replace old messages.
    Compress,
    /// The power to be the memory.
    Remember,
}

/// Places bytes one after another and hands out their addresses.
struct Layout {
    base: u32,
    bytes: Vec<u8>,
}

impl Layout {
    fn place(&mut self, bytes: &[u8]) -> u32 {
        while !self.bytes.len().is_multiple_of(4) {
            self.bytes.push(0);
        }
        let at = self.base + self.bytes.len() as u32;
        self.bytes.extend_from_slice(bytes);
        at
    }

    /// Pointer and length of a text.
    fn text(&mut self, text: &str) -> Vec<u8> {
        let at = self.place(text.as_bytes());
        pair(at, text.len())
    }

    /// Pointer and length of a list whose elements are laid out already.
    fn list(&mut self, elements: &[Vec<u8>]) -> Vec<u8> {
        let at = self.place(&elements.concat());
        pair(at, elements.len())
    }
}

fn pair(at: u32, len: usize) -> Vec<u8> {
    [at.to_le_bytes(), (len as u32).to_le_bytes()].concat()
}

/// A byte and the padding to the next word.
fn word(byte: u8) -> Vec<u8> {
    vec![byte, 0, 0, 0]
}

/// The bytes, which belong at `base`, and the address of the descriptor in them.
pub(super) fn encode(guest: &Guest, base: u32) -> (Vec<u8>, u32) {
    let mut layout = Layout { base, bytes: Vec::new() };
    let tools: Vec<_> = guest
        .tools
        .iter()
        .map(|tool| {
            [
                layout.text(&tool.name),
                layout.text(&tool.label),
                layout.text(&tool.description),
                layout.text(&tool.parameters),
                word(tool.sequential.into()),
            ]
            .concat()
        })
        .collect();
    let hooks: Vec<_> = guest
        .hooks
        .iter()
        .map(|hook| {
            let globs: Vec<_> = hook.tools.iter().map(|tool| layout.text(tool)).collect();
            [word(hook.stage), layout.list(&globs), hook.priority.to_le_bytes().to_vec(), word(0)].concat()
        })
        .collect();
    let requests: Vec<_> = guest
        .requests
        .iter()
        .map(|request| {
            let (case, payload) = match request {
                Request::Directory(path) => (0, [layout.text(path), word(0), vec![0; 4]].concat()),
                Request::Http(pattern) => (1, [layout.text(pattern), pair(base, 0)].concat()),
                Request::Secret(name, endpoint) => (2, [layout.text(name), layout.text(endpoint)].concat()),
                Request::KeyValue(bytes) => (6, [bytes.to_le_bytes().to_vec(), vec![0; 12]].concat()),
                Request::RewriteArguments => (8, vec![0; 16]),
                Request::Compress => (8, [word(3), vec![0; 12]].concat()),
                Request::Remember => (8, [word(4), vec![0; 12]].concat()),
            };
            [word(case), payload, layout.text("for the test"), word(1)].concat()
        })
        .collect();
    let mut texts = |texts: &[String]| {
        let laid: Vec<_> = texts.iter().map(|text| layout.text(text)).collect();
        layout.list(&laid)
    };
    let (plan_parsers, compressors) = (texts(&guest.plan_parsers), texts(&guest.compressors));
    let commands: Vec<_> = guest
        .commands
        .iter()
        .map(|name| [layout.text(name), layout.text(&format!("The command {name}."))].concat())
        .collect();
    let descriptor = [
        layout.text(&guest.id),
        layout.text("1.0.0"),
        layout.text("A guest made in a test"),
        layout.list(&tools),
        layout.list(&hooks),
        plan_parsers,
        compressors,
        layout.list(&commands),
        layout.list(&requests),
        vec![0; 12],
        word(guest.session_lifetime.into()),
    ]
    .concat();
    let at = layout.place(&descriptor);
    (layout.bytes, at)
}
