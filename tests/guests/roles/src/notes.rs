//! A memory in one file.

use capstan_sdk::prelude::*;
use capstan_sdk::{Entry, Memory, Query};
use serde_json::{Map, Value};
use std::io::ErrorKind;

pub(crate) const FOLDER: &str = "/workspace/notes";
const FILE: &str = "/workspace/notes/notes.json";

pub(crate) struct Notes;

#[derive(Serialize, Deserialize)]
struct Note {
    id: String,
    content: String,
    metadata: Map<String, Value>,
}

fn load() -> Result<Vec<Note>> {
    match std::fs::read(FILE) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
        Err(reason) if reason.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(reason) => Err(reason.into()),
    }
}

fn keep(notes: &[Note]) -> Result<()> {
    Ok(std::fs::write(FILE, serde_json::to_vec(notes)?)?)
}

/// The share of the words that the text holds.
fn score(words: &str, text: &str) -> f64 {
    let words: Vec<_> = words.split_whitespace().collect();
    let held = words.iter().filter(|word| text.contains(**word)).count();
    if words.is_empty() { 0.0 } else { held as f64 / words.len() as f64 }
}

impl Memory for Notes {
    fn save(&self, entry: Entry) -> Result<String> {
        let mut notes = load()?;
        let id = entry.id.unwrap_or_else(|| format!("note-{}", notes.len() + 1));
        notes.retain(|note| note.id != id);
        let metadata = serde_json::from_str(&entry.metadata)?;
        notes.push(Note { id: id.clone(), content: entry.content, metadata });
        keep(&notes)?;
        Ok(id)
    }

    fn search(&self, query: Query) -> Result<Vec<Entry>> {
        let filter: Map<String, Value> =
            query.filter.as_deref().map(serde_json::from_str).transpose()?.unwrap_or_default();
        let fits = |note: &Note| filter.iter().all(|(key, value)| note.metadata.get(key) == Some(value));
        let mut found: Vec<_> = load()?
            .into_iter()
            .filter(fits)
            .map(|note| (score(&query.text, &note.content), note))
            .filter(|(score, _)| *score > 0.0 && query.threshold.is_none_or(|least| *score >= least))
            .collect();
        found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let entries = found.into_iter().map(|(score, note)| Entry {
            id: Some(note.id),
            content: note.content,
            metadata: Value::Object(note.metadata).to_string(),
            score: Some(score),
        });
        Ok(entries.take(query.top_k as usize).collect())
    }

    fn delete(&self, id: &str) -> Result<()> {
        let mut notes = load()?;
        notes.retain(|note| note.id != id);
        keep(&notes)
    }
}
