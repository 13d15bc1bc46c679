//! Tools of this host, for other clients.
