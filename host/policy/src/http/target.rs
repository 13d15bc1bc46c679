//! Where a request goes, in canonical form.

use std::fmt;
use std::net::IpAddr;

/// The longest name that the domain name system knows.
const MAX_NAME_BYTES: usize = 253;

/// The longest part of a name between two dots.
const MAX_LABEL_BYTES: usize = 63;

/// How it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheme {
    /// In the clear.
    Http,
    /// Encrypted, to a server that proved its name.
    Https,
}

impl Scheme {
    /// Reads a scheme, in any case.
    ///
    /// # Errors
    /// When it is neither `http` nor `https`.
    pub fn parse(text: &str) -> Result<Self, InvalidTarget> {
        if text.eq_ignore_ascii_case("http") {
            Ok(Self::Http)
        } else if text.eq_ignore_ascii_case("https") {
            Ok(Self::Https)
        } else {
            Err(InvalidTarget::Scheme { found: short(text) })
        }
    }

    /// The port that is meant where none is written.
    pub fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

/// A host in canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Host {
    /// Lower case, ASCII (international names in their `xn--` form), without a trailing dot.
    Name(String),
    /// A literal address; `2130706433` and `0x7f.1` are `127.0.0.1`.
    Address(IpAddr),
}

impl Host {
    /// Reads a host, an IPv6 address in brackets.
    ///
    /// # Errors
    /// When it is no host name and no address.
    pub fn parse(text: &str) -> Result<Self, InvalidTarget> {
        let refuse = |reason: &str| InvalidTarget::Host { found: short(text), reason: reason.to_owned() };
        // An encoded character has no place in a host, and would be decoded by some readers and not by others.
        if text.contains(['%', '@', '/', '\\', '?', '#'])
            || text.chars().any(|c| c.is_whitespace() || c.is_control())
        {
            return Err(refuse("it holds a character that no host has"));
        }
        match url::Host::parse(text) {
            Ok(url::Host::Ipv4(address)) => Ok(Self::Address(address.into())),
            Ok(url::Host::Ipv6(address)) => Ok(Self::Address(address.into())),
            Ok(url::Host::Domain(name)) => {
                let name = name.strip_suffix('.').unwrap_or(&name);
                if name.is_empty() || name.len() > MAX_NAME_BYTES {
                    return Err(refuse("a name has 1 to 253 characters"));
                }
                if name.split('.').any(|label| label.is_empty() || label.len() > MAX_LABEL_BYTES) {
                    return Err(refuse("each part of a name has 1 to 63 characters"));
                }
                if name.contains('*') {
                    return Err(refuse("`*` is no part of a host"));
                }
                Ok(Self::Name(name.to_owned()))
            }
            Err(reason) => Err(refuse(&reason.to_string())),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

/// Scheme, host and port of a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target {
    /// How it is sent.
    pub scheme: Scheme,
    /// To whom.
    pub host: Host,
    /// The port, written out.
    pub port: u16,
}

impl Target {
    /// From the parts of a URL. `authority` is what stands between `//` and the next `/`.
    ///
    /// # Errors
    /// When it has a user in it, another scheme, or no host that could be meant.
    pub fn parse(scheme: &str, authority: &str) -> Result<Self, InvalidTarget> {
        let scheme = Scheme::parse(scheme)?;
        if authority.contains('@') {
            return Err(InvalidTarget::UserInfo);
        }
        let (host, port) = split_port(authority)?;
        Ok(Self { scheme, host: Host::parse(host)?, port: port.unwrap_or(scheme.default_port()) })
    }

    /// The value of the `Host` header: the port only where it is not the scheme's.
    pub fn host_header(&self) -> String {
        if self.port == self.scheme.default_port() {
            self.host.to_string()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.as_str(), self.host_header())
    }
}

/// Takes `host:port` apart; the brackets of an IPv6 address stay.
pub(crate) fn split_port(authority: &str) -> Result<(&str, Option<u16>), InvalidTarget> {
    let colon = match authority.rfind(']') {
        Some(end) => authority[end..].find(':').map(|at| end + at),
        None => authority.find(':'),
    };
    let Some(colon) = colon else { return Ok((authority, None)) };
    let (host, port) = (&authority[..colon], &authority[colon + 1..]);
    let digits = !port.is_empty() && port.len() <= 5 && port.bytes().all(|b| b.is_ascii_digit());
    match port.parse::<u16>() {
        Ok(number) if digits && number != 0 => Ok((host, Some(number))),
        _ => Err(InvalidTarget::Port { found: short(port) }),
    }
}

/// Enough of a stranger's text to recognise it.
fn short(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Not an address that a request could go to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTarget {
    /// Another scheme.
    #[error("the scheme `{found}` is neither http nor https")]
    Scheme {
        /// What was written.
        found: String,
    },
    /// `user@host`: what looks like a host before the `@` is none.
    #[error("an address must not hold a user name or password (`…@`)")]
    UserInfo,
    /// No host.
    #[error("`{found}` is no host: {reason}")]
    Host {
        /// What was written.
        found: String,
        /// Why not.
        reason: String,
    },
    /// No port.
    #[error("`{found}` is no port; a port is a number from 1 to 65535")]
    Port {
        /// What was written.
        found: String,
    },
}

#[cfg(test)]
#[path = "target_tests.rs"]
mod tests;
