//! One line in the log for each request of an extension: who, which method, where, what came of it, how many bytes. The bytes also
//! count as its use.
//!
//! Never in it: paths and queries, header values, bodies. They are the places where people put keys.

use super::fault::Fault;
use crate::import::printable;
use crate::state::Identity;
use crate::usage::Meter;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wasmtime_wasi_http::Error;

/// Longest address in the log.
const MAX_SHOWN_BYTES: usize = 300;

/// The line, written when the request is over: at the end of the answer, or when the guest drops it.
pub(crate) struct Audit {
    identity: Arc<Identity>,
    method: String,
    target: String,
    status: Option<u16>,
    sent: Arc<AtomicU64>,
    received: u64,
    fault: Option<(String, bool)>,
    is_silent: bool,
}

impl Audit {
    pub(crate) fn new(identity: Arc<Identity>, method: &http::Method) -> Self {
        Self {
            identity,
            method: printable(method.as_str(), 40),
            target: String::new(),
            status: None,
            sent: Arc::default(),
            received: 0,
            fault: None,
            is_silent: false,
        }
    }

    /// Where it goes.
    pub(crate) fn at(&mut self, target: String) {
        self.target = target;
    }

    /// The answer began.
    pub(crate) fn answered(&mut self, status: u16) {
        self.status = Some(status);
    }

    /// Counts the request's body.
    pub(crate) fn sent(&self) -> Arc<AtomicU64> {
        self.sent.clone()
    }

    /// Counts the answer's body.
    pub(crate) fn receive(&mut self, bytes: usize) {
        self.received += bytes as u64;
    }

    /// Notes what went wrong and gives the guest's error code for it.
    pub(crate) fn fail(&mut self, fault: Fault) -> Error {
        self.fault = Some((printable(&fault.to_string(), 2 * MAX_SHOWN_BYTES), fault.is_denial()));
        fault.to_wasi()
    }

    /// Writes nothing.
    pub(crate) fn silence(&mut self) {
        self.is_silent = true;
    }
}

impl Drop for Audit {
    fn drop(&mut self) {
        let (status, received) = (self.status, self.received);
        let sent = self.sent.load(Ordering::Relaxed);
        Meter::count(&self.identity.meter.http_bytes, sent + received);
        if self.is_silent {
            return;
        }
        let (extension, method) = (&*self.identity.extension, &*self.method);
        let target = printable(&self.target, MAX_SHOWN_BYTES);
        match &self.fault {
            None => tracing::info!(
                target: "capstan::extension", extension, method, target, status, sent, received, "http request"
            ),
            Some((reason, true)) => tracing::warn!(
                target: "capstan::extension", extension, method, target, status, sent, received,
                "http request denied: {reason}"
            ),
            Some((reason, false)) => tracing::info!(
                target: "capstan::extension", extension, method, target, status, sent, received,
                "http request failed: {reason}"
            ),
        }
    }
}
