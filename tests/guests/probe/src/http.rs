//! Outgoing HTTP, with the raw interface: a library would refuse some requests before the host sees them.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use wasip2::http::outgoing_handler::handle;
use wasip2::http::types::{
    Fields, FutureIncomingResponse, IncomingResponse, Method, OutgoingBody, OutgoingRequest, Scheme,
    http_error_code,
};
use wasip2::io::streams::StreamError;

/// So much of an answer's text is told.
const SHOWN_BYTES: usize = 64 << 10;

/// A request. What is left out is left out of the request as well.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Request {
    method: Option<String>,
    scheme: Option<String>,
    authority: Option<String>,
    path: Option<String>,
    #[serde(default)]
    headers: Vec<(String, String)>,
    /// Written one after another.
    #[serde(default)]
    body: Vec<String>,
    /// So many bytes more.
    #[serde(default)]
    more_bytes: usize,
}

/// Makes the request and reads the answer to its end.
pub(crate) fn send(request: &Request) -> Result<Value, String> {
    let response = wait(&start(request)?)?;
    let fields = response.headers().entries();
    let headers: Vec<_> =
        fields.iter().map(|(name, value)| json!([name, String::from_utf8_lossy(value)])).collect();
    let mut answer = json!({ "status": response.status(), "headers": headers });
    let (body, bytes, error) = read(&response);
    answer["body"] = json!(String::from_utf8_lossy(&body));
    answer["bytes"] = json!(bytes);
    if let Some(error) = error {
        answer["bodyError"] = json!(error);
    }
    Ok(answer)
}

/// Makes the same request several times before any answer is read; what came of each.
pub(crate) fn send_many(request: &Request, times: u32) -> Value {
    let started: Vec<_> = (0..times).map(|_| start(request)).collect();
    let waited: Vec<_> = started.into_iter().map(|future| future.and_then(|future| wait(&future))).collect();
    let told = waited.iter().map(|outcome| match outcome {
        Ok(response) => json!(response.status()),
        Err(error) => json!(error),
    });
    Value::from(told.collect::<Vec<_>>())
}

fn start(request: &Request) -> Result<FutureIncomingResponse, String> {
    let fields = Fields::new();
    for (name, value) in &request.headers {
        fields
            .append(name, value.as_bytes())
            .map_err(|error| format!("header {name}: {error:?}"))?;
    }
    let outgoing = OutgoingRequest::new(fields);
    let refused = |what: &str| format!("the request takes no such {what}");
    if let Some(method) = &request.method {
        outgoing.set_method(&self::method(method)).map_err(|()| refused("method"))?;
    }
    if let Some(scheme) = &request.scheme {
        let scheme = match scheme.as_str() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            other => Scheme::Other(other.to_owned()),
        };
        outgoing.set_scheme(Some(&scheme)).map_err(|()| refused("scheme"))?;
    }
    outgoing.set_authority(request.authority.as_deref()).map_err(|()| refused("authority"))?;
    outgoing.set_path_with_query(request.path.as_deref()).map_err(|()| refused("path"))?;
    if request.body.is_empty() && request.more_bytes == 0 {
        return handle(outgoing, None).map_err(|code| format!("{code:?}"));
    }
    let body = outgoing.body().map_err(|()| refused("body"))?;
    let future = handle(outgoing, None).map_err(|code| format!("{code:?}"))?;
    // A host that takes no more is not the end: the future tells why.
    if write(&body, request).is_ok() {
        OutgoingBody::finish(body, None).map_err(|code| format!("{code:?}"))?;
    }
    Ok(future)
}

fn write(body: &OutgoingBody, request: &Request) -> Result<(), StreamError> {
    let Ok(stream) = body.write() else { return Err(StreamError::Closed) };
    for piece in &request.body {
        stream.blocking_write_and_flush(piece.as_bytes())?;
    }
    let mut left = request.more_bytes;
    while left > 0 {
        let bytes = left.min(4096);
        stream.blocking_write_and_flush(&[b'x'; 4096][..bytes])?;
        left -= bytes;
    }
    Ok(())
}

fn wait(future: &FutureIncomingResponse) -> Result<IncomingResponse, String> {
    future.subscribe().block();
    match future.get() {
        Some(Ok(Ok(response))) => Ok(response),
        Some(Ok(Err(code))) => Err(format!("{code:?}")),
        Some(Err(())) | None => Err("the future has no answer".to_owned()),
    }
}

/// The beginning of the body, how many bytes it had, and how it broke off, if it did.
fn read(response: &IncomingResponse) -> (Vec<u8>, usize, Option<String>) {
    let (mut shown, mut bytes) = (Vec::new(), 0);
    let Ok(body) = response.consume() else { return (shown, 0, Some("no body".to_owned())) };
    let Ok(stream) = body.stream() else { return (shown, 0, Some("no stream".to_owned())) };
    loop {
        match stream.blocking_read(64 << 10) {
            Ok(piece) => {
                bytes += piece.len();
                let room = SHOWN_BYTES.saturating_sub(shown.len());
                shown.extend_from_slice(&piece[..piece.len().min(room)]);
            }
            Err(StreamError::Closed) => return (shown, bytes, None),
            Err(StreamError::LastOperationFailed(error)) => {
                let code = http_error_code(&error).map(|code| format!("{code:?}"));
                return (shown, bytes, Some(code.unwrap_or_else(|| error.to_debug_string())));
            }
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
        "CONNECT" => Method::Connect,
        "TRACE" => Method::Trace,
        other => Method::Other(other.to_owned()),
    }
}
