//! A node and an npm made of shell scripts, and a project.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::javascript::machine::Machine;
use crate::javascript::project::Project;

/// Lives in a folder of its own, with the project in `project/` and the SDK in `sdk/`.
pub(crate) struct FakeMachine {
    pub(crate) folder: TempDir,
    pub(crate) machine: Machine,
}

impl FakeMachine {
    /// A node that writes a component to the path behind `--out`, and an npm that copies the SDK and keeps a list of its calls.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for made in ["project", "sdk/bin"] {
            fs::create_dir_all(root.join(made)).unwrap();
        }
        fs::write(root.join("sdk/bin/capstan-sdk.js"), "").unwrap();
        fs::write(
            root.join("project/package.json"),
            r#"{ "name": "tiny", "capstan": { "entry": "a.js" }, "scripts": { "test": "node --test" },
                 "dependencies": { "capstan-sdk": "file:../sdk" } }"#,
        )
        .unwrap();
        let fake = Self {
            machine: Machine {
                node: Some(root.join("node")),
                npm: Some(root.join("npm")),
                may_install: true,
                is_build_server: false,
            },
            folder,
        };
        fake.node(r"printf '\0asm\015\0\001\0' > $6");
        fake.npm("");
        fake
    }

    /// What node does where it is not asked for its version.
    pub(crate) fn node(&self, does: &str) {
        let body = format!("[ \"$1\" = --version ] && {{ echo v20.1.0; exit 0; }}\n{does}");
        script(&self.folder.path().join("node"), &body);
    }

    /// What npm does after it has noted the call and copied the SDK.
    pub(crate) fn npm(&self, does: &str) {
        let body = format!(
            "[ \"$1\" = --version ] && {{ echo 11.1.0; exit 0; }}\n\
             echo \"$1\" >> ../npm.calls\nmkdir -p node_modules\ncp -r ../sdk node_modules/capstan-sdk\n{does}"
        );
        script(&self.folder.path().join("npm"), &body);
    }

    pub(crate) fn npm_calls(&self) -> String {
        fs::read_to_string(self.folder.path().join("npm.calls")).unwrap_or_default()
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    pub(crate) fn project(&self) -> Project {
        Project::read(&self.path("project/package.json")).unwrap()
    }
}

fn script(path: &Path, body: &str) {
    // In two steps: a program that is still open for writing cannot be started.
    fs::write(path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
