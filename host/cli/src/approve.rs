//! Grants, given by a person at the terminal: shown with the extension's own reasons, bound to its bytes.

use crate::catalog::{About, Catalog, Found, State};
use crate::config;
use crate::home::Home;
use crate::screen::{self, BOLD, DIM, WARN, visible};
use anyhow::{Result, bail};
use capstan_policy::directory::{check_reach, resolve};
use capstan_policy::{Grants, Places};
use capstan_ports::extension::Capability;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What an extension is and asks for, for a person to decide on.
pub(crate) fn card(found: &Found, about: &About) -> String {
    let descriptor = &about.descriptor;
    let mut card = String::new();
    let mut line = |text: std::fmt::Arguments<'_>| {
        // Writing to a string does not fail.
        let _infallible = writeln!(card, "{text}");
    };
    line(format_args!(
        "{BOLD}{}{BOLD:#} {} {DIM}{} sha256:{}{DIM:#}",
        descriptor.id,
        visible(&descriptor.version),
        screen::path(&found.path),
        about.digest.short()
    ));
    line(format_args!("  {}", visible(&descriptor.summary)));
    if descriptor.requests.is_empty() {
        line(format_args!("  asks for nothing"));
    }
    for request in &descriptor.requests {
        let weight = if request.required { "needs to" } else { "would like to" };
        line(format_args!(
            "  {weight} {WARN}{}{WARN:#}: {}",
            visible(&request.capability.to_string()),
            visible(&request.reason)
        ));
    }
    card
}

/// What can be granted of what is asked for. A wish that this version cannot enforce is an error if it is required, and
/// left out if not.
pub(crate) fn grantable(about: &About, home: &Home) -> Result<BTreeSet<Capability>> {
    let places = home.places();
    let mut grantable = BTreeSet::new();
    for request in &about.descriptor.requests {
        let capability = &request.capability;
        match possible(capability, &places) {
            Ok(()) => {
                grantable.insert(capability.clone());
            }
            Err(reason) if request.required => {
                bail!("{} cannot be allowed: {reason:#}", about.descriptor.id);
            }
            Err(reason) => tracing::warn!("left out: {reason:#}"),
        }
    }
    Ok(grantable)
}

/// Whether a capability can be granted, as far as this machine is concerned.
pub(crate) fn possible(capability: &Capability, places: &Places) -> Result<()> {
    match capability {
        Capability::Directory { path, access } => resolve(path, *access, places)
            .and_then(|directory| {
                let real = directory.host.canonicalize().unwrap_or(directory.host);
                check_reach(path, &real, places)
            })
            .map_err(anyhow::Error::new),
        // Out of form they are refused when the extension is loaded.
        Capability::Environment { .. }
        | Capability::Http { .. }
        | Capability::Secret { .. }
        | Capability::Process { .. }
        | Capability::Model { .. }
        | Capability::KeyValue { .. }
        | Capability::SessionMemory
        | Capability::Power { .. } => Ok(()),
    }
}

/// Grants everything that an extension asks for and can be given, to these bytes.
pub(crate) fn allow(home: &Home, grants: &mut Grants, about: &About) -> Result<BTreeSet<Capability>> {
    let granted = grantable(about, home)?;
    grants.allow(&about.descriptor.id, about.digest, granted.clone());
    config::save_grants(home, grants)?;
    Ok(granted)
}

/// Those that wait for an answer.
pub(crate) fn waiting(catalog: &Catalog) -> impl Iterator<Item = (&Found, &About)> {
    catalog.found.iter().filter_map(|found| match (&found.state, &found.about) {
        (State::Waiting { .. } | State::Modified { .. }, Some(about)) => Some((found, about)),
        _ => None,
    })
}
