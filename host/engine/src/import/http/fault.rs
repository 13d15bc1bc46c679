//! Why a request of an extension did not go through: what the log says, and which `error-code` the guest gets.

use capstan_policy::http::{InvalidTarget, Refusal};
use capstan_policy::secret::InvalidSecret;
use std::io;
use wasmtime_wasi_http::Error;
use wasmtime_wasi_http::p2::bindings::http::types::ErrorCode;

/// Why a request failed, or was never made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("{0}")]
    Target(#[from] InvalidTarget),
    #[error("{0}")]
    Refused(#[from] Refusal),
    #[error("the call has made its {limit} requests")]
    TooManyRequests { limit: u32 },
    #[error("{limit} requests of the call are under way already ({reason})")]
    TooManyAtOnce { limit: usize, reason: String },
    #[error("path and query have more than {limit} bytes")]
    PathTooLong { limit: usize },
    #[error("the header `{name}` is the host's to set")]
    Header { name: String },
    #[error("the header has {bytes} bytes or too many fields")]
    HeadersTooLarge { bytes: usize },
    #[error(
        "a placeholder of a secret stands in {place}; it can only stand in the value of a request header"
    )]
    PlaceholderPlace { place: &'static str },
    #[error("the header `{header}` holds a placeholder that is not of the form {{{{secret:NAME}}}}")]
    PlaceholderForm { header: String },
    #[error("the secret {name} is not granted to this extension")]
    SecretNotGranted { name: String },
    #[error("the secret {name} is only for {endpoint}, not for {target}")]
    SecretElsewhere { name: String, endpoint: String, target: String },
    #[error("the secret {name} is not stored; the user stores it with: capstan secret set {name}")]
    SecretNotStored { name: String },
    #[error("{0}")]
    Secret(#[from] InvalidSecret),
    #[error("the call has sent its {limit} bytes of request bodies")]
    SentTooMuch { limit: u64 },
    #[error("trailers cannot be sent")]
    Trailers,
    #[error("the guest gave the body up")]
    BodyGivenUp(#[source] Error),
    #[error("the name could not be looked up in time")]
    ResolveTimeout,
    #[error("the name could not be looked up: {source}")]
    Resolve {
        #[source]
        source: io::Error,
    },
    #[error("the name has no address")]
    NoAddress,
    #[error("no connection in time")]
    ConnectTimeout,
    #[error("no connection: {source}")]
    Connect {
        #[source]
        source: io::Error,
    },
    #[error("no encrypted connection: {source}")]
    Tls {
        #[source]
        source: io::Error,
    },
    #[error("no answer in time")]
    Timeout,
    #[error("the answer paused for longer than the guest waits")]
    Pause,
    #[error("the answer ended early, after the request had been sent: {source}")]
    Incomplete {
        #[source]
        source: hyper::Error,
    },
    #[error("the connection ended, after the request may have been sent: {source}")]
    Terminated {
        #[source]
        source: hyper::Error,
    },
    #[error("the answer's header is too large: {source}")]
    AnswerHeaderTooLarge {
        #[source]
        source: hyper::Error,
    },
    #[error("the answer is not HTTP: {source}")]
    Protocol {
        #[source]
        source: hyper::Error,
    },
    #[error("the server wants to speak another protocol")]
    Upgrade,
    #[error("the answer is larger than what the call may still receive")]
    ReceivedTooMuch { announced: Option<u64> },
    #[error("the answer is encoded as `{coding}`, and secrets in it could not be seen")]
    Unreadable { coding: String },
    #[error("the host could not make the request: {reason}")]
    Internal { reason: String },
}

impl Fault {
    /// Whether a rule said no, rather than the network.
    pub(crate) fn is_denial(&self) -> bool {
        matches!(
            self,
            Self::Target(_)
                | Self::Refused(_)
                | Self::TooManyRequests { .. }
                | Self::TooManyAtOnce { .. }
                | Self::PathTooLong { .. }
                | Self::Header { .. }
                | Self::HeadersTooLarge { .. }
                | Self::PlaceholderPlace { .. }
                | Self::PlaceholderForm { .. }
                | Self::SecretNotGranted { .. }
                | Self::SecretElsewhere { .. }
                | Self::SecretNotStored { .. }
                | Self::Secret(_)
                | Self::SentTooMuch { .. }
                | Self::Trailers
                | Self::ReceivedTooMuch { .. }
                | Self::Unreadable { .. }
        )
    }

    /// What hyper's error means. `false` from `is_sent` means that nothing of the request can have reached the server.
    pub(crate) fn of_hyper(source: hyper::Error) -> Self {
        if source.is_parse_too_large() {
            return Self::AnswerHeaderTooLarge { source };
        }
        if source.is_parse() {
            return Self::Protocol { source };
        }
        if source.is_incomplete_message() {
            return Self::Incomplete { source };
        }
        if source.is_timeout() {
            return Self::Timeout;
        }
        Self::Terminated { source }
    }

    /// The guest's error code. The codes of WASI have no room for words; where the author of the guest needs them, about
    /// secrets, the code is `internal-error` with the text.
    pub(crate) fn to_wasi(&self) -> Error {
        match self {
            Self::Target(InvalidTarget::Scheme { .. })
            | Self::Refused(Refusal::Endpoint { .. } | Refusal::Method { .. })
            | Self::TooManyRequests { .. }
            | Self::Header { .. } => Error::HttpRequestDenied,
            Self::Target(_) => Error::HttpRequestUriInvalid,
            Self::Refused(Refusal::Address { .. }) => Error::DestinationIpProhibited,
            Self::TooManyAtOnce { .. } => Error::ConnectionLimitReached,
            Self::PathTooLong { .. } => Error::HttpRequestUriTooLong,
            Self::HeadersTooLarge { bytes } => {
                Error::HttpRequestHeaderSectionSize(Some(u32::try_from(*bytes).unwrap_or(u32::MAX)))
            }
            Self::PlaceholderPlace { .. }
            | Self::PlaceholderForm { .. }
            | Self::SecretNotGranted { .. }
            | Self::SecretElsewhere { .. }
            | Self::SecretNotStored { .. }
            | Self::Secret(_)
            | Self::Internal { .. } => Error::InternalError(Some(self.to_string())),
            Self::SentTooMuch { limit } => Error::HttpRequestBodySize(Some(*limit)),
            Self::Trailers => Error::HttpRequestTrailerSectionSize(None),
            Self::BodyGivenUp(_) => Error::HttpProtocolError,
            Self::ResolveTimeout => Error::DnsTimeout,
            Self::Resolve { .. } | Self::NoAddress => {
                Error::DnsError { rcode: Some("name not found".to_owned()), info_code: None }
            }
            Self::ConnectTimeout => Error::ConnectionTimeout,
            Self::Connect { source } if source.kind() == io::ErrorKind::ConnectionRefused => {
                Error::ConnectionRefused
            }
            Self::Connect { .. } => Error::DestinationUnavailable,
            Self::Tls { source } => tls_code(source),
            Self::Timeout => Error::HttpResponseTimeout,
            Self::Pause => Error::ConnectionReadTimeout,
            Self::Incomplete { .. } => Error::HttpResponseIncomplete,
            Self::Terminated { .. } => Error::ConnectionTerminated,
            Self::AnswerHeaderTooLarge { .. } => Error::HttpResponseHeaderSectionSize(None),
            Self::Protocol { .. } => Error::HttpProtocolError,
            Self::Upgrade => Error::HttpUpgradeFailed,
            Self::ReceivedTooMuch { announced } => Error::HttpResponseBodySize(*announced),
            Self::Unreadable { coding } => Error::HttpResponseContentCoding(Some(coding.clone())),
        }
    }
}

/// The code for an error with which the body of an answer ended.
pub(crate) fn code_of_body(error: &Error) -> Option<ErrorCode> {
    match error {
        Error::HttpResponseTimeout => Some(ErrorCode::HttpResponseTimeout),
        Error::ConnectionReadTimeout => Some(ErrorCode::ConnectionReadTimeout),
        Error::HttpResponseIncomplete => Some(ErrorCode::HttpResponseIncomplete),
        Error::HttpResponseBodySize(size) => Some(ErrorCode::HttpResponseBodySize(*size)),
        Error::InternalError(text) => Some(ErrorCode::InternalError(text.clone())),
        // Bodies end with no others.
        _ => None,
    }
}

fn tls_code(source: &io::Error) -> Error {
    match source.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented) => {
            Error::TlsCertificateError
        }
        Some(rustls::Error::AlertReceived(alert)) => Error::TlsAlertReceived {
            alert_id: Some(u8::from(*alert)),
            alert_message: Some(format!("{alert:?}")),
        },
        _ => Error::TlsProtocolError,
    }
}
