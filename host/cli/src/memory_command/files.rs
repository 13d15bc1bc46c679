//! The files of a folder that can be remembered, and the parts that they are remembered in.

use crate::reading::{self, Links};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// What counts as a text.
const ENDINGS: [&str; 5] = ["md", "markdown", "txt", "text", "rst"];

/// Most bytes of one file. A larger one is a log or a data set, of which no part says anything.
const MAX_FILE_BYTES: usize = 1 << 20;

/// Most files and most bytes of one import: all of it is one change of the memory.
const MAX_FILES: usize = 10_000;
const MAX_BYTES: usize = 256 << 20;

/// Most folders within each other.
const MAX_DEPTH: usize = 64;

/// Bytes of a part, unless one paragraph is longer: some 500 tokens, so that several fit into an answer.
const PART_BYTES: usize = 2_000;

/// What was found below a folder.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Files with their texts.
    pub(super) texts: Vec<(PathBuf, String)>,
    /// Files that are there and cannot be used, each with a line that says why.
    pub(super) left_out: Vec<(PathBuf, String)>,
}

/// Reads what is below a canonical folder. Hidden files and folders, and links, are passed over.
///
/// # Errors
/// When the folder cannot be read, or holds more than one import may bring.
pub(super) fn below(folder: &Path) -> Result<Found> {
    let mut found = Found::default();
    let mut bytes = 0;
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let listed = match std::fs::read_dir(&folder) {
            Ok(listed) => listed,
            Err(reason) if depth == 0 => {
                return Err(reason).with_context(|| format!("{} cannot be read", folder.display()));
            }
            Err(reason) => {
                found.left_out.push((folder.clone(), reading::left_out(&folder, &reason.to_string())));
                continue;
            }
        };
        let mut entries = listed.collect::<Result<Vec<_>, _>>()?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let kind = entry.file_type()?;
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            if kind.is_dir() && depth < MAX_DEPTH {
                folders.push((path, depth + 1));
            } else if kind.is_file() && is_text(&path) {
                match read(&path) {
                    Ok(text) => {
                        bytes += text.len();
                        found.texts.push((path, text));
                    }
                    Err(reason) => {
                        let line = reading::left_out(&path, &reason);
                        found.left_out.push((path, line));
                    }
                }
                if found.texts.len() > MAX_FILES || bytes > MAX_BYTES {
                    bail!(
                        "there are more than {MAX_FILES} files or {} MiB of text; nothing was imported. Import its folders one by one",
                        MAX_BYTES >> 20
                    );
                }
            }
        }
    }
    Ok(found)
}

fn is_text(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ENDINGS.iter().any(|text| ending.eq_ignore_ascii_case(text)))
}

fn read(path: &Path) -> Result<String, String> {
    if path.to_str().is_none() {
        return Err("its name is no UTF-8 text".to_owned());
    }
    let bytes = reading::whole(path, Links::Anywhere, MAX_FILE_BYTES)?.ok_or("it went away meanwhile")?;
    reading::text(&bytes)
}

/// A text in parts that are understood on their own: whole paragraphs, as many as fit; a heading begins a part where the one
/// before it is not small. Only a paragraph that is longer than a part is cut, at a line or else within it.
pub(super) fn parts(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let paragraphs = text.split("\n\n").map(|paragraph| paragraph.trim_start_matches('\n').trim_end());
    for paragraph in paragraphs.filter(|paragraph| !paragraph.is_empty()) {
        let begins = paragraph.starts_with('#') && part.len() > PART_BYTES / 4;
        if !part.is_empty() && (begins || part.len() + paragraph.len() + 2 > PART_BYTES) {
            parts.push(std::mem::take(&mut part));
        }
        let mut rest = paragraph;
        while rest.len() > 2 * PART_BYTES {
            let most = rest.floor_char_boundary(PART_BYTES);
            let end = rest[..most].rfind('\n').filter(|at| *at > 0).unwrap_or(most);
            parts.push(rest[..end].to_owned());
            rest = rest[end..].trim_start_matches('\n');
        }
        part.push_str(if part.is_empty() { "" } else { "\n\n" });
        part.push_str(rest);
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
