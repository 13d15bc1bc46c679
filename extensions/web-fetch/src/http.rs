//! One GET through `wasi:http`.

use crate::fetch::{Answer, Failure, Web};

/// The network that the host grants.
pub(crate) struct Granted;

#[cfg(target_os = "wasi")]
mod wasi {
    use super::{Answer, Failure, Granted, Web};
    use wasip2::http::outgoing_handler::handle;
    use wasip2::http::types::{ErrorCode, Fields, IncomingResponse, OutgoingRequest, Scheme, http_error_code};
    use wasip2::io::streams::StreamError;

    const PIECE_BYTES: u64 = 64 << 10;

    impl Web for Granted {
        fn get(&self, address: &str, headers: &[(&str, &str)], max_bytes: usize) -> Result<Answer, Failure> {
            let response = request(address, headers)?;
            let fields = response.headers().entries();
            let headers = fields
                .into_iter()
                .map(|(name, value)| (name.to_lowercase(), String::from_utf8_lossy(&value).into_owned()))
                .collect();
            let status = response.status();
            let (body, is_cut) = read(&response, max_bytes)?;
            Ok(Answer { status, headers, body, is_cut })
        }
    }

    fn request(address: &str, headers: &[(&str, &str)]) -> Result<IncomingResponse, Failure> {
        let wrong = |what: &str| Failure::Other(format!("the host takes no such {what}"));
        let fields = Fields::new();
        for (name, value) in headers {
            fields
                .append(name, value.as_bytes())
                .map_err(|error| Failure::Other(format!("header {name}: {error:?}")))?;
        }
        let (scheme, rest) = address.split_once("://").ok_or_else(|| wrong("address"))?;
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let scheme = if scheme == "http" { Scheme::Http } else { Scheme::Https };
        let outgoing = OutgoingRequest::new(fields);
        outgoing.set_scheme(Some(&scheme)).map_err(|()| wrong("scheme"))?;
        outgoing.set_authority(Some(authority)).map_err(|()| wrong("host"))?;
        outgoing.set_path_with_query(Some(&path)).map_err(|()| wrong("path"))?;
        let future = handle(outgoing, None).map_err(failure)?;
        future.subscribe().block();
        match future.get() {
            Some(Ok(answer)) => answer.map_err(failure),
            Some(Err(())) | None => Err(Failure::Other("the host gave no answer".to_owned())),
        }
    }

    fn read(response: &IncomingResponse, max_bytes: usize) -> Result<(Vec<u8>, bool), Failure> {
        let gone = |()| Failure::Other("the answer has no body".to_owned());
        let body = response.consume().map_err(gone)?;
        let stream = body.stream().map_err(gone)?;
        let mut bytes = Vec::new();
        loop {
            match stream.blocking_read(PIECE_BYTES) {
                Ok(piece) => {
                    bytes.extend_from_slice(&piece);
                    if bytes.len() > max_bytes {
                        bytes.truncate(max_bytes);
                        return Ok((bytes, true));
                    }
                }
                Err(StreamError::Closed) => return Ok((bytes, false)),
                Err(StreamError::LastOperationFailed(error)) => {
                    let text = || Failure::Other(error.to_debug_string());
                    return Err(http_error_code(&error).map_or_else(text, failure));
                }
            }
        }
    }

    fn failure(code: ErrorCode) -> Failure {
        let said = match code {
            ErrorCode::HttpRequestDenied => return Failure::Denied,
            ErrorCode::DnsError(_) => "its name cannot be found".to_owned(),
            ErrorCode::DnsTimeout | ErrorCode::ConnectionTimeout => "it cannot be reached in time".to_owned(),
            ErrorCode::HttpResponseTimeout | ErrorCode::ConnectionReadTimeout => {
                "it did not answer in time".to_owned()
            }
            ErrorCode::ConnectionRefused => "it refuses the connection".to_owned(),
            ErrorCode::DestinationIpProhibited => "its name leads to an address that is not public".to_owned(),
            ErrorCode::TlsCertificateError => "its certificate is not valid".to_owned(),
            other => format!("{other:?}"),
        };
        Failure::Other(said)
    }
}

/// Natively there is no host; tests bring a web of their own.
#[cfg(not(target_os = "wasi"))]
impl Web for Granted {
    fn get(&self, _address: &str, _headers: &[(&str, &str)], _max_bytes: usize) -> Result<Answer, Failure> {
        Err(Failure::Denied)
    }
}
