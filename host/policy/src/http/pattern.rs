//! What a grant says about addresses: `scheme://host[:port]`.

use crate::http::address::{AddressClass, classify};
use crate::http::target::{Host, InvalidTarget, Scheme, Target, split_port};
use std::fmt;
use std::net::IpAddr;

/// The name of this machine for itself. It means loopback addresses, whatever a resolver says.
pub const LOCALHOST: &str = "localhost";

/// An endpoint that was granted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EndpointPattern {
    scheme: Scheme,
    host: HostPattern,
    port: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum HostPattern {
    Exactly(Host),
    /// Every name below this one, at any depth, and not the name itself.
    Below(String),
}

impl EndpointPattern {
    /// Reads `scheme://host[:port]`, the host with or without a leading `*.`.
    ///
    /// # Errors
    /// When it is of another form, or names what no grant can name.
    pub fn parse(text: &str) -> Result<Self, InvalidPattern> {
        let refuse = |reason: &str| InvalidPattern {
            pattern: text.chars().take(120).collect(),
            reason: reason.to_owned(),
        };
        let as_target = |reason: InvalidTarget| refuse(&reason.to_string());
        let (scheme, authority) = text
            .split_once("://")
            .ok_or_else(|| refuse("write scheme://host[:port], for example https://api.example.com"))?;
        let scheme = Scheme::parse(scheme).map_err(as_target)?;
        if authority.contains('@') {
            return Err(as_target(InvalidTarget::UserInfo));
        }
        if authority.contains(['/', '?', '#']) {
            return Err(refuse("it ends after host and port; paths cannot be granted"));
        }
        let (host, port) = split_port(authority).map_err(as_target)?;
        let host = match host.strip_prefix("*.") {
            Some(parent) => match Host::parse(parent).map_err(as_target)? {
                Host::Address(_) => return Err(refuse("`*.` goes with names, not with addresses")),
                Host::Name(name) if !name.contains('.') => {
                    return Err(refuse(
                        "`*.` needs a name with at least two parts after it, as in *.example.com",
                    ));
                }
                Host::Name(name) => HostPattern::Below(name),
            },
            None if host.contains('*') => {
                return Err(refuse(
                    "`*` can only stand for the whole beginning of a name, as in *.example.com",
                ));
            }
            None => HostPattern::Exactly(Host::parse(host).map_err(as_target)?),
        };
        if let HostPattern::Exactly(Host::Address(address)) = &host {
            let class = classify(*address);
            if !class.can_be_named() {
                return Err(refuse(&format!("{address} is {class}, which leads to no certain server")));
            }
            if let IpAddr::V6(address) = address
                && let Some(inner) = address.to_ipv4_mapped()
            {
                return Err(refuse(&format!("write the IPv4 address {inner} itself")));
            }
        }
        Ok(Self { scheme, host, port: port.unwrap_or(scheme.default_port()) })
    }

    /// Whether scheme, host and port are those of the target.
    pub fn matches(&self, target: &Target) -> bool {
        let host = match (&self.host, &target.host) {
            (HostPattern::Exactly(host), wanted) => host == wanted,
            (HostPattern::Below(parent), Host::Name(name)) => {
                name.strip_suffix(parent.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
            (HostPattern::Below(_), Host::Address(_)) => false,
        };
        host && self.scheme == target.scheme && self.port == target.port
    }

    /// Whether a target that matches may lead to this address: a public one always, another only where the pattern names it,
    /// and `localhost` to nothing but loopback.
    pub fn may_lead_to(&self, address: IpAddr) -> bool {
        let class = classify(address);
        match &self.host {
            HostPattern::Exactly(Host::Address(named)) => *named == address,
            HostPattern::Exactly(Host::Name(name)) if name == LOCALHOST => class == AddressClass::Loopback,
            HostPattern::Exactly(Host::Name(_)) | HostPattern::Below(_) => class == AddressClass::Public,
        }
    }

    /// Whether a credential may go there: to one certain host, and not in the clear through a network of strangers.
    ///
    /// # Errors
    /// When it may not; the error says why.
    pub fn check_for_secret(&self) -> Result<(), InvalidPattern> {
        let refuse = |reason: &str| InvalidPattern { pattern: self.to_string(), reason: reason.to_owned() };
        let is_near = match &self.host {
            HostPattern::Below(_) => {
                return Err(refuse("a secret goes to one host; write its whole name instead of `*.`"));
            }
            HostPattern::Exactly(Host::Name(name)) => name == LOCALHOST,
            HostPattern::Exactly(Host::Address(address)) => classify(*address) != AddressClass::Public,
        };
        if self.scheme == Scheme::Http && !is_near {
            return Err(refuse("a secret must not go through the network in the clear; use https"));
        }
        Ok(())
    }
}

impl fmt::Display for EndpointPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://", self.scheme.as_str())?;
        match &self.host {
            HostPattern::Exactly(host) => write!(f, "{host}")?,
            HostPattern::Below(parent) => write!(f, "*.{parent}")?,
        }
        if self.port != self.scheme.default_port() {
            write!(f, ":{}", self.port)?;
        }
        Ok(())
    }
}

/// Not a pattern that could be granted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` cannot be granted: {reason}")]
pub struct InvalidPattern {
    /// As it was written.
    pub pattern: String,
    /// Why not, and what to write.
    pub reason: String,
}

#[cfg(test)]
#[path = "pattern_tests.rs"]
mod tests;
