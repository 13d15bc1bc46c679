//! Node.js, which not every machine has.

use std::process::{Command, Stdio};

/// Whether extensions in JavaScript can be built here: there is npm, and a node that is new enough.
#[must_use]
pub fn is_usable() -> bool {
    let well = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    well("node", &["-e", "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)"])
        && well("npm", &["--version"])
}
