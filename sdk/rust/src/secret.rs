//! Credentials that the user stored, which an extension uses without ever seeing them. Needs
//! [`Request::secret`](crate::Request::secret), and [`Request::http`](crate::Request::http) for the same endpoint.
//!
//! What the extension holds is a placeholder, `{{secret:NAME}}`. In the value of a header of an HTTP request to the endpoint
//! of the grant the host puts the stored value in its place; everywhere else (another endpoint, the address, the body) the
//! request is refused and nothing is sent. Where an answer repeats the value, the host hides it.
//!
//! ```
//! use capstan_sdk::prelude::*;
//! use capstan_sdk::secret::Secret;
//! use capstan_sdk::{http, testing};
//!
//! const TOKEN: Secret = Secret::named("TRACKER_TOKEN");
//! const TRACKER: &str = "https://tracker.example.com";
//!
//! fn whoami() -> Result<String, http::Error> {
//!     let request = http::Request::get("https://tracker.example.com/me").header("authorization", TOKEN.bearer());
//!     Ok(request.send()?.text().into_owned())
//! }
//!
//! capstan_sdk::extension! {
//!     id: "tracker",
//!     requests: [
//!         Request::http(TRACKER, &[], "To read your issues."),
//!         Request::secret("TRACKER_TOKEN", TRACKER, "To read them as you."),
//!     ],
//!     commands: [command("whoami", "Shows the tracker's account.", |_| Ok(whoami()?))],
//! }
//!
//! # fn main() {
//! let host = testing::Host::new().http(|_| Ok(http::Response::new(200, "ada")));
//! let (name, told) = host.run(whoami);
//! assert_eq!(name.unwrap(), "ada");
//! assert_eq!(
//!     told.requests[0].headers,
//!     [("authorization".to_owned(), "Bearer {{secret:TRACKER_TOKEN}}".to_owned())],
//! );
//! # }
//! ```
//!
//! The user stores the value with `capstan secret set TRACKER_TOKEN`.

use std::fmt::{self, Display};

/// The placeholder of a secret. Its text, by [`Display`] or [`placeholder`](Self::placeholder), is what goes into the value
/// of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Secret {
    name: &'static str,
}

impl Secret {
    /// The secret that the user stored under this name. It is the name of the [`Request::secret`](crate::Request::secret).
    #[must_use]
    pub const fn named(name: &'static str) -> Self {
        Self { name }
    }

    /// The name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The text that the host replaces.
    ///
    /// ```
    /// use capstan_sdk::secret::Secret;
    ///
    /// assert_eq!(Secret::named("KEY").placeholder(), "{{secret:KEY}}");
    /// ```
    #[must_use]
    pub fn placeholder(&self) -> String {
        ["{{secret:", self.name, "}}"].concat()
    }

    /// The value of an `authorization` header that carries the secret as a bearer token.
    ///
    /// ```
    /// use capstan_sdk::secret::Secret;
    ///
    /// assert_eq!(Secret::named("KEY").bearer(), "Bearer {{secret:KEY}}");
    /// ```
    #[must_use]
    pub fn bearer(&self) -> String {
        ["Bearer {{secret:", self.name, "}}"].concat()
    }
}

impl Display for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("{{secret:")?;
        formatter.write_str(self.name)?;
        formatter.write_str("}}")
    }
}
