//! Requests in the sandbox, over `wasi:http`.

use wasip2::http::outgoing_handler::handle;
use wasip2::http::types::{
    ErrorCode, Fields, FutureIncomingResponse, HeaderError, IncomingResponse, Method, OutgoingBody,
    OutgoingRequest, RequestOptions, Scheme, http_error_code,
};
use wasip2::io::streams::StreamError;

use super::url::Url;
use super::{Error, Request, Response};

/// The most that one call of the interface takes.
const PIECE_BYTES: usize = 4096;
/// How much of a body is asked for at once.
const READ_BYTES: u64 = 64 << 10;

pub(crate) fn send(request: &Request, url: &Url<'_>) -> Result<Response, Error> {
    let answer = start(request, url)?;
    answer.subscribe().block();
    let answer = match answer.get() {
        Some(Ok(Ok(answer))) => answer,
        Some(Ok(Err(code))) => return Err(failure(request, code)),
        Some(Err(())) | None => return Err(failed(request, "the host gave no answer")),
    };
    let headers = answer.headers().entries();
    Ok(Response {
        url: String::new(),
        status: answer.status(),
        headers: headers.into_iter().map(|(name, value)| (name, lossy(value))).collect(),
        body: read(request, &answer)?,
    })
}

fn start(request: &Request, url: &Url<'_>) -> Result<FutureIncomingResponse, Error> {
    let fields = Fields::new();
    for (name, value) in &request.headers {
        fields.append(name, value.as_bytes()).map_err(|error| Error::Invalid {
            what: "a header",
            why: match error {
                HeaderError::InvalidSyntax => {
                    format!("`{name}` or its value has characters that no header has")
                }
                HeaderError::Forbidden => format!("`{name}` is the host's to set"),
                HeaderError::Immutable => format!("`{name}` cannot be set"),
            },
        })?;
    }
    let outgoing = OutgoingRequest::new(fields);
    let scheme = if url.scheme.eq_ignore_ascii_case("http") { Scheme::Http } else { Scheme::Https };
    outgoing.set_scheme(Some(&scheme)).map_err(|()| invalid("the scheme", url.scheme))?;
    outgoing.set_authority(Some(url.authority)).map_err(|()| invalid("the host", url.authority))?;
    let path = url.path_with_query();
    outgoing.set_path_with_query(Some(&path)).map_err(|()| invalid("the path", &path))?;
    outgoing.set_method(&method(&request.method)).map_err(|()| invalid("the method", &request.method))?;
    if request.body.is_empty() {
        return handle(outgoing, options(request)).map_err(|code| failure(request, code));
    }
    let body = outgoing.body().map_err(|()| invalid("the body", "the host takes none"))?;
    let future = handle(outgoing, options(request)).map_err(|code| failure(request, code))?;
    // A host that takes no more is not the end: the future tells why.
    if write(&body, &request.body).is_ok() {
        OutgoingBody::finish(body, None).map_err(|code| failure(request, code))?;
    }
    Ok(future)
}

fn options(request: &Request) -> Option<RequestOptions> {
    let connect = request.connect_timeout.or(request.timeout);
    connect?;
    let nanoseconds = |timeout: std::time::Duration| u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
    let options = RequestOptions::new();
    // The three limits are optional for a host; ours knows all of them, and its own total limit holds anyway.
    let _ = options.set_connect_timeout(connect.map(nanoseconds));
    let _ = options.set_first_byte_timeout(request.timeout.map(nanoseconds));
    let _ = options.set_between_bytes_timeout(request.timeout.map(nanoseconds));
    Some(options)
}

fn write(body: &OutgoingBody, bytes: &[u8]) -> Result<(), StreamError> {
    let Ok(stream) = body.write() else { return Err(StreamError::Closed) };
    for piece in bytes.chunks(PIECE_BYTES) {
        stream.blocking_write_and_flush(piece)?;
    }
    Ok(())
}

fn read(request: &Request, answer: &IncomingResponse) -> Result<Vec<u8>, Error> {
    let none = || failed(request, "the host gave no body");
    let body = answer.consume().map_err(|()| none())?;
    let stream = body.stream().map_err(|()| none())?;
    let mut whole = Vec::new();
    loop {
        match stream.blocking_read(READ_BYTES) {
            Ok(piece) if whole.is_empty() => whole = piece,
            Ok(piece) => whole.extend_from_slice(&piece),
            Err(StreamError::Closed) => return Ok(whole),
            Err(StreamError::LastOperationFailed(error)) => {
                return Err(match http_error_code(&error) {
                    Some(code) => failure(request, code),
                    None => failed(request, &error.to_debug_string()),
                });
            }
        }
        if whole.len() > request.max_bytes {
            return Err(Error::TooLarge { url: request.url.clone(), limit: request.max_bytes });
        }
    }
}

fn method(name: &str) -> Method {
    match name {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "DELETE" => Method::Delete,
        "OPTIONS" => Method::Options,
        "PATCH" => Method::Patch,
        other => Method::Other(other.to_owned()),
    }
}

/// What the host's code means. The words are put here rather than derived: the names of all codes take 4 kB.
fn failure(request: &Request, code: ErrorCode) -> Error {
    failed(
        request,
        match code {
            ErrorCode::HttpRequestDenied => return Error::denied(request),
            ErrorCode::DestinationIpProhibited => {
                let origin =
                    Url::parse(&request.url).map_or_else(|_| request.url.clone(), |url| url.origin());
                return Error::PrivateAddress { origin };
            }
            ErrorCode::DnsTimeout
            | ErrorCode::ConnectionTimeout
            | ErrorCode::HttpResponseTimeout
            | ErrorCode::ConnectionReadTimeout
            | ErrorCode::ConnectionWriteTimeout => return Error::TimedOut { url: request.url.clone() },
            ErrorCode::InternalError(Some(text)) => return failed(request, &text),
            ErrorCode::DnsError(_) => "there is no host with this name",
            ErrorCode::ConnectionRefused => "the connection was refused",
            ErrorCode::DestinationUnavailable => "the host cannot be reached",
            ErrorCode::ConnectionTerminated => "the connection ended before the answer",
            ErrorCode::ConnectionLimitReached => "too many requests are under way",
            ErrorCode::TlsCertificateError => "the certificate of the server is not valid",
            ErrorCode::TlsProtocolError | ErrorCode::TlsAlertReceived(_) => {
                "there is no encrypted connection"
            }
            ErrorCode::HttpRequestUriInvalid => "the host takes no such address",
            ErrorCode::HttpRequestUriTooLong => "the address is too long",
            ErrorCode::HttpRequestHeaderSectionSize(_) => "the headers of the request are too large",
            ErrorCode::HttpRequestBodySize(_) => "the call has sent all the bytes that it may send",
            ErrorCode::HttpResponseBodySize(_) => "the answer has more bytes than the call may receive",
            ErrorCode::HttpResponseHeaderSectionSize(_) => "the headers of the answer are too large",
            ErrorCode::HttpResponseIncomplete => "the answer ended early",
            ErrorCode::HttpResponseContentCoding(_) => {
                "the answer is compressed, and the host could not hide secrets in it"
            }
            ErrorCode::HttpProtocolError => "the answer is not HTTP",
            ErrorCode::HttpUpgradeFailed => "the server wants to speak another protocol",
            _ => "the request failed; the host's log says why",
        },
    )
}

fn failed(request: &Request, why: &str) -> Error {
    Error::Failed { url: request.url.clone(), why: why.to_owned() }
}

fn invalid(what: &'static str, text: &str) -> Error {
    Error::Invalid { what, why: format!("`{text}` is not allowed") }
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
