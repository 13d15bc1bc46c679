//! The last component of each project, kept with a digest of all that it was made of.
//!
//! componentize-py gives other bytes each time, and for the host other bytes are another extension: compiled anew, with its grants
//! void. So a build of unchanged sources hands out what the last one made.

use std::fs;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::BuilderError;
use crate::lock::take_lock;
use crate::python::environment::TOOL;
use crate::python::project::Project;

/// The place of one project's component.
pub(crate) struct Kept {
    folder: PathBuf,
    digest: String,
    /// Two builds of one project at a time would mix component and digest.
    _lock: File,
}

impl Kept {
    /// The place for this project, `packages` being the folder of its dependencies.
    pub(crate) fn of(
        project: &Project,
        packages: Option<&Path>,
        wit: &Path,
        cache: &Path,
        report: &dyn Fn(&str),
    ) -> Result<Self, BuilderError> {
        let name = hex(&Sha256::digest(project.manifest.as_os_str().as_encoded_bytes()));
        let folder = cache.join("python").join("built").join(&name[..16]);
        fs::create_dir_all(&folder).map_err(BuilderError::io("create", &folder))?;
        let lock = take_lock(&folder.join("capstan.lock"), || {
            report("waiting for another build of this project to finish");
        })?;
        let mut hasher = Sha256::new();
        add(&mut hasher, TOOL.as_bytes());
        // Names of such folders are digests of what is in them.
        add(&mut hasher, packages.and_then(Path::file_name).unwrap_or_default().as_encoded_bytes());
        add_file(&mut hasher, &project.manifest)?;
        add_folder(&mut hasher, &project.source())?;
        add_folder(&mut hasher, wit)?;
        if let Some(sdk) = &project.sdk {
            add_folder(&mut hasher, &sdk.join("capstan_sdk"))?;
        }
        Ok(Self { folder, digest: hex(&hasher.finalize()), _lock: lock })
    }

    /// The component, if nothing has changed since it was kept.
    pub(crate) fn component(&self) -> Option<PathBuf> {
        let is_same = fs::read_to_string(self.digest_file()).is_ok_and(|digest| digest == self.digest);
        Some(self.folder.join(COMPONENT)).filter(|component| is_same && component.is_file())
    }

    /// Where a new component goes before it is [`keep`](Self::keep)t.
    pub(crate) fn place(&self) -> Result<PathBuf, BuilderError> {
        let file = self.digest_file();
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(BuilderError::io("remove", file)(error))
            }
            _ => Ok(self.folder.join(COMPONENT)),
        }
    }

    /// Says that what lies at the place is whole.
    pub(crate) fn keep(&self) -> Result<(), BuilderError> {
        let file = self.digest_file();
        fs::write(&file, &self.digest).map_err(BuilderError::io("write", file))
    }

    fn digest_file(&self) -> PathBuf {
        self.folder.join("digest")
    }
}

const COMPONENT: &str = "component.wasm";

fn add(hasher: &mut Sha256, part: &[u8]) {
    // With its length, so that no two lists of parts are the same bytes.
    hasher.update((part.len() as u64).to_le_bytes());
    hasher.update(part);
}

fn add_file(hasher: &mut Sha256, file: &Path) -> Result<(), BuilderError> {
    add(hasher, &fs::read(file).map_err(BuilderError::io("read", file))?);
    Ok(())
}

/// All files below a folder that a module could import or read, in the order of their names.
fn add_folder(hasher: &mut Sha256, folder: &Path) -> Result<(), BuilderError> {
    let entries = fs::read_dir(folder).map_err(BuilderError::io("list", folder))?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(BuilderError::io("list", folder))?.path());
    }
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default();
        let is_passed_over = name.as_encoded_bytes().starts_with(b".")
            || ["target", "__pycache__", "node_modules"].iter().any(|other| name == *other);
        if is_passed_over {
            continue;
        }
        add(hasher, name.as_encoded_bytes());
        if path.is_dir() {
            add_folder(hasher, &path)?;
            add(hasher, b"end of the folder");
        } else if path.is_file() {
            add_file(hasher, &path)?;
        }
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
#[path = "kept_tests.rs"]
mod tests;
