//! How things stand for guest builds, for `capstan doctor`. Looks, and changes nothing.

use std::path::Path;

use crate::finding::{Finding, Status};
use crate::rust::machine::{Compiler, Machine};
use crate::rust::target::GuestTarget;
use crate::rust::toolchain::{any_linkers, installed};
use crate::rust::{packages, sysroot};

/// Says for cargo, the linker and each target what is there and what a build would have to do first.
///
/// Runs `rustc` and, when packages are missing, `id` and `sudo -n true`; writes nothing.
pub fn diagnose(cache: &Path) -> Vec<Finding> {
    diagnose_on(&Machine::detect(None), cache)
}

pub(crate) fn diagnose_on(machine: &Machine, cache: &Path) -> Vec<Finding> {
    let compilers = machine.compilers();
    let mut findings = vec![cargo_finding(machine), linker_finding(machine, &compilers)];
    findings.extend(GuestTarget::ALL.map(|target| target_finding(machine, &compilers, cache, target)));
    findings
}

/// The one command that a person should run next.
pub(crate) fn remedy(machine: &Machine, target: GuestTarget, needed: &[String]) -> String {
    let rustup = format!("rustup target add {target}");
    match (&machine.rustup, &machine.apt_get) {
        (Some(_), Some(_)) if !needed.is_empty() => format!("{rustup}   or   {}", packages::by_hand(needed)),
        (None, Some(_)) if !needed.is_empty() => packages::by_hand(needed),
        (Some(_), _) => rustup,
        (None, _) => format!("install rustup (https://rustup.rs), then run: {rustup}"),
    }
}

fn cargo_finding(machine: &Machine) -> Finding {
    let subject = "cargo".to_owned();
    match &machine.cargo {
        Some(cargo) => {
            Finding { subject, status: Status::Ready, detail: cargo.display().to_string(), remedy: None }
        }
        None => Finding {
            subject,
            status: Status::Missing,
            detail: "not on PATH".to_owned(),
            remedy: Some("install rustup (https://rustup.rs)".to_owned()),
        },
    }
}

fn linker_finding(machine: &Machine, compilers: &[Compiler]) -> Finding {
    let linkers = packages::linker_packages(compilers);
    let subject = "component linker".to_owned();
    match any_linkers(machine, compilers) {
        Some(linkers) => Finding {
            subject,
            status: Status::Ready,
            detail: linkers.component.display().to_string(),
            remedy: None,
        },
        None => Finding {
            subject,
            status: Status::Missing,
            detail: "no wasm-component-ld with rust-lld; Rust from rustup 1.82 or later brings both"
                .to_owned(),
            remedy: Some(match (&machine.rustup, &machine.apt_get) {
                (Some(_), _) => "rustup update stable".to_owned(),
                (None, Some(_)) => packages::by_hand(&linkers),
                (None, None) => "install rustup (https://rustup.rs)".to_owned(),
            }),
        },
    }
}

fn target_finding(machine: &Machine, compilers: &[Compiler], cache: &Path, target: GuestTarget) -> Finding {
    let finding =
        |status, detail: String, remedy| Finding { subject: target.to_string(), status, detail, remedy };
    if installed(machine, compilers, target).is_some() {
        let release =
            compilers.iter().find(|compiler| compiler.knows(target)).map(|compiler| &compiler.release);
        return finding(
            Status::Ready,
            format!("installed for rustc {}", release.map_or("?", |text| text)),
            None,
        );
    }
    let cached = compilers.iter().find_map(|compiler| sysroot::existing(cache, compiler, target));
    if let (Some(sysroot), Some(_)) = (&cached, any_linkers(machine, compilers)) {
        return finding(Status::Ready, format!("built from sources, in {}", sysroot.path.display()), None);
    }
    let needed = packages::missing(machine, compilers, target);
    if machine.rustup.is_some() && machine.may_install {
        let detail = "not installed; the first build asks rustup for it".to_owned();
        return finding(Status::CanBeMade, detail, Some(format!("rustup target add {target}")));
    }
    if needed.is_empty() {
        let detail = "not built yet; the first build compiles it from sources, about a minute".to_owned();
        return finding(Status::CanBeMade, detail, None);
    }
    let remedy = Some(remedy(machine, target, &needed));
    if machine.apt_get.is_some() && machine.may_install && packages::privilege().is_some() {
        let detail = format!("not installed; the first build installs {} to make it", needed.join(" "));
        return finding(Status::CanBeMade, detail, remedy);
    }
    finding(Status::Missing, "not installed, and nothing here can make it".to_owned(), remedy)
}

#[cfg(test)]
#[path = "diagnosis_tests.rs"]
mod tests;
