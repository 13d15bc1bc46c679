//! From what a server or connection did to an error that says what to do.

use crate::http::Endpoint;
use crate::sse::{BoxError, ReadError};
use capstan_ports::{ModelError, ModelErrorKind};
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// What a server says of a failure, in a body or inside the stream.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// The HTTP status, or a number in the object that looks like one.
    pub(crate) status: Option<u16>,
    /// The values of `type` and `code`.
    pub(crate) code: String,
    /// The text for people.
    pub(crate) message: String,
}

impl Report {
    /// Reads the shapes that servers use: `{"error": {type, code, message}}`, `{"error": "text"}`, and the inner object
    /// alone. `None` when there is no error in `value`.
    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        let error = match value.get("error") {
            Some(Value::Null) | None if value.get("object").and_then(Value::as_str) == Some("error") => value,
            Some(Value::Null) | None => return None,
            Some(error) => error,
        };
        if let Some(message) = error.as_str() {
            return Some(Self { message: message.to_owned(), ..Self::default() });
        }
        let status = ["status", "code", "status_code"]
            .iter()
            .filter_map(|name| match error.get(name)? {
                Value::String(text) => text.parse().ok(),
                other => other.as_u64().and_then(|number| u16::try_from(number).ok()),
            })
            .find(|status| (400..600).contains(status));
        let word = |name| error.get(name).and_then(Value::as_str).unwrap_or_default();
        let message = match error.get("message") {
            Some(Value::String(text)) => text.clone(),
            _ => error.to_string(),
        };
        Some(Self { status, code: format!("{} {}", word("type"), word("code")).trim().to_owned(), message })
    }

    pub(crate) fn kind(&self) -> ModelErrorKind {
        let (code, message) = (self.code.to_lowercase(), self.message.to_lowercase());
        let status = self.status.unwrap_or_else(|| status_of_code(&code));
        let refused = matches!(status, 401 | 403 | 429);
        if !refused && (is_overflow(&code, &message) || status == 413) {
            return ModelErrorKind::ContextOverflow;
        }
        // Out of credit also arrives as 429, but no waiting helps.
        if code.contains("insufficient_quota") || code.contains("billing") {
            return ModelErrorKind::InvalidRequest;
        }
        match status {
            401 | 403 => ModelErrorKind::Auth,
            408 | 504 => ModelErrorKind::TimedOut,
            429 => ModelErrorKind::RateLimited,
            500.. => ModelErrorKind::Server,
            _ => ModelErrorKind::InvalidRequest,
        }
    }
}

/// The status that an error inside a stream would have had before it. Unknown words count as the server's fault, so that
/// the request is tried again.
fn status_of_code(code: &str) -> u16 {
    let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
    if has(&["rate_limit", "too_many_requests"]) {
        429
    } else if has(&["authentication", "permission", "api_key"]) {
        401
    } else if has(&["invalid_request", "not_found", "bad_request"]) {
        400
    } else if has(&["timeout"]) {
        408
    } else {
        500
    }
}

/// What servers write when the conversation does not fit. All pieces of one row must occur.
const OVERFLOW: &[&[&str]] = &[
    &["prompt is too long"],
    &["request_too_large"],
    &["input is too long"],
    &["exceeds the context window"],
    &["exceed context limit"],
    &["input token count", "exceeds the maximum"],
    &["maximum prompt length is"],
    &["reduce the length of the messages"],
    &["maximum context length"],
    &["exceeds the limit of", "token"],
    &["exceeds the available context size"],
    &["greater than the context length"],
    &["context window exceeds limit"],
    &["exceeded model token limit"],
    &["too large for model with", "maximum context"],
    &["model_context_window_exceeded"],
    &["prompt too long", "context"],
    &["context length exceeded"],
    &["context_length_exceeded"],
    &["exceed_context_size"],
    &["too many tokens"],
    &["token limit exceeded"],
];

/// Limits on speed speak of tokens as well.
const NOT_OVERFLOW: &[&str] = &["rate limit", "too many requests", "throttling", "per minute"];

fn is_overflow(code: &str, message: &str) -> bool {
    let has = |piece: &&str| code.contains(*piece) || message.contains(*piece);
    !NOT_OVERFLOW.iter().any(has) && OVERFLOW.iter().any(|row| row.iter().all(has))
}

/// A provider that asks for more patience than this gets asked again earlier; a user would have given up.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(5 * 60);

/// `Retry-After` in seconds or as a date, or the finer `retry-after-ms`. Nonsense counts as absent.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let seconds = |text: &str, unit: f64| {
        let number: f64 = text.parse().ok()?;
        (number >= 0.0).then(|| Duration::from_secs_f64((number * unit).min(MAX_RETRY_AFTER.as_secs_f64())))
    };
    let date = |text: &str| httpdate::parse_http_date(text).ok();
    text("retry-after-ms")
        .and_then(|text| seconds(text, 0.001))
        .or_else(|| seconds(text("retry-after")?, 1.0))
        .or_else(|| Some(date(text("retry-after")?)?.duration_since(now).unwrap_or_default()))
        .map(|wait| wait.min(MAX_RETRY_AFTER))
}

/// The error of an answer with a status that is not 200.
pub(crate) fn of_status(endpoint: &Endpoint, status: u16, headers: &HeaderMap, body: &str) -> ModelError {
    let report = match serde_json::from_str::<Value>(body).ok().as_ref().and_then(Report::from_json) {
        Some(report) => Report { status: Some(status), ..report },
        None => Report { status: Some(status), code: String::new(), message: body.to_owned() },
    };
    if (300..400).contains(&status) {
        let target = headers.get("location").and_then(|value| value.to_str().ok()).unwrap_or("elsewhere");
        return endpoint.error(
            ModelErrorKind::InvalidRequest,
            &format!("HTTP {status}, a redirect to {}", endpoint.excerpt(target)),
            "Redirects are not followed, because the key would go along; set the base URL to the final address",
        );
    }
    // Two services refuse a conversation that is too long with a bare 400.
    let kind =
        if status == 400 && body.trim().is_empty() { ModelErrorKind::ContextOverflow } else { report.kind() };
    let mut error = worded(endpoint, kind, &format!("HTTP {status}"), &report);
    error.retry_after = retry_after(headers, SystemTime::now());
    error
}

/// The error of an error object inside a stream, or in an answer with status 200.
pub(crate) fn of_report(endpoint: &Endpoint, report: &Report) -> ModelError {
    worded(endpoint, report.kind(), "the server reported an error", report)
}

fn worded(endpoint: &Endpoint, kind: ModelErrorKind, what: &str, report: &Report) -> ModelError {
    let mut what = what.to_owned();
    let told = endpoint.excerpt(&report.message);
    if !told.is_empty() {
        what = format!("{what}: {}", told.trim_end_matches('.'));
    }
    let hint = match kind {
        ModelErrorKind::Auth if endpoint.key.is_none() => {
            format!("The server wants a key: set {}", endpoint.key_variable)
        }
        ModelErrorKind::Auth => format!(
            "The key was refused: check {} and that it may use this model",
            endpoint.key_variable
        ),
        ModelErrorKind::RateLimited => "Wait a moment, or choose another model".to_owned(),
        ModelErrorKind::Server | ModelErrorKind::Network | ModelErrorKind::TimedOut => {
            "The fault lies with the server; try again later".to_owned()
        }
        ModelErrorKind::ContextOverflow => {
            "The conversation does not fit the model's window: compact it, or choose a model with a larger one".to_owned()
        }
        ModelErrorKind::InvalidRequest if report.status == Some(404) => {
            "Check the model's name and the base URL (is its /v1 missing?)".to_owned()
        }
        ModelErrorKind::InvalidRequest | ModelErrorKind::Protocol => {
            "Check the model's name, its options and the account".to_owned()
        }
    };
    endpoint.error(kind, &what, &hint)
}

/// The error of a request that got no answer.
pub(crate) fn of_transport(endpoint: &Endpoint, error: reqwest::Error) -> ModelError {
    // The URL may hold a password or a key in its query.
    let error = error.without_url();
    let cause = endpoint.excerpt(&deepest(&error));
    let (kind, what, hint) = if error.is_builder() {
        (
            ModelErrorKind::Network,
            format!("the secure connection could not be prepared: {cause}"),
            "Install the system's CA certificates, or name them in SSL_CERT_FILE",
        )
    } else if error.is_timeout() {
        (
            ModelErrorKind::TimedOut,
            "the server could not be reached in time".to_owned(),
            "Check the base URL, the network and proxy settings",
        )
    } else if error.is_connect() {
        (
            ModelErrorKind::Network,
            format!("cannot connect: {cause}"),
            "Check that the server runs, the base URL, the network and proxy settings",
        )
    } else {
        (ModelErrorKind::Network, format!("the request failed: {cause}"), "Try again")
    };
    endpoint.error(kind, &what, hint).because(error)
}

/// The text of the innermost cause; the outer ones say little more than that a request failed.
fn deepest(error: &(dyn std::error::Error + 'static)) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

/// The error of an answer that broke off while it was read.
pub(crate) fn of_reading(endpoint: &Endpoint, error: ReadError) -> ModelError {
    let (kind, hint) = match &error {
        ReadError::Idle(_) | ReadError::TooLong(_) => {
            (ModelErrorKind::TimedOut, "Try again, or raise the provider's idle timeout for a slow server")
        }
        ReadError::TooLarge { .. } | ReadError::Unreadable(_) => {
            (ModelErrorKind::Protocol, "Check that the base URL is that of a model server")
        }
        ReadError::Broken(_) => (ModelErrorKind::Network, "Try again"),
    };
    let what = match &error {
        ReadError::Broken(source) => {
            format!(
                "stream ended without terminal message, {error}: {}",
                endpoint.excerpt(&deepest(source.as_ref()))
            )
        }
        ReadError::Idle(_)
        | ReadError::TooLong(_)
        | ReadError::TooLarge { .. }
        | ReadError::Unreadable(_) => error.to_string(),
    };
    endpoint.error(kind, &what, hint).because(error)
}

/// The error of a stream that ended in good order but too early.
pub(crate) fn of_early_end(endpoint: &Endpoint, saw_events: bool, head: &str) -> ModelError {
    if !saw_events && !head.trim().is_empty() {
        return of_foreign_answer(endpoint, "no event stream", head);
    }
    endpoint.error(
        ModelErrorKind::Network,
        "stream ended without terminal message",
        "The answer is incomplete; try again",
    )
}

/// The error of a 200 whose body is something else than a stream.
pub(crate) fn of_foreign_answer(endpoint: &Endpoint, content_type: &str, body: &str) -> ModelError {
    endpoint.error(
        ModelErrorKind::Protocol,
        &format!(
            "the answer is {} instead of an event stream: {}",
            endpoint.excerpt(content_type),
            endpoint.excerpt(body)
        ),
        "Check that the base URL is that of a model server that can stream",
    )
}

/// The error of an event that is no JSON.
pub(crate) fn of_malformed(endpoint: &Endpoint, data: &str, source: impl Into<BoxError>) -> ModelError {
    endpoint
        .error(
            ModelErrorKind::Protocol,
            &format!("an event of the stream is malformed: {}", endpoint.excerpt(data)),
            "Check that the server speaks the configured format",
        )
        .because(source)
}

#[cfg(test)]
#[path = "failure_tests.rs"]
mod tests;
