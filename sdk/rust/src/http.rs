//! HTTP requests, one after another. Needs [`Request::http`](crate::Request::http) for each endpoint.
//!
//! The feature `http` of the SDK turns this on:
//!
//! ```toml
//! capstan-sdk = { path = "../../sdk/rust", features = ["http"] }
//! ```
//!
//! It works on both targets. The host makes the connection, checks certificates, and refuses whatever the user did not
//! grant: another host, another method, an address of the local network. An answer with an error status is an answer, not
//! an [`Error`].
//!
//! ```
//! use capstan_sdk::http;
//! use capstan_sdk::prelude::*;
//! use capstan_sdk::testing::Host;
//!
//! #[derive(Deserialize)]
//! struct Release {
//!     tag_name: String,
//! }
//!
//! fn newest() -> Result<String> {
//!     let answer = http::get("https://api.example.com/releases/latest")?;
//!     if !answer.is_success() {
//!         return Err(Error::new(format!("the server answered {}", answer.status)));
//!     }
//!     Ok(answer.json::<Release>()?.tag_name)
//! }
//!
//! // A test, natively: the fake host answers, and keeps what was asked.
//! let host = Host::new().http(|_| Ok(http::Response::new(200, r#"{ "tag_name": "v2" }"#)));
//! let (tag, told) = host.run(newest);
//! assert_eq!(tag.unwrap(), "v2");
//! assert_eq!(told.requests[0].url, "https://api.example.com/releases/latest");
//!
//! // Without an answer the request is denied, as without a grant.
//! assert!(newest().unwrap_err().message().contains("Request::http(\"https://api.example.com\", &[]"));
//! ```
//!
//! # Credentials
//!
//! An extension never holds the value of a secret. It writes a placeholder into the value of a header, and the host puts
//! the value in its place: see [`secret`](crate::secret).

mod error;
pub(crate) mod url;
#[cfg(target_arch = "wasm32")]
pub(crate) mod wasi;

use std::borrow::Cow;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use error::Error;
use url::Url;

use crate::{host, json};

/// The most bytes of an answer's body that are read unless [`Request::max_bytes`] says otherwise: 4 MiB.
pub const MAX_BYTES: usize = 4 << 20;

/// Asks for an address with `GET`, within the standard limits.
///
/// # Errors
///
/// As [`Request::send`].
///
/// # Examples
///
/// ```
/// use capstan_sdk::{http, testing::Host};
///
/// let host = Host::new().http(|_| Ok(http::Response::new(200, "pong")));
/// let (answer, _) = host.run(|| http::get("https://example.com/ping"));
/// assert_eq!(answer.unwrap().text(), "pong");
/// ```
pub fn get(url: &str) -> Result<Response, Error> {
    Request::get(url).send()
}

/// A request that can be sent.
///
/// The fields are what a fake host of a test looks at; the methods build.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use capstan_sdk::{http::Request, secret::Secret};
///
/// let token = Secret::named("EXAMPLE_TOKEN");
/// let request = Request::post("https://api.example.com/notes")
///     .header("authorization", token.bearer())
///     .json(&serde_json::json!({ "text": "hi" }))?
///     .timeout(Duration::from_secs(10));
/// assert_eq!(request.method, "POST");
/// assert_eq!(request.body, br#"{"text":"hi"}"#);
/// # Ok::<(), capstan_sdk::http::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a request does nothing until it is sent"]
pub struct Request {
    /// The method, in upper case.
    pub method: String,
    /// The whole address.
    pub url: String,
    /// Header fields in the order in which they are sent. A name may occur more than once.
    pub headers: Vec<(String, String)>,
    /// The body; empty for none.
    pub body: Vec<u8>,
    pub(crate) connect_timeout: Option<Duration>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) max_bytes: usize,
    redirects: u32,
}

impl Request {
    /// A request with this method, in upper case, to this address: `http://` or `https://`, a host, perhaps a port, a path,
    /// a query. A fragment is not sent.
    pub fn new(method: &str, url: &str) -> Self {
        Self {
            method: method.to_owned(),
            url: url.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            connect_timeout: None,
            timeout: None,
            max_bytes: MAX_BYTES,
            redirects: 0,
        }
    }

    /// A `GET` request.
    pub fn get(url: &str) -> Self {
        Self::new("GET", url)
    }

    /// A `POST` request. The grant must name `POST`: without methods it covers only `GET` and `HEAD`.
    pub fn post(url: &str) -> Self {
        Self::new("POST", url)
    }

    /// Adds a header field. The host refuses those that belong to the connection (`host`, `connection`, `te` and their like);
    /// [`Request::send`] then says so.
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Sets the body.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets the body to the JSON of a value, and the header `content-type` with it.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] where the value has no JSON form: a map with keys that are no strings, for example.
    pub fn json(self, value: &impl Serialize) -> Result<Self, Error> {
        match serde_json::to_vec(value) {
            Ok(body) => Ok(self.header("content-type", "application/json").body(body)),
            Err(error) => Err(Error::Invalid { what: "the body", why: error.to_string() }),
        }
    }

    /// How long to wait for the connection, for the beginning of the answer, and for each further piece of it. The host's
    /// own limits (10 s for the connection, 120 s for everything) hold as well.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// How long to wait for the connection, in place of what [`timeout`](Self::timeout) says.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = Some(timeout);
        self
    }

    /// The most bytes of the answer's body that are read, in place of [`MAX_BYTES`]. More is [`Error::TooLarge`].
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Follows at most so many redirects. Without it a redirect is an answer like others.
    ///
    /// Each hop is a request of its own, so a grant must cover it; one that is denied is [`Error::Redirected`] with the
    /// denial in it. After 303, and after 301 or 302 for a `POST`, the next request is a `GET` without a body. Toward
    /// another origin the headers `authorization` and `cookie` are left out, and every header with a placeholder of a
    /// secret.
    ///
    /// # Examples
    ///
    /// ```
    /// use capstan_sdk::http::{Error, Request, Response};
    /// use capstan_sdk::testing::Host;
    ///
    /// let host = Host::new().http(|request| match request.url.as_str() {
    ///     "https://example.com/" => Ok(Response::new(302, "").with_header("location", "https://other.example/a")),
    ///     _ => Err(Error::denied(request)),
    /// });
    /// let (answer, _) = host.run(|| Request::get("https://example.com/").follow_redirects(5).send());
    /// assert_eq!(
    ///     answer.unwrap_err().to_string(),
    ///     "https://example.com/ redirects to https://other.example/a: GET https://other.example is denied; the extension \
    ///      needs `Request::http(\"https://other.example\", &[], …)`, granted by the user",
    /// );
    /// ```
    pub fn follow_redirects(mut self, hops: u32) -> Self {
        self.redirects = hops;
        self
    }

    /// Sends it and reads the answer to its end.
    ///
    /// # Errors
    ///
    /// [`Error::Denied`] without a grant, [`Error::TimedOut`], [`Error::TooLarge`], and the others of [`Error`]. A status
    /// like 404 is no error.
    pub fn send(&self) -> Result<Response, Error> {
        let mut response = once(self)?;
        if self.redirects == 0 {
            return Ok(response);
        }
        let mut request = self.clone();
        for _ in 0..self.redirects {
            let Some(location) = response.redirect() else { return Ok(response) };
            let to = Url::parse(&request.url)?.join(location)?;
            let from = std::mem::replace(&mut request.url, to);
            request.become_hop(&from, response.status)?;
            response = once(&request).map_err(|error| Error::Redirected {
                from,
                to: request.url.clone(),
                error: Box::new(error),
            })?;
        }
        match response.redirect() {
            Some(_) => Err(Error::TooManyRedirects { url: self.url.clone(), followed: self.redirects }),
            None => Ok(response),
        }
    }

    /// Leaves out what a redirect must not carry on.
    fn become_hop(&mut self, from: &str, status: u16) -> Result<(), Error> {
        if status == 303 && self.method != "HEAD" || matches!(status, 301 | 302) && self.method == "POST" {
            self.method = "GET".to_owned();
            self.body.clear();
            self.headers.retain(|(name, _)| !name.to_ascii_lowercase().starts_with("content-"));
        }
        if Url::parse(from)?.origin() != Url::parse(&self.url)?.origin() {
            self.headers.retain(|(name, value)| {
                let is_credential =
                    name.eq_ignore_ascii_case("authorization") || name.eq_ignore_ascii_case("cookie");
                !is_credential && !value.contains("{{secret:")
            });
        }
        Ok(())
    }
}

/// An answer with all of its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The address that answered: after redirects another than the one that was asked first.
    pub url: String,
    /// The status, 200 for example.
    pub status: u16,
    /// Header fields as they came. Values that are not UTF-8 have U+FFFD in the place of what is not.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// An answer for a fake host of a test.
    #[must_use]
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { url: String::new(), status, headers: Vec::new(), body: body.into() }
    }

    /// The same answer with one more header field.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Whether the status is one of 200 to 299.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The first header field with this name, in any case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The body's bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.body
    }

    /// The body as text. What is not UTF-8 becomes U+FFFD; the header `content-type` may name another encoding.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }

    /// The body as a type of yours.
    ///
    /// # Errors
    ///
    /// It is not UTF-8, not JSON, or JSON of another shape; the text says where.
    pub fn json<T: DeserializeOwned>(&self) -> crate::Result<T> {
        json::parse(std::str::from_utf8(&self.body)?, "the answer")
    }

    fn redirect(&self) -> Option<&str> {
        matches!(self.status, 301 | 302 | 303 | 307 | 308).then(|| self.header("location")).flatten()
    }
}

fn once(request: &Request) -> Result<Response, Error> {
    let mut response = host::http::send(request, &Url::parse(&request.url)?)?;
    if response.body.len() > request.max_bytes {
        return Err(Error::TooLarge { url: request.url.clone(), limit: request.max_bytes });
    }
    response.url.clone_from(&request.url);
    Ok(response)
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
