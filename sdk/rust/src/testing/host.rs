//! The host around an extension in a native test, and what it was told.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Value, json};

#[cfg(feature = "http")]
use crate::http;
use crate::log::Level;
use crate::native;
use crate::process::{Command, Outcome};
use crate::types::{HostError, Message};

/// A program that a fake host "runs".
type Program = Rc<dyn Fn(&Command) -> Result<Outcome, HostError>>;
/// A model that a fake host "asks".
type Model = Rc<dyn Fn(&[Message], u32) -> Result<String, HostError>>;
/// Servers that a fake host "reaches".
#[cfg(feature = "http")]
type Server = Rc<dyn Fn(&http::Request) -> Result<http::Response, http::Error>>;

/// A fake host. Storage and session memory work at once; programs, the model and HTTP are denied until a test gives them.
///
/// # Examples
///
/// ```
/// use capstan_sdk::testing::Host;
/// use capstan_sdk::{store, types::HostError};
///
/// let host = Host::new().stored("count", "1");
/// let (count, told) = host.run(|| {
///     store::put("count", &2)?;
///     store::load::<u32>("count")
/// });
/// assert_eq!(count.unwrap(), Some(2));
/// assert_eq!(told.store_writes, [("count".to_owned(), Some(b"2".to_vec()))]);
///
/// // What the extension does where the user grants nothing:
/// let (refused, _) = Host::new().deny_storage().run(|| store::get("count"));
/// assert_eq!(refused, Err(HostError::Denied("key-value".to_owned())));
/// ```
#[derive(Clone)]
#[must_use = "a fake host takes part in nothing until it runs a test"]
pub struct Host {
    pub(crate) config: Value,
    pub(crate) cancelled: bool,
    pub(crate) stored: BTreeMap<String, Vec<u8>>,
    pub(crate) facts: BTreeMap<String, String>,
    pub(crate) denies_storage: bool,
    pub(crate) denies_facts: bool,
    pub(crate) program: Option<Program>,
    pub(crate) model: Option<Model>,
    #[cfg(feature = "http")]
    pub(crate) http: Option<Server>,
}

/// What an extension told a fake host, and what it asked of it, each in its order. What was denied is here too.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recorded {
    /// Log lines.
    pub logs: Vec<(Level, String)>,
    /// Progress reports.
    pub progress: Vec<String>,
    /// Own events: label and JSON text.
    pub events: Vec<(String, String)>,
    /// Changes of the storage: the key, and the bytes or `None` where it was removed.
    pub store_writes: Vec<(String, Option<Vec<u8>>)>,
    /// Changes of the session memory: the key, and the fact or `None` where it was removed.
    pub fact_writes: Vec<(String, Option<String>)>,
    /// Programs.
    pub programs: Vec<Command>,
    /// Questions to the model: the messages and the most tokens of the answer.
    pub questions: Vec<(Vec<Message>, u32)>,
    /// HTTP requests, each hop of a redirect by itself.
    #[cfg(feature = "http")]
    pub requests: Vec<http::Request>,
}

impl Recorded {
    /// The texts of the log lines of one level.
    ///
    /// ```
    /// use capstan_sdk::log::{self, Level};
    /// use capstan_sdk::testing::Host;
    ///
    /// let (_, told) = Host::new().run(|| log::warn!("{} left", 1));
    /// assert_eq!(told.lines(Level::Warn), ["1 left"]);
    /// ```
    #[must_use]
    pub fn lines(&self, level: Level) -> Vec<&str> {
        self.logs.iter().filter(|(of, _)| *of == level).map(|(_, line)| line.as_str()).collect()
    }
}

impl Host {
    /// A host with an empty configuration.
    pub fn new() -> Self {
        Self {
            config: json!({}),
            cancelled: false,
            stored: BTreeMap::new(),
            facts: BTreeMap::new(),
            denies_storage: false,
            denies_facts: false,
            program: None,
            model: None,
            #[cfg(feature = "http")]
            http: None,
        }
    }

    /// The extension's table of the configuration, a JSON object.
    pub fn config(mut self, table: Value) -> Self {
        self.config = table;
        self
    }

    /// The user has aborted.
    pub fn cancelled(mut self) -> Self {
        self.cancelled = true;
        self
    }

    /// What the storage already holds.
    pub fn stored(mut self, key: &str, value: impl Into<Vec<u8>>) -> Self {
        self.stored.insert(key.to_owned(), value.into());
        self
    }

    /// A fact that the session memory already holds.
    pub fn fact(mut self, key: &str, value: &str) -> Self {
        self.facts.insert(key.to_owned(), value.to_owned());
        self
    }

    /// The user did not grant [`Request::key_value`](crate::Request::key_value): [`store`](crate::store) is denied.
    pub fn deny_storage(mut self) -> Self {
        self.denies_storage = true;
        self
    }

    /// The user did not grant [`Request::session_memory`](crate::Request::session_memory).
    pub fn deny_session_memory(mut self) -> Self {
        self.denies_facts = true;
        self
    }

    /// Grants every program and answers for it. To deny one, answer [`HostError::Denied`].
    ///
    /// ```
    /// use capstan_sdk::process::{Command, Outcome};
    /// use capstan_sdk::testing::Host;
    ///
    /// let host = Host::new().program(|_| Ok(Outcome::new(0, "main\n")));
    /// let (outcome, told) = host.run(|| Command::new("git", ["branch", "--show-current"]).run());
    /// assert_eq!(outcome.unwrap().stdout, b"main\n");
    /// assert_eq!(told.programs[0].arguments, ["branch", "--show-current"]);
    /// ```
    pub fn program(mut self, run: impl Fn(&Command) -> Result<Outcome, HostError> + 'static) -> Self {
        self.program = Some(Rc::new(run));
        self
    }

    /// Grants the model and answers for it.
    ///
    /// ```
    /// use capstan_sdk::{model, testing::Host};
    ///
    /// let host = Host::new().model(|_, _| Ok("Paris".to_owned()));
    /// let (answer, told) = host.run(|| model::ask("The capital of France?", 5));
    /// assert_eq!(answer.unwrap(), "Paris");
    /// assert_eq!(told.questions[0].0[0].text(), "The capital of France?");
    /// ```
    pub fn model(mut self, answer: impl Fn(&[Message], u32) -> Result<String, HostError> + 'static) -> Self {
        self.model = Some(Rc::new(answer));
        self
    }

    /// Grants every HTTP request and answers for it. To deny one, answer [`http::Error::denied`].
    ///
    /// ```
    /// use capstan_sdk::{http, testing::Host};
    ///
    /// let host = Host::new().http(|request| match request.method.as_str() {
    ///     "GET" => Ok(http::Response::new(200, "hi").with_header("content-type", "text/plain")),
    ///     _ => Err(http::Error::denied(request)),
    /// });
    /// let (answer, _) = host.run(|| http::get("https://example.com"));
    /// assert_eq!(answer.unwrap().header("Content-Type"), Some("text/plain"));
    /// ```
    #[cfg(feature = "http")]
    pub fn http(
        mut self,
        answer: impl Fn(&http::Request) -> Result<http::Response, http::Error> + 'static,
    ) -> Self {
        self.http = Some(Rc::new(answer));
        self
    }

    /// Runs a test with this host, on this thread, and says what the host was told.
    ///
    /// # Panics
    ///
    /// Where the test does; the previous host is back then, too.
    pub fn run<T>(self, test: impl FnOnce() -> T) -> (T, Recorded) {
        /// Puts the previous host back, also when the test fails.
        struct Restore(Option<native::State>);

        impl Drop for Restore {
            fn drop(&mut self) {
                if let Some(previous) = self.0.take() {
                    native::swap(previous);
                }
            }
        }

        let mut restore =
            Restore(Some(native::swap(native::State { host: self, recorded: Recorded::default() })));
        let value = test();
        let recorded = match restore.0.take() {
            Some(previous) => native::swap(previous).recorded,
            None => Recorded::default(),
        };
        (value, recorded)
    }
}

impl Default for Host {
    fn default() -> Self {
        Self::new()
    }
}
