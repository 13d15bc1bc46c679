//! Why there is no answer.

use std::fmt::{self, Display};

use super::Request;
use super::url::Url;

/// Why a request has no answer.
///
/// # Examples
///
/// ```
/// use capstan_sdk::http::{self, Error};
///
/// // Outside of `Host::http` nothing is granted.
/// match http::get("https://example.com/") {
///     Err(Error::Denied { origin, .. }) => assert_eq!(origin, "https://example.com"),
///     other => unreachable!("{other:?}"),
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The host refused it: the user granted no [`Request::http`](crate::Request::http) that covers origin and method.
    /// The host's log has the reason in its own words; it is also this when the call has used up its requests.
    Denied {
        /// The method.
        method: String,
        /// Scheme, host and port, as a grant names them.
        origin: String,
    },
    /// The host refused it because the name leads to an address of the machine itself or of the local network, and the
    /// grant does not name that address.
    PrivateAddress {
        /// Scheme, host and port.
        origin: String,
    },
    /// Something took longer than the request or the host allows.
    TimedOut {
        /// The address that was asked.
        url: String,
    },
    /// The body has more bytes than [`Request::max_bytes`] allows.
    TooLarge {
        /// The address that was asked.
        url: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// The request could not be made of these parts.
    Invalid {
        /// Which part: the address, a header, the body.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// A hop of a redirect failed; the error says why.
    Redirected {
        /// The address that redirected.
        from: String,
        /// Where to.
        to: String,
        /// What became of the request there.
        error: Box<Error>,
    },
    /// There were more redirects than [`Request::follow_redirects`] allows.
    TooManyRedirects {
        /// The address that was asked first.
        url: String,
        /// How many were followed.
        followed: u32,
    },
    /// Everything else: no such host, no connection, no encryption, an answer that ended early, a secret that is missing.
    Failed {
        /// The address that was asked.
        url: String,
        /// In the host's words.
        why: String,
    },
}

impl Error {
    /// The denial that a host without the grant for this request would answer; for a fake host of a test.
    #[must_use]
    pub fn denied(request: &Request) -> Self {
        let origin = Url::parse(&request.url).map_or_else(|_| request.url.clone(), |url| url.origin());
        Self::Denied { method: request.method.clone(), origin }
    }

    /// Whether a rule said no, rather than the network: asking again does not help, the user's grant does.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        match self {
            Self::Denied { .. } | Self::PrivateAddress { .. } => true,
            Self::Redirected { error, .. } => error.is_denied(),
            _ => false,
        }
    }
}

impl Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied { method, origin } => {
                write!(
                    formatter,
                    "{method} {origin} is denied; the extension needs `Request::http(\"{origin}\", &["
                )?;
                // A grant without methods covers these two.
                if method != "GET" && method != "HEAD" {
                    write!(formatter, "\"{method}\"")?;
                }
                formatter.write_str("], …)`, granted by the user")
            }
            Self::PrivateAddress { origin } => write!(
                formatter,
                "{origin} leads to an address that is not public; the extension needs a grant that names the address itself"
            ),
            Self::TimedOut { url } => write!(formatter, "{url} did not answer in time"),
            Self::TooLarge { url, limit } => {
                write!(formatter, "the answer of {url} has more than {limit} bytes")
            }
            Self::Invalid { what, why } => write!(formatter, "{what}: {why}"),
            Self::Redirected { from, to, error } => write!(formatter, "{from} redirects to {to}: {error}"),
            Self::TooManyRedirects { url, followed } => {
                write!(formatter, "{url} redirects more than {followed} times")
            }
            Self::Failed { url, why } => write!(formatter, "{url}: {why}"),
        }
    }
}

// No `source`: the text of `Redirected` has its cause already.
impl std::error::Error for Error {}
