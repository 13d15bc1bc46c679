//! Which requests the grants of an extension allow.

use crate::http::address::classify;
use crate::http::pattern::{EndpointPattern, InvalidPattern};
use crate::http::target::Target;
use std::net::IpAddr;

/// What a grant without methods allows: to read.
const DEFAULT_METHODS: [&str; 2] = ["GET", "HEAD"];

/// Never allowed: one makes a tunnel, the other sends request headers back.
const NEVER: [&str; 2] = ["CONNECT", "TRACE"];

const MAX_METHOD_BYTES: usize = 32;

/// One grant of outgoing HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRule {
    pattern: EndpointPattern,
    /// Empty: `GET` and `HEAD`.
    methods: Vec<String>,
}

impl HttpRule {
    /// From what a grant or a request says.
    ///
    /// # Errors
    /// When pattern or methods are none that could be granted.
    pub fn new(pattern: &str, methods: &[String]) -> Result<Self, InvalidRule> {
        let pattern = EndpointPattern::parse(pattern)?;
        for method in methods {
            let fits = (1..=MAX_METHOD_BYTES).contains(&method.len())
                && method.bytes().all(|b| b.is_ascii_uppercase() || b == b'-');
            if !fits || NEVER.contains(&method.as_str()) {
                return Err(InvalidMethod { found: method.chars().take(40).collect() }.into());
            }
        }
        Ok(Self { pattern, methods: methods.to_vec() })
    }

    fn allows_method(&self, method: &str) -> bool {
        !NEVER.contains(&method)
            && match self.methods.is_empty() {
                true => DEFAULT_METHODS.contains(&method),
                false => self.methods.iter().any(|allowed| allowed == method),
            }
    }
}

/// A grant of HTTP that cannot be given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRule {
    /// The address.
    #[error(transparent)]
    Pattern(#[from] InvalidPattern),
    /// A method.
    #[error(transparent)]
    Method(#[from] InvalidMethod),
}

/// Not a method that could be granted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the method `{found}` cannot be granted; methods are written in capitals, and CONNECT and TRACE are never allowed"
)]
pub struct InvalidMethod {
    /// What was written.
    pub found: String,
}

/// All grants of HTTP of one extension. The default allows nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HttpRules {
    rules: Vec<HttpRule>,
}

impl HttpRules {
    /// Adds a grant.
    pub fn push(&mut self, rule: HttpRule) {
        self.rules.push(rule);
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The grants under which this request may be made.
    ///
    /// # Errors
    /// When there is none; the error tells whether only the method is missing.
    pub fn check(&self, method: &str, target: &Target) -> Result<Allowed<'_>, Refusal> {
        let named: Vec<_> = self.rules.iter().filter(|rule| rule.pattern.matches(target)).collect();
        if named.is_empty() {
            return Err(Refusal::Endpoint { target: target.to_string() });
        }
        let rules: Vec<_> = named.into_iter().filter(|rule| rule.allows_method(method)).collect();
        if rules.is_empty() {
            let method = method.chars().take(40).collect();
            return Err(Refusal::Method { method, target: target.to_string() });
        }
        Ok(Allowed { rules })
    }
}

/// Grants that allow a request. What is left to judge are the addresses that its host has.
#[derive(Debug, Clone)]
pub struct Allowed<'a> {
    rules: Vec<&'a HttpRule>,
}

impl Allowed<'_> {
    /// Whether all these addresses may be connected to. One that may not spoils them all: a name that leads both outside and
    /// inside is either an attack or a mistake.
    ///
    /// # Errors
    /// When one of them is not public and not named by the grant.
    pub fn check_addresses(&self, target: &Target, addresses: &[IpAddr]) -> Result<(), Refusal> {
        let may = |address: &IpAddr| self.rules.iter().any(|rule| rule.pattern.may_lead_to(*address));
        match addresses.iter().find(|address| !may(address)) {
            None => Ok(()),
            Some(address) => Err(Refusal::Address {
                target: target.to_string(),
                address: *address,
                class: classify(*address).to_string(),
            }),
        }
    }
}

/// Why a request is not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No grant names the endpoint.
    #[error("no grant allows {target}")]
    Endpoint {
        /// Scheme, host and port.
        target: String,
    },
    /// A grant names the endpoint, but not with this method.
    #[error("no grant allows {method} to {target}")]
    Method {
        /// What was tried.
        method: String,
        /// Scheme, host and port.
        target: String,
    },
    /// The name leads to an address that is not public.
    #[error("{target} leads to {address}, {class}; only a grant that names it so reaches it")]
    Address {
        /// Scheme, host and port.
        target: String,
        /// Where it leads.
        address: IpAddr,
        /// What kind of address that is.
        class: String,
    },
}

#[cfg(test)]
#[path = "rule_tests.rs"]
mod tests;
