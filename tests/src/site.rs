//! A web server of a test: it keeps every request as it came over the wire and answers as it is told, well or badly.

use anyhow::Result;
use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// A request as it came.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// The request line and the headers, as they were written.
    pub head: String,
    /// The body without its framing.
    pub body: Vec<u8>,
}

impl Seen {
    /// The value of a header, whatever the case of its name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.head.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// The first line.
    pub fn line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }
}

/// A part of an answer.
#[derive(Debug, Clone)]
pub enum Part {
    /// These bytes.
    Bytes(Vec<u8>),
    /// A pause.
    Pause(Duration),
    /// The same bytes again and again, with a pause after each, until the client goes away.
    Endless(Vec<u8>, Duration),
    /// The connection is torn down instead of closed.
    Reset,
}

/// A whole answer with this status, these further header lines and this body.
pub fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<Part> {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    vec![Part::Bytes([head.as_bytes(), body].concat())]
}

/// The running server. Dropping it stops it.
pub struct Site {
    /// Where it listens.
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    accepting: JoinHandle<()>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Site {
    /// Answers each request with what the function makes of it.
    pub async fn answering(answers: impl Fn(&Seen) -> Vec<Part> + Send + Sync + 'static) -> Result<Self> {
        Self::start(None, answers).await
    }

    /// The same, encrypted.
    pub async fn encrypted(
        identity: &Identity,
        answers: impl Fn(&Seen) -> Vec<Part> + Send + Sync + 'static,
    ) -> Result<Self> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(
                vec![identity.certificate.clone().into()],
                rustls::pki_types::PrivateKeyDer::try_from(identity.key.clone())
                    .map_err(anyhow::Error::msg)?,
            )?;
        Self::start(Some(TlsAcceptor::from(Arc::new(config))), answers).await
    }

    /// Answers everything with `200 OK` and this body.
    pub async fn saying(body: &'static str) -> Result<Self> {
        Self::answering(move |_| answer("200 OK", "", body)).await
    }

    async fn start(
        tls: Option<TlsAcceptor>,
        answers: impl Fn(&Seen) -> Vec<Part> + Send + Sync + 'static,
    ) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (kept, answers) = (seen.clone(), Arc::new(answers));
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (kept, answers, tls) = (kept.clone(), answers.clone(), tls.clone());
                // A client that gives up early is what some tests are about.
                tokio::spawn(async move {
                    match tls {
                        None => drop(serve(stream, &kept, &*answers).await),
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                drop(serve(stream, &kept, &*answers).await);
                            }
                        }
                    }
                });
            }
        });
        Ok(Self { address, seen, accepting })
    }

    /// The requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// `127.0.0.1:port`.
    pub fn authority(&self) -> String {
        self.address.to_string()
    }

    /// `http://127.0.0.1:port`, as a grant names it.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// Lets a connection be torn down in place of a close.
trait Tear {
    fn tear(&self);
}

impl Tear for TcpStream {
    fn tear(&self) {
        // Without it the connection is merely closed, and the test that wants a reset tells.
        drop(self.set_zero_linger());
    }
}

impl Tear for tokio_rustls::server::TlsStream<TcpStream> {
    fn tear(&self) {
        self.get_ref().0.tear();
    }
}

async fn serve<S: AsyncRead + AsyncWrite + Tear + Unpin>(
    stream: S,
    kept: &Mutex<Vec<Seen>>,
    answers: &(dyn Fn(&Seen) -> Vec<Part> + Send + Sync),
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut seen = Seen::default();
    loop {
        let before = seen.head.len();
        if stream.read_line(&mut seen.head).await? == 0 {
            return Ok(());
        }
        if seen.head.len() - before <= 2 {
            break;
        }
    }
    let body = read_body(&mut stream, &seen).await;
    // What came of a request that broke off is kept, too.
    seen.body = match &body {
        Ok(body) => body.clone(),
        Err((partial, _)) => partial.clone(),
    };
    let parts = answers(&seen);
    kept.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
    body.map_err(|(_, reason)| reason)?;
    let stream = stream.get_mut();
    for part in parts {
        match part {
            Part::Bytes(bytes) => {
                stream.write_all(&bytes).await?;
                stream.flush().await?;
            }
            Part::Pause(pause) => tokio::time::sleep(pause).await,
            Part::Endless(bytes, pause) => loop {
                stream.write_all(&bytes).await?;
                stream.flush().await?;
                tokio::time::sleep(pause).await;
            },
            Part::Reset => {
                stream.tear();
                return Ok(());
            }
        }
    }
    stream.shutdown().await
}

type Body = Result<Vec<u8>, (Vec<u8>, std::io::Error)>;

async fn read_body<S: AsyncRead + Unpin>(stream: &mut BufReader<S>, seen: &Seen) -> Body {
    let mut body = Vec::new();
    let read = async {
        if let Some(length) = seen.header("content-length").and_then(|length| length.parse().ok()) {
            stream.take(length).read_to_end(&mut body).await?;
            if (body.len() as u64) < length {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        } else if seen.header("transfer-encoding").is_some() {
            loop {
                let mut size = String::new();
                stream.read_line(&mut size).await?;
                let size = u64::from_str_radix(size.trim(), 16).map_err(std::io::Error::other)?;
                stream.take(size).read_to_end(&mut body).await?;
                stream.read_line(&mut String::new()).await?;
                if size == 0 {
                    return Ok(());
                }
            }
        }
        Ok(())
    };
    match read.await {
        Ok(()) => Ok(body),
        Err(reason) => Err((body, reason)),
    }
}

/// A certificate with its key.
pub struct Identity {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

/// An authority that signs certificates of servers.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    /// A new one that nobody trusts yet.
    pub fn new() -> Result<Self> {
        let mut parameters = CertificateParams::new(Vec::new())?;
        parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        Ok(Self { issuer: CertifiedIssuer::self_signed(parameters, KeyPair::generate()?)? })
    }

    /// Its own certificate, as DER.
    pub fn certificate(&self) -> Vec<u8> {
        self.issuer.der().to_vec()
    }

    /// A certificate for a name that ends in this year.
    pub fn sign(&self, name: &str, until: i32) -> Result<Identity> {
        let mut parameters = CertificateParams::new(vec![name.to_owned()])?;
        parameters.not_before = rcgen::date_time_ymd(2000, 1, 1);
        parameters.not_after = rcgen::date_time_ymd(until, 1, 1);
        let key = KeyPair::generate()?;
        let certificate = parameters.signed_by(&key, &self.issuer)?;
        Ok(Identity { certificate: certificate.der().to_vec(), key: key.serialize_der() })
    }
}
