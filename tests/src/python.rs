//! Whether extensions in Python can be built here; without, what needs one is left out.

use std::process::{Command, Stdio};

/// Whether there is a Python that can make a virtual environment.
pub fn is_installed() -> bool {
    let mut python = Command::new("python3");
    python.args(["-c", "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))"]);
    python.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}
