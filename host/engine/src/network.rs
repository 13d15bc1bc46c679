//! How requests of extensions reach the network: who resolves names, who connects, which certificates count, how much a call
//! may send and receive.
//!
//! Nothing here comes from the environment: no proxy variable and no `SSL_CERT_FILE` changes where an extension's request goes
//! or whom it trusts (reliability N9).

use async_trait::async_trait;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::net::TcpStream;

/// Turns names into addresses. It is asked once for each request; what it answers is checked and then connected to.
#[async_trait]
pub trait Resolver: Send + Sync {
    /// All addresses of a name, which is in canonical form and never `localhost`.
    ///
    /// # Errors
    /// When the name has none, or could not be looked up.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// Opens connections to addresses that were checked.
#[async_trait]
pub trait Dialer: Send + Sync {
    /// A connection to exactly this address.
    ///
    /// # Errors
    /// When nobody answers there.
    async fn dial(&self, address: SocketAddr) -> io::Result<TcpStream>;
}

/// What one call of an extension may use of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    /// Requests, denied ones among them. Hit: further ones fail with `HTTP-request-denied`.
    pub requests: u32,
    /// Requests that are under way at the same time, until their answers are read or dropped. Hit: `connection-limit-reached`.
    pub concurrent: usize,
    /// Bytes of request bodies, of all requests together. Hit: `HTTP-request-body-size`.
    pub sent_bytes: u64,
    /// Bytes of response bodies as they come over the wire, of all requests together; nothing is decompressed. Hit:
    /// `HTTP-response-body-size`.
    pub received_bytes: u64,
    /// Fields of a request's header. Hit: `HTTP-request-header-section-size`.
    pub header_fields: usize,
    /// Bytes of a request's header, names and values. Hit: `HTTP-request-header-section-size`.
    pub header_bytes: usize,
    /// Bytes of path and query. Hit: `HTTP-request-URI-too-long`.
    pub path_bytes: usize,
    /// From the look-up of the name to the end of the handshake. Hit: `DNS-timeout` or `connection-timeout`.
    pub connect: Duration,
    /// From the beginning of a request to the last byte of its answer, and never longer than the call has left. Hit:
    /// `HTTP-response-timeout`.
    pub total: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            // Enough to page through a long list, too few to flood a server from within one call.
            requests: 256,
            concurrent: 8,
            // Uploads of documents, not of disks.
            sent_bytes: 32 << 20,
            // Half of what a tool has of memory.
            received_bytes: 128 << 20,
            // What common servers accept.
            header_fields: 64,
            header_bytes: 32 << 10,
            path_bytes: 8 << 10,
            connect: Duration::from_secs(10),
            // Slow interfaces of models and builds; a tool's own deadline is shorter and decides first.
            total: Duration::from_secs(120),
        }
    }
}

/// Bytes of an answer's header that are read. Hit: `HTTP-response-header-section-size`.
pub(crate) const MAX_RESPONSE_HEADER_BYTES: usize = 64 << 10;

/// Fields of an answer's header. Hit: `HTTP-response-header-section-size`.
pub(crate) const MAX_RESPONSE_HEADER_FIELDS: usize = 128;

/// The way to the network. The default is the system's resolver, direct connections and the certificate authorities that
/// browsers trust. Cloning gives another handle to the same one.
#[derive(Clone)]
pub struct Network {
    shared: Arc<Shared>,
}

#[derive(Clone)]
struct Shared {
    resolver: Arc<dyn Resolver>,
    dialer: Arc<dyn Dialer>,
    limits: HttpLimits,
    authorities: Vec<CertificateDer<'static>>,
    /// Made for the first encrypted request.
    tls: OnceLock<Arc<ClientConfig>>,
}

impl Default for Network {
    fn default() -> Self {
        let system = Arc::new(System);
        let shared = Shared {
            resolver: system.clone(),
            dialer: system,
            limits: HttpLimits::default(),
            authorities: Vec::new(),
            tls: OnceLock::new(),
        };
        Self { shared: Arc::new(shared) }
    }
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Network").field("limits", &self.shared.limits).finish_non_exhaustive()
    }
}

impl Network {
    /// With another resolver.
    #[must_use]
    pub fn with_resolver(self, resolver: Arc<dyn Resolver>) -> Self {
        self.changed(|shared| shared.resolver = resolver)
    }

    /// With another way to connect.
    #[must_use]
    pub fn with_dialer(self, dialer: Arc<dyn Dialer>) -> Self {
        self.changed(|shared| shared.dialer = dialer)
    }

    /// With other limits.
    #[must_use]
    pub fn with_limits(self, limits: HttpLimits) -> Self {
        self.changed(|shared| shared.limits = limits)
    }

    /// With one more certificate authority, as DER: for a company's own. No guest can do this.
    #[must_use]
    pub fn trusting(self, authority: Vec<u8>) -> Self {
        self.changed(|shared| {
            shared.authorities.push(CertificateDer::from(authority));
            shared.tls = OnceLock::new();
        })
    }

    fn changed(self, change: impl FnOnce(&mut Shared)) -> Self {
        let mut shared = Arc::unwrap_or_clone(self.shared);
        change(&mut shared);
        Self { shared: Arc::new(shared) }
    }

    pub(crate) fn resolver(&self) -> &dyn Resolver {
        &*self.shared.resolver
    }

    pub(crate) fn dialer(&self) -> &dyn Dialer {
        &*self.shared.dialer
    }

    pub(crate) fn limits(&self) -> &HttpLimits {
        &self.shared.limits
    }

    /// How encrypted connections are made: TLS 1.2 or 1.3, verified, HTTP/1.1, nothing remembered from one to the next.
    pub(crate) fn tls(&self) -> Result<Arc<ClientConfig>, rustls::Error> {
        if let Some(config) = self.shared.tls.get() {
            return Ok(config.clone());
        }
        let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        for authority in &self.shared.authorities {
            roots.add(authority.clone())?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        // A remembered session would tie the requests of different extensions together (reliability N15).
        config.resumption = rustls::client::Resumption::disabled();
        Ok(self.shared.tls.get_or_init(|| Arc::new(config)).clone())
    }
}

/// The machine's own resolver and network.
struct System;

#[async_trait]
impl Resolver for System {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
    }
}

#[async_trait]
impl Dialer for System {
    async fn dial(&self, address: SocketAddr) -> io::Result<TcpStream> {
        TcpStream::connect(address).await
    }
}
