//! From a target to a connection: one look-up, a judgement of every address, and a connection to one of exactly these.

use super::fault::Fault;
use crate::network::Network;
use crate::rights::Rights;
use capstan_policy::Target;
use capstan_policy::http::pattern::LOCALHOST;
use capstan_policy::http::{Host, Scheme};
use rustls::pki_types::ServerName;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

/// Addresses of one name that are tried, one after another.
const MAX_TRIED: usize = 8;

/// A connection, encrypted or not.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Connects under the grants for this method. There is no second look-up between judgement and connection, so a resolver that
/// answers differently the second time changes nothing (reliability N4).
pub(crate) async fn connect(
    target: &Target,
    method: &str,
    rights: &Rights,
    network: &Network,
    until: Instant,
) -> Result<Box<dyn Stream>, Fault> {
    let addresses = resolve(target, network, until).await?;
    rights.http.check(method, target)?.check_addresses(target, &addresses)?;
    let mut failed = Fault::NoAddress;
    for address in addresses.into_iter().take(MAX_TRIED) {
        let dialing = network.dialer().dial(SocketAddr::new(address, target.port));
        match timeout_at(until, dialing).await {
            Ok(Ok(stream)) => {
                // Requests are written in few, whole pieces. Where this cannot be set, they are only a little later.
                if let Err(reason) = stream.set_nodelay(true) {
                    tracing::debug!(%reason, "a connection could not be set to send at once");
                }
                return match target.scheme {
                    Scheme::Http => Ok(Box::new(stream)),
                    Scheme::Https => encrypt(stream, target, network, until).await,
                };
            }
            Ok(Err(source)) => failed = Fault::Connect { source },
            Err(_elapsed) => return Err(Fault::ConnectTimeout),
        }
    }
    Err(failed)
}

async fn resolve(target: &Target, network: &Network, until: Instant) -> Result<Vec<IpAddr>, Fault> {
    let name = match &target.host {
        Host::Address(address) => return Ok(vec![*address]),
        // What this name means is not for a resolver to say.
        Host::Name(name) if name == LOCALHOST => {
            return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
        }
        Host::Name(name) => name,
    };
    match timeout_at(until, network.resolver().resolve(name)).await {
        Ok(Ok(addresses)) if addresses.is_empty() => Err(Fault::NoAddress),
        Ok(Ok(addresses)) => Ok(addresses),
        Ok(Err(source)) => Err(Fault::Resolve { source }),
        Err(_elapsed) => Err(Fault::ResolveTimeout),
    }
}

/// The server must prove the name of the target, not that of the address.
async fn encrypt(
    stream: tokio::net::TcpStream,
    target: &Target,
    network: &Network,
    until: Instant,
) -> Result<Box<dyn Stream>, Fault> {
    let name = match &target.host {
        Host::Address(address) => ServerName::from(*address),
        Host::Name(name) => ServerName::try_from(name.clone())
            .map_err(|reason| Fault::Internal { reason: format!("{name}: {reason}") })?,
    };
    let config = network.tls().map_err(|reason| Fault::Internal { reason: reason.to_string() })?;
    match timeout_at(until, TlsConnector::from(config).connect(name, stream)).await {
        Ok(Ok(stream)) => Ok(Box::new(stream)),
        Ok(Err(source)) => Err(Fault::Tls { source }),
        Err(_elapsed) => Err(Fault::ConnectTimeout),
    }
}
