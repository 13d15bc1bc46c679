//! Encrypted requests: the server must prove the name that was granted.

use super::{Fake, get, probe_in};
use anyhow::Result;
use capstan_engine::Network;
use capstan_tests::probe::http;
use capstan_tests::site::{Authority, Site, answer};
use std::sync::Arc;

async fn site(authority: &Authority, name: &str, until: i32) -> Result<(Site, Arc<Fake>)> {
    let site = Site::encrypted(&authority.sign(name, until)?, |_| answer("200 OK", "", "hello")).await?;
    let fake = Fake::answering(&[&["93.184.216.34"]], site.address);
    Ok((site, fake))
}

async fn fetch(network: Network) -> Result<serde_json::Value> {
    let probe = probe_in(network, &[http("https://api.example.com", &[])]).await?;
    Ok(probe.step(get("https://api.example.com/")).await?)
}

// N16
#[tokio::test]
async fn only_a_certificate_for_the_granted_name_from_a_trusted_authority_counts() -> Result<()> {
    let authority = Authority::new()?;
    let trusted = |fake: &Arc<Fake>| fake.network().trusting(authority.certificate());

    let (good, fake) = site(&authority, "api.example.com", 2100).await?;
    assert_eq!(fetch(trusted(&fake)).await?["ok"]["body"], "hello");
    assert_eq!(good.seen()[0].header("host"), Some("api.example.com"));

    // Nobody vouches for it.
    assert_eq!(fetch(fake.network()).await?["error"], "ErrorCode::TlsCertificateError");
    let (_wrong_name, fake) = site(&authority, "other.example.com", 2100).await?;
    assert_eq!(fetch(trusted(&fake)).await?["error"], "ErrorCode::TlsCertificateError");
    let (_expired, fake) = site(&authority, "api.example.com", 2020).await?;
    assert_eq!(fetch(trusted(&fake)).await?["error"], "ErrorCode::TlsCertificateError");
    assert_eq!(good.seen().len(), 1);

    // Not encrypted at all.
    let plain = Site::saying("hello").await?;
    let fake = Fake::answering(&[&["93.184.216.34"]], plain.address);
    assert_eq!(fetch(trusted(&fake)).await?["error"], "ErrorCode::TlsProtocolError");
    assert!(plain.seen().is_empty());
    Ok(())
}
