//! What an extension says about itself, and what it asks the user for.

use crate::bindings::contract::exports::capstan::extension::extension as contract;
use crate::hook::{Hook, Stage};
use crate::role::{Command, Compressor, PlanParser};
use crate::tool::Tool;

pub use contract::{Access, Capability, Descriptor, Directory, Endpoint, Lifetime, Power, Request, Secret};

impl Request {
    fn new(capability: Capability, reason: &str) -> Self {
        Self { capability, reason: reason.to_owned(), required: true }
    }

    /// To read files below a directory: absolute, `~/…`, or `.` and below for the workspace. The extension sees the
    /// workspace at `/workspace` and any other directory at its own path.
    ///
    /// As everywhere below, the user reads `reason` word for word: one sentence that says what it is for.
    #[must_use]
    pub fn read_directory(path: &str, reason: &str) -> Self {
        let directory = Directory { path: path.to_owned(), access: Access::ReadOnly };
        Self::new(Capability::Directory(directory), reason)
    }

    /// To read and change files below a directory.
    #[must_use]
    pub fn write_directory(path: &str, reason: &str) -> Self {
        let directory = Directory { path: path.to_owned(), access: Access::ReadWrite };
        Self::new(Capability::Directory(directory), reason)
    }

    /// To send HTTP requests: `scheme://host[:port]`, where the host may start with `*.`, and upper-case methods (none:
    /// `GET` and `HEAD`). `capstan_sdk::http` (feature `http`) sends them.
    #[must_use]
    pub fn http(pattern: &str, methods: &[&str], reason: &str) -> Self {
        let methods = methods.iter().map(|method| (*method).to_owned()).collect();
        Self::new(Capability::Http(Endpoint { pattern: pattern.to_owned(), methods }), reason)
    }

    /// To use a credential that the user stored under `name`, toward one `https` endpoint, which needs [`Request::http`]
    /// too. The extension only ever holds a placeholder,
    /// [`secret::Secret`](crate::secret::Secret): it writes `{{secret:NAME}}` into the value of a request header, as in
    /// `Bearer {{secret:NAME}}`, and the host puts the value in its place.
    #[must_use]
    pub fn secret(name: &str, endpoint: &str, reason: &str) -> Self {
        let secret = Secret { name: name.to_owned(), endpoint: endpoint.to_owned() };
        Self::new(Capability::Secret(secret), reason)
    }

    /// To read one environment variable.
    #[must_use]
    pub fn environment(name: &str, reason: &str) -> Self {
        Self::new(Capability::Environment(name.to_owned()), reason)
    }

    /// To run a program: a glob over its file name or absolute path.
    #[must_use]
    pub fn process(program: &str, reason: &str) -> Self {
        Self::new(Capability::Process(program.to_owned()), reason)
    }

    /// To call the host's model for at most this many tokens a turn.
    #[must_use]
    pub fn model(tokens: u32, reason: &str) -> Self {
        Self::new(Capability::Model(tokens), reason)
    }

    /// To keep at most this many bytes of its own.
    #[must_use]
    pub fn key_value(bytes: u32, reason: &str) -> Self {
        Self::new(Capability::KeyValue(bytes), reason)
    }

    /// To put facts of the session into the agent's prompt.
    #[must_use]
    pub fn session_memory(reason: &str) -> Self {
        Self::new(Capability::SessionMemory, reason)
    }

    /// To have a say over the conversation.
    #[must_use]
    pub fn power(power: Power, reason: &str) -> Self {
        Self::new(Capability::Power(power), reason)
    }

    /// The extension works without it, only less.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.required = false;
        self
    }
}

/// Collects the fields of [`extension!`](crate::extension!); not for authors.
#[doc(hidden)]
pub struct Builder(Descriptor);

#[doc(hidden)]
impl Builder {
    #[must_use]
    pub fn new(id: &str, version: &str) -> Self {
        Self(Descriptor {
            id: id.to_owned(),
            version: version.to_owned(),
            summary: String::new(),
            tools: Vec::new(),
            hooks: Vec::new(),
            plan_parsers: Vec::new(),
            compressors: Vec::new(),
            commands: Vec::new(),
            requests: Vec::new(),
            config_schema: None,
            lifetime: Lifetime::Call,
        })
    }

    pub fn id(&mut self, id: &str) {
        self.0.id = id.to_owned();
    }

    pub fn version(&mut self, version: &str) {
        self.0.version = version.to_owned();
    }

    pub fn summary(&mut self, summary: &str) {
        self.0.summary = summary.to_owned();
    }

    pub fn lifetime(&mut self, lifetime: Lifetime) {
        self.0.lifetime = lifetime;
    }

    pub fn config(&mut self, schema: String) {
        self.0.config_schema = Some(schema);
    }

    pub fn requests(&mut self, requests: impl IntoIterator<Item = Request>) {
        self.0.requests.extend(requests);
    }

    pub fn tools(&mut self, tools: impl IntoIterator<Item = Tool>) {
        self.0.tools.extend(tools.into_iter().map(Tool::into_contract));
    }

    pub fn hook<F: Copy>(&mut self, stage: Stage, hook: &Hook<F>) {
        self.0.hooks.push(hook.describe(stage));
    }

    pub fn plan_parsers(&mut self, parsers: impl IntoIterator<Item = PlanParser>) {
        self.0.plan_parsers.extend(parsers.into_iter().map(|parser| parser.name.to_owned()));
    }

    pub fn compressors(&mut self, compressors: impl IntoIterator<Item = Compressor>) {
        self.0.compressors.extend(compressors.into_iter().map(|compressor| compressor.name.to_owned()));
    }

    pub fn commands(&mut self, commands: impl IntoIterator<Item = Command>) {
        self.0.commands.extend(commands.into_iter().map(|command| contract::Command {
            name: command.name.to_owned(),
            description: command.description.to_owned(),
        }));
    }

    #[must_use]
    pub fn finish(self) -> Descriptor {
        self.0
    }
}
