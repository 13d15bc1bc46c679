//! `capstan memory import`.

use super::{count, files};
use crate::screen;
use anyhow::{Context, Result};
use capstan_ports::{MemoryRecord, MemoryStore};
use capstan_storage::{REMEMBERED, SqliteMemory};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::path::Path;

/// In the metadata of a part: the path of its file.
const FILE: &str = "file";

/// The file that an entry is a part of.
pub(super) fn file_of(metadata: &Map<String, Value>) -> Option<&str> {
    metadata.get(FILE)?.as_str()
}

/// Brings the memory to what the folder's files are now: parts that are new or changed are kept, those that are no more are
/// removed, also of files that went. A file that is there and cannot be read keeps the parts that it had.
pub(super) async fn run(memory: &SqliteMemory, folder: &Path, as_json: bool) -> Result<()> {
    let folder = folder.canonicalize().with_context(|| format!("{} cannot be read", folder.display()))?;
    let found = files::below(&folder)?;
    let known = memory.list(REMEMBERED).await?;
    let known: HashMap<&str, &MemoryRecord> =
        known.iter().map(|record| (record.key.as_str(), record)).collect();
    let mut keep = Vec::new();
    let mut wanted = HashSet::new();
    let mut n_parts = 0;
    for (path, text) in &found.texts {
        let path = path.to_string_lossy();
        for (n, part) in files::parts(text).into_iter().enumerate() {
            let metadata = Map::from_iter([(FILE.to_owned(), json!(path))]);
            let key = format!("{path}#{}", n + 1);
            let record = MemoryRecord { metadata, ..MemoryRecord::new(REMEMBERED, key, part) };
            n_parts += 1;
            wanted.insert(record.key.clone());
            let is_known = known
                .get(record.key.as_str())
                .is_some_and(|known| known.value == record.value && known.metadata == record.metadata);
            if !is_known {
                keep.push(record);
            }
        }
    }
    let read: HashSet<_> = found.texts.iter().map(|(path, _)| path.as_path()).collect();
    let is_over = |record: &MemoryRecord| {
        let Some(file) = file_of(&record.metadata).map(Path::new) else { return false };
        file.starts_with(&folder) && !wanted.contains(&record.key) && (read.contains(file) || is_gone(file))
    };
    let remove: Vec<_> =
        known.values().filter(|record| is_over(record)).map(|record| record.key.clone()).collect();
    let (n_files, n_kept, n_removed) = (found.texts.len(), keep.len(), remove.len());
    if n_kept + n_removed > 0 {
        memory.change(REMEMBERED, keep, remove).await?;
    }
    for (_, line) in &found.left_out {
        screen::note(&format!("capstan: {line}"));
    }
    if as_json {
        let left_out: Vec<_> = found.left_out.iter().map(|(path, _)| path.to_string_lossy()).collect();
        let report = json!({
            "files": n_files, "parts": n_parts, "kept": n_kept, "removed": n_removed, "leftOut": left_out,
        });
        screen::json(&report.to_string())?;
    } else {
        screen::note(&format!(
            "capstan: {} in {}: {n_kept} new or changed, {n_removed} removed",
            count(n_files, "file"),
            count(n_parts, "part")
        ));
    }
    Ok(())
}

fn is_gone(file: &Path) -> bool {
    let looked = file.symlink_metadata();
    looked.is_err_and(|reason| matches!(reason.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory))
}
