//! Secrets in requests: the placeholder of a guest becomes the value on the way to the bound endpoint, and nowhere else.

use super::fault::Fault;
use super::redact::{Forms, Redactor};
use crate::services::Secrets;
use capstan_policy::Target;
use capstan_policy::secret::{PLACEHOLDER_START, Piece, SecretBinding, check_value, pieces};
use http::{HeaderMap, HeaderValue};
use memchr::memmem;
use percent_encoding::percent_decode_str;
use std::sync::{Arc, OnceLock};

/// The secrets that an extension may use, each toward its endpoint.
#[derive(Debug, Clone, Default)]
pub(crate) struct BoundSecrets {
    bindings: Vec<SecretBinding>,
    /// What to look for in answers; made with the first request, from the values as they are for the whole session.
    forms: OnceLock<Result<Option<Arc<Forms>>, String>>,
}

impl BoundSecrets {
    /// Adds a grant.
    pub(crate) fn push(&mut self, binding: SecretBinding) {
        self.bindings.push(binding);
    }

    /// Whether there is any.
    pub(crate) fn is_granted(&self) -> bool {
        !self.bindings.is_empty()
    }

    /// Whether any may go there.
    pub(crate) fn is_bound_to(&self, target: &Target) -> bool {
        self.bindings.iter().any(|binding| binding.is_bound_to(target))
    }

    /// Puts values in the place of placeholders in header values. Where one may not be put in, nothing is sent: a server
    /// would see which secrets there are, and the author would not see the mistake.
    pub(crate) fn put_in(
        &self,
        headers: &mut HeaderMap,
        target: &Target,
        secrets: &Secrets,
    ) -> Result<(), Fault> {
        for (name, value) in headers.iter_mut() {
            if memmem::find(value.as_bytes(), PLACEHOLDER_START.as_bytes()).is_none() {
                continue;
            }
            let malformed = || Fault::PlaceholderForm { header: name.to_string() };
            let text = std::str::from_utf8(value.as_bytes()).ok().ok_or_else(malformed)?;
            let mut whole = String::with_capacity(text.len());
            for piece in pieces(text).ok_or_else(malformed)? {
                whole.push_str(match piece {
                    Piece::Text(text) => text,
                    Piece::Secret(secret) => self.value(secret, target, secrets)?,
                });
            }
            // The error does not hold the value.
            let mut filled = HeaderValue::from_str(&whole)
                .map_err(|reason| Fault::Internal { reason: format!("the header `{name}`: {reason}") })?;
            filled.set_sensitive(true);
            *value = filled;
        }
        Ok(())
    }

    fn value<'s>(&self, name: &str, target: &Target, secrets: &'s Secrets) -> Result<&'s str, Fault> {
        let mut granted = self.bindings.iter().filter(|binding| binding.name == name).peekable();
        let Some(first) = granted.peek() else {
            return Err(Fault::SecretNotGranted { name: name.to_owned() });
        };
        let endpoint = first.endpoint();
        if !granted.any(|binding| binding.is_bound_to(target)) {
            return Err(Fault::SecretElsewhere {
                name: name.to_owned(),
                endpoint,
                target: target.to_string(),
            });
        }
        let value = secrets.get(name).ok_or_else(|| Fault::SecretNotStored { name: name.to_owned() })?;
        check_value(name, value)?;
        Ok(value)
    }

    /// Hides the values that this extension may use, in everything that comes back to it. `None` where there are none.
    pub(crate) fn redactor(&self, secrets: &Secrets) -> Result<Option<Redactor>, Fault> {
        let forms = self.forms.get_or_init(|| {
            let names = self.bindings.iter().map(|binding| binding.name.as_str());
            let mut values: Vec<_> = names.filter_map(|name| Some((name, secrets.get(name)?))).collect();
            // One that cannot be sent cannot come back.
            values.retain(|(name, value)| check_value(name, value).is_ok());
            values.sort_unstable();
            values.dedup();
            match values.is_empty() {
                true => Ok(None),
                false => Forms::new(&values).map(|forms| Some(Arc::new(forms))),
            }
        });
        match forms {
            Ok(forms) => Ok(forms.clone().map(Redactor::new)),
            Err(reason) => Err(Fault::Internal { reason: reason.clone() }),
        }
    }
}

/// Refuses a placeholder in path or query, plain or percent-encoded: addresses end up in the logs of servers.
pub(crate) fn check_path(path: &str) -> Result<(), Fault> {
    let found = |bytes: &[u8]| memmem::find(bytes, PLACEHOLDER_START.as_bytes()).is_some();
    let decoded: Vec<u8> = percent_decode_str(path).collect();
    if found(path.as_bytes()) || found(&decoded) {
        return Err(Fault::PlaceholderPlace { place: "the address" });
    }
    Ok(())
}

/// Searches a body that comes in pieces for the beginning of a placeholder.
#[derive(Default)]
pub(crate) struct PlaceholderSearch {
    /// The last bytes, in which one could have begun.
    tail: Vec<u8>,
}

impl PlaceholderSearch {
    const CARRIED: usize = PLACEHOLDER_START.len() - 1;

    /// Whether one begins in this piece, or began before and goes on in it.
    pub(crate) fn finds_in(&mut self, piece: &[u8]) -> bool {
        let needle = PLACEHOLDER_START.as_bytes();
        self.tail.extend_from_slice(&piece[..piece.len().min(Self::CARRIED)]);
        if memmem::find(&self.tail, needle).is_some() || memmem::find(piece, needle).is_some() {
            return true;
        }
        if piece.len() >= Self::CARRIED {
            self.tail.clear();
            self.tail.extend_from_slice(&piece[piece.len() - Self::CARRIED..]);
        } else {
            let surplus = self.tail.len().saturating_sub(Self::CARRIED);
            self.tail.drain(..surplus);
        }
        false
    }
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
