//! What the memory says to SQLite. Callers hold a transaction where something changes.

use super::words::{beginning, indexed, phrases};
use capstan_ports::MemoryQuery;
use capstan_ports::memory_store::{MemoryHit, MemoryRecord};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::{Map, Value};

/// Bits of a row's number that count within its namespace.
const ROW_BITS: u32 = 40;

/// Texts that one search weighs. Beyond it only common words are left, of which the newest texts count: weighing a hundred
/// thousand takes longer than a model's tool call should.
const MAX_WEIGHED: u32 = 4_000;

/// Namespaces are never removed, so that the number of a row never means another one later.
fn namespace_id(connection: &Connection, name: &str) -> rusqlite::Result<Option<i64>> {
    let mut select = connection.prepare_cached("SELECT id FROM namespace WHERE name = ?1")?;
    select.query_row([name], |row| row.get(0)).optional()
}

fn made_namespace_id(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    if let Some(id) = namespace_id(connection, name)? {
        return Ok(id);
    }
    connection.execute("INSERT INTO namespace (name, last) VALUES (?1, 0)", [name])?;
    Ok(connection.last_insert_rowid())
}

/// The next number that was never given in a namespace.
fn next(connection: &Connection, namespace: i64) -> rusqlite::Result<i64> {
    let mut update =
        connection.prepare_cached("UPDATE namespace SET last = last + 1 WHERE id = ?1 RETURNING last")?;
    update.query_row([namespace], |row| row.get(0))
}

fn row_of(connection: &Connection, namespace: i64, key: &str) -> rusqlite::Result<Option<i64>> {
    let mut select = connection.prepare_cached("SELECT id FROM record WHERE namespace = ?1 AND key = ?2")?;
    select.query_row(params![namespace, key], |row| row.get(0)).optional()
}

/// A key that nothing has, and nothing had that was kept under such a key: `m1`, `m2` …
pub(super) fn free_key(connection: &Connection, namespace: &str) -> rusqlite::Result<String> {
    let namespace = made_namespace_id(connection, namespace)?;
    loop {
        let key = format!("m{}", next(connection, namespace)?);
        if row_of(connection, namespace, &key)?.is_none() {
            return Ok(key);
        }
    }
}

pub(super) fn save(connection: &Connection, record: &MemoryRecord) -> rusqlite::Result<()> {
    let namespace = made_namespace_id(connection, &record.namespace)?;
    let metadata = Value::Object(record.metadata.clone()).to_string();
    let id = match row_of(connection, namespace, &record.key)? {
        Some(id) => {
            connection
                .prepare_cached("UPDATE record SET value = ?2, metadata = ?3 WHERE id = ?1")?
                .execute(params![id, record.value, metadata])?;
            connection.prepare_cached("DELETE FROM word WHERE rowid = ?1")?.execute([id])?;
            id
        }
        None => {
            let id = (namespace << ROW_BITS) + next(connection, namespace)?;
            connection
                .prepare_cached(
                    "INSERT INTO record (id, namespace, key, value, metadata) VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![id, namespace, record.key, record.value, metadata])?;
            id
        }
    };
    connection
        .prepare_cached("INSERT INTO word (rowid, text) VALUES (?1, ?2)")?
        .execute(params![id, indexed(&record.value)])?;
    Ok(())
}

pub(super) fn delete(connection: &Connection, namespace: &str, key: &str) -> rusqlite::Result<bool> {
    let Some(namespace) = namespace_id(connection, namespace)? else { return Ok(false) };
    let Some(id) = row_of(connection, namespace, key)? else { return Ok(false) };
    connection.prepare_cached("DELETE FROM word WHERE rowid = ?1")?.execute([id])?;
    connection.prepare_cached("DELETE FROM record WHERE id = ?1")?.execute([id])?;
    Ok(true)
}

pub(super) fn clear(connection: &Connection, namespace: &str) -> rusqlite::Result<()> {
    let Some(namespace) = namespace_id(connection, namespace)? else { return Ok(()) };
    let (first, last) = rows_of(namespace);
    connection.execute("DELETE FROM word WHERE rowid BETWEEN ?1 AND ?2", [first, last])?;
    connection.execute("DELETE FROM record WHERE id BETWEEN ?1 AND ?2", [first, last])?;
    Ok(())
}

pub(super) fn count(connection: &Connection, namespace: &str) -> rusqlite::Result<u64> {
    let Some(namespace) = namespace_id(connection, namespace)? else { return Ok(0) };
    let (first, last) = rows_of(namespace);
    let count: i64 = connection.query_row(
        "SELECT COUNT(*) FROM record WHERE id BETWEEN ?1 AND ?2",
        [first, last],
        |row| row.get(0),
    )?;
    Ok(count.unsigned_abs())
}

pub(super) fn load(
    connection: &Connection,
    namespace: &str,
    key: &str,
) -> rusqlite::Result<Option<MemoryRecord>> {
    let Some(id) = namespace_id(connection, namespace)? else { return Ok(None) };
    let mut select = connection
        .prepare_cached("SELECT key, value, metadata FROM record WHERE namespace = ?1 AND key = ?2")?;
    select.query_row(params![id, key], |row| record(namespace, row)).optional()
}

pub(super) fn list(connection: &Connection, namespace: &str) -> rusqlite::Result<Vec<MemoryRecord>> {
    let Some(id) = namespace_id(connection, namespace)? else { return Ok(Vec::new()) };
    let mut select = connection
        .prepare_cached("SELECT key, value, metadata FROM record WHERE namespace = ?1 ORDER BY key")?;
    let rows = select.query_map([id], |row| record(namespace, row))?;
    rows.collect()
}

pub(super) fn search(
    connection: &mut Connection,
    namespace: &str,
    query: &MemoryQuery,
) -> rusqlite::Result<Vec<MemoryHit>> {
    // One state of the file for all that follows.
    let connection = connection.transaction()?;
    let Some(id) = namespace_id(&connection, namespace)? else { return Ok(Vec::new()) };
    let range = rows_of(id);
    let phrases = counted(&connection, range, phrases(&query.query))?;
    let weighed = weighed(&connection, range, &phrases)?;
    let Some((best, best_weight)) = weighed.first().copied() else { return Ok(Vec::new()) };
    let share = share(&connection, best, &phrases)?;
    let mut select = connection.prepare_cached("SELECT key, value, metadata FROM record WHERE id = ?1")?;
    let mut hits = Vec::new();
    for (id, weight) in weighed {
        let score = share * weight / best_weight;
        if hits.len() == query.top_k || query.threshold.is_some_and(|least| score < least) {
            break;
        }
        let record = select.query_row([id], |row| record(namespace, row))?;
        let is_meant = |(key, value): (&String, &Value)| record.metadata.get(key) == Some(value);
        if query.filter.iter().all(is_meant) {
            hits.push(MemoryHit { record, score });
        }
    }
    Ok(hits)
}

/// In how many rows each phrase is, as far as that matters. A word that is in none stands for those that begin with it: who
/// looks for `postgres` means `PostgreSQL`, too.
fn counted(
    connection: &Connection,
    (first, last): (i64, i64),
    phrases: Vec<String>,
) -> rusqlite::Result<Vec<(u32, String)>> {
    let mut select = connection.prepare_cached(
        "SELECT COUNT(*) FROM (SELECT 1 FROM word WHERE word MATCH ?1 AND rowid BETWEEN ?2 AND ?3 LIMIT ?4)",
    )?;
    let mut count = |phrase: &str| -> rusqlite::Result<u32> {
        select.query_row(params![phrase, first, last, MAX_WEIGHED], |row| row.get(0))
    };
    let mut counted = Vec::with_capacity(phrases.len());
    for phrase in phrases {
        let n = count(&phrase)?;
        if n == 0
            && let Some(begun) = beginning(&phrase)
        {
            counted.push((count(&begun)?, begun));
        } else {
            counted.push((n, phrase));
        }
    }
    Ok(counted)
}

/// The rows that hold any of the phrases, the best first, with what they weigh.
fn weighed(
    connection: &Connection,
    (first, last): (i64, i64),
    phrases: &[(u32, String)],
) -> rusqlite::Result<Vec<(i64, f64)>> {
    let there = phrases.iter().filter(|(n, _)| *n > 0);
    let mut counted: Vec<_> = there.map(|(n, phrase)| (*n, phrase.as_str())).collect();
    counted.sort_unstable();
    // The rare words decide: common ones join while there is room for what they bring.
    let mut room = MAX_WEIGHED;
    let wanted: Vec<&str> = counted
        .iter()
        .enumerate()
        .take_while(|(at, (n, _))| {
            let fits = *n <= room || *at == 0;
            room = room.saturating_sub(*n);
            fits
        })
        .map(|(_, (_, phrase))| *phrase)
        .collect();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let mut select = connection.prepare_cached(
        "SELECT rowid, bm25(word) FROM word WHERE word MATCH ?1 AND rowid BETWEEN ?2 AND ?3
         ORDER BY rowid DESC LIMIT ?4",
    )?;
    let rows = select.query_map(params![wanted.join(" OR "), first, last, MAX_WEIGHED], |row| {
        // SQLite's weights are the lower the better, and below zero.
        Ok((row.get(0)?, -row.get::<_, f64>(1)?))
    })?;
    let mut weighed = rows.collect::<rusqlite::Result<Vec<(i64, f64)>>>()?;
    // Stable: of equal ones the newest comes first.
    weighed.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    Ok(weighed)
}

/// The share of the phrases that a row holds.
fn share(connection: &Connection, id: i64, phrases: &[(u32, String)]) -> rusqlite::Result<f64> {
    let mut select = connection.prepare_cached("SELECT 1 FROM word WHERE word MATCH ?1 AND rowid = ?2")?;
    let mut held = 0_u32;
    for (_, phrase) in phrases {
        held += u32::from(select.exists(params![phrase, id])?);
    }
    Ok(f64::from(held) / phrases.len().max(1) as f64)
}

fn rows_of(namespace: i64) -> (i64, i64) {
    (namespace << ROW_BITS, ((namespace + 1) << ROW_BITS) - 1)
}

fn record(namespace: &str, row: &Row<'_>) -> rusqlite::Result<MemoryRecord> {
    let metadata: String = row.get(2)?;
    let metadata: Map<String, Value> = serde_json::from_str(&metadata).map_err(|reason| {
        rusqlite::Error::FromSqlConversionFailure(2, rusqlite::types::Type::Text, Box::new(reason))
    })?;
    Ok(MemoryRecord { namespace: namespace.to_owned(), key: row.get(0)?, value: row.get(1)?, metadata })
}
