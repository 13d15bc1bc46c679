//! Outgoing HTTP: `wasi:http`, under the capabilities `http` and `secret`.
//!
//! The interfaces are always linked, so that guests which import them load; without a grant each request answers
//! `HTTP-request-denied`. A request goes this way, and the first step that says no ends it:
//!
//! 1. scheme, host and port in canonical form; a user name in the address is refused;
//! 2. a grant must name scheme, host, port and method;
//! 3. headers that belong to the connection are refused; placeholders of secrets are put in or refused ([`secrets`]);
//! 4. the name is resolved once, all its addresses are judged, and one of exactly these is connected to ([`connect`]);
//! 5. bodies are counted both ways ([`body`]), and what comes back is searched for secrets ([`redact`]).
//!
//! Redirects are answers like others: they go back to the guest, and the request that it makes then goes the same way, with
//! whatever headers the guest gives it anew. Each request has a connection of its own, which no other extension shares.

mod audit;
mod body;
mod connect;
mod exchange;
mod fault;
mod redact;
mod secrets;

pub(crate) use secrets::BoundSecrets;

use crate::network::HttpLimits;
use crate::state::{Scope, State};
use audit::Audit;
use capstan_policy::Target;
use exchange::{Exchange, Sent};
use fault::Fault;
use http::header::{self, HeaderName, HeaderValue};
use http::uri::Scheme;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::p2::bindings::io::error::Error as IoError;
use wasmtime_wasi_http::{
    DEFAULT_FORBIDDEN_HEADERS, Error, ForbiddenHeaderFilter, RequestOptions, WasiBody, WasiHttpCtxView,
    WasiHttpHooks, WasiHttpView,
};

/// Sent where the guest names no agent of its own; some servers refuse requests without one.
const USER_AGENT: &str = concat!("capstan/", env!("CARGO_PKG_VERSION"));

/// The version that wasmtime links; see [`crate::import::files`].
const TYPES: &str = "wasi:http/types@0.2.12";

/// All of `wasi:http`, with one function in a version of our own: wasmtime's `http-error-code` does not know the errors with
/// which its own bodies end, so a guest would not learn why an answer broke off.
pub(crate) fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(linker)?;
    linker.allow_shadowing(true);
    linker.instance(TYPES)?.func_wrap(
        "http-error-code",
        |mut store: StoreContextMut<'_, State>, (error,): (Resource<IoError>,)| {
            let error = store.data_mut().http().table.get(&error)?;
            Ok((error.downcast_ref::<Error>().and_then(fault::code_of_body),))
        },
    )?;
    linker.allow_shadowing(false);
    Ok(())
}

impl WasiHttpView for State {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        let (ctx, table, hooks) = self.http_parts();
        WasiHttpCtxView { hooks, table, ctx }
    }
}

/// What is left of a call's share of the network.
#[derive(Default)]
pub(crate) struct HttpBudget {
    requests: u32,
    /// Made with the first request; most calls make none.
    shared: Option<Arc<Share>>,
}

/// The part that requests under way hold on to.
pub(crate) struct Share {
    slots: Arc<Semaphore>,
    /// Bytes of request bodies that may still be sent.
    to_send: AtomicU64,
    /// Bytes of answers that may still be received.
    to_receive: AtomicU64,
}

impl HttpBudget {
    /// Counts one request.
    fn take(&mut self, limits: &HttpLimits) -> Result<Arc<Share>, Fault> {
        if self.requests >= limits.requests {
            return Err(Fault::TooManyRequests { limit: limits.requests });
        }
        self.requests += 1;
        let shared = self.shared.get_or_insert_with(|| {
            Arc::new(Share {
                slots: Arc::new(Semaphore::new(limits.concurrent)),
                to_send: AtomicU64::new(limits.sent_bytes),
                to_receive: AtomicU64::new(limits.received_bytes),
            })
        });
        Ok(shared.clone())
    }
}

/// Whether a header belongs to the connection, which is the host's, and not to the request.
fn is_forbidden(name: &HeaderName) -> bool {
    const MORE: [HeaderName; 4] = [header::TE, header::TRAILER, header::EXPECT, header::UPGRADE];
    DEFAULT_FORBIDDEN_HEADERS.contains(name) || MORE.contains(name) || name.as_str().starts_with("proxy-")
}

impl WasiHttpHooks for Scope {
    fn forbidden_header_filter(&mut self) -> ForbiddenHeaderFilter {
        Arc::new(is_forbidden)
    }

    // All schemes come to `send_request`, so that a refused one is told in the log like every other refusal.
    fn is_supported_scheme(&mut self, _scheme: &Scheme) -> bool {
        true
    }

    // From the checked target, never from the guest's text.
    fn set_host_header(&mut self) -> bool {
        false
    }

    fn send_request(
        &mut self,
        request: http::Request<WasiBody>,
        options: Option<RequestOptions>,
        _processed: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<dyn Future<Output = Result<Sent, Error>> + Send> {
        let mut audit = Audit::new(self.identity.clone(), request.method());
        match self.prepare(request, options.unwrap_or_default(), &mut audit) {
            Ok(exchange) => Box::new(exchange.run(audit)),
            Err(fault) => {
                // Once the requests are used up, more of them would only fill the log.
                if matches!(fault, Fault::TooManyRequests { .. }) && self.http.told_of_the_end() {
                    audit.silence();
                }
                let error = audit.fail(fault);
                Box::new(std::future::ready(Err(error)))
            }
        }
    }
}

impl HttpBudget {
    /// Whether the guest has been told already that its requests are used up.
    fn told_of_the_end(&mut self) -> bool {
        let told = self.requests == u32::MAX;
        self.requests = u32::MAX;
        told
    }
}

impl Scope {
    /// Everything that can be decided before the network is touched.
    fn prepare(
        &mut self,
        request: http::Request<WasiBody>,
        options: RequestOptions,
        audit: &mut Audit,
    ) -> Result<Exchange, Fault> {
        let identity = self.identity.clone();
        let (rights, network) = (&identity.rights, identity.services.network.clone());
        let limits = *network.limits();
        let (mut parts, body) = request.into_parts();
        let scheme = parts.uri.scheme_str().unwrap_or_default();
        let authority = parts.uri.authority().map(|authority| authority.as_str()).unwrap_or_default();
        // Named before it is judged; what stands before an `@` may be a password.
        let shown = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        audit.at(format!("{scheme}://{shown}"));
        let share = self.http.take(&limits)?;
        let target = Target::parse(scheme, authority)?;
        audit.at(target.to_string());
        rights.http.check(parts.method.as_str(), &target)?;

        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        if path.len() > limits.path_bytes {
            return Err(Fault::PathTooLong { limit: limits.path_bytes });
        }
        secrets::check_path(path)?;
        if let Some(name) = parts.headers.keys().find(|name| is_forbidden(name)) {
            return Err(Fault::Header { name: name.to_string() });
        }
        let bytes: usize =
            parts.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
        if parts.headers.len() > limits.header_fields || bytes > limits.header_bytes {
            return Err(Fault::HeadersTooLarge { bytes });
        }
        rights.secrets.put_in(&mut parts.headers, &target, &identity.services.secrets)?;
        let is_bound = rights.secrets.is_bound_to(&target);
        if is_bound {
            // What comes back must be readable, or a secret could come back unseen.
            parts.headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        parts.headers.entry(header::USER_AGENT).or_insert(HeaderValue::from_static(USER_AGENT));
        parts.headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        let host = HeaderValue::from_str(&target.host_header())
            .map_err(|reason| Fault::Internal { reason: reason.to_string() })?;
        parts.headers.insert(header::HOST, host);
        // On the wire a request to a server, not to a proxy, has path and query only.
        parts.uri = http::Uri::builder()
            .path_and_query(if path.starts_with('?') { format!("/{path}") } else { path.to_owned() })
            .build()
            .map_err(|reason| Fault::Internal { reason: reason.to_string() })?;

        let slot = share
            .slots
            .clone()
            .try_acquire_owned()
            .map_err(|full| Fault::TooManyAtOnce { limit: limits.concurrent, reason: full.to_string() })?;
        Ok(Exchange {
            redactor: rights.secrets.redactor(&identity.services.secrets)?,
            scans_body: rights.secrets.is_granted(),
            must_be_readable: is_bound,
            request: http::Request::from_parts(parts, body),
            rights: rights.clone(),
            target,
            network,
            options,
            deadline: Instant::now() + self.time_left().min(limits.total),
            share,
            slot,
        })
    }
}
