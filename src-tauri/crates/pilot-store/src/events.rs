//! The record: one hash chain over everything, and numbers without gaps in each task.
//!
//! The hash of an entry is SHA-256 over the previous hash (64 zeros before the first) followed by the canonical JSON of
//! `{"at","event","seq","source","task"}`. The chain shows that nothing was changed, removed or cut off by accident or
//! by another program that does not know it; it holds no secret, so it proves nothing against one that does.

use crate::StoreError;
use crate::cells::{Cells, micros, word};
use chrono::{DateTime, SecondsFormat, Utc};
use futures_util::{Stream, StreamExt, TryStreamExt};
use pilot_types::{Digest, Event, EventRecord, Source, TaskId, canonical_json};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

/// What precedes the first entry.
const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// What a look over the whole chain found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainCheck {
    /// Entries looked at.
    pub entries: i64,
    /// Entries whose content the person deleted; their place in the chain is still there.
    pub erased: i64,
    /// First position at which the chain does not hold; `None` when it holds.
    pub broken_at: Option<i64>,
}

/// An entry with its place in the chain, for export.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainEntry {
    /// The entry; `None` when the person deleted its content.
    pub record: Option<EventRecord>,
    /// Place in the chain.
    pub position: i64,
    /// Its hash.
    pub hash: Digest,
}

/// Appends events in order, as part of the caller's transaction; answers with the records as they will be read. Times
/// are kept to the microsecond. Call it inside [`Store::begin`](crate::Store::begin) only: place and number are read
/// and written in two steps.
///
/// # Errors
/// When the database cannot be written.
pub async fn append(
    conn: &mut SqliteConnection,
    task: Option<&TaskId>,
    source: Source,
    at: DateTime<Utc>,
    events: &[Event],
) -> Result<Vec<EventRecord>, StoreError> {
    if events.is_empty() {
        return Ok(Vec::new());
    }
    let (mut position, mut hash, mut seq) = ends(conn, task).await?;
    let source_word = word(&source)?;
    let at = DateTime::from_timestamp_micros(micros(at)).unwrap_or(at);
    let mut records = Vec::with_capacity(events.len());
    for event in events {
        position += 1;
        // Events of no task have no number of their own.
        seq = if task.is_some() { seq + 1 } else { 0 };
        let body = canonical_json(&serde_json::to_value(event)?);
        hash = link(&hash, at, &body, seq, &source_word, task.map(TaskId::as_str));
        sqlx::query(
            "INSERT INTO events (position, seq, at, task, source, body, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )
        .bind(position)
        .bind(seq)
        .bind(micros(at))
        .bind(task.map(TaskId::as_str))
        .bind(&source_word)
        .bind(body)
        .bind(&hash)
        .execute(&mut *conn)
        .await?;
        records.push(EventRecord { position, seq, at, task: task.cloned(), source, event: event.clone() });
    }
    Ok(records)
}

/// Last position and hash of the chain, last number of the task: three look-ups in indexes, one trip.
async fn ends(conn: &mut SqliteConnection, task: Option<&TaskId>) -> Result<(i64, String, i64), StoreError> {
    let (position, hash, seq): (Option<i64>, Option<String>, Option<i64>) = sqlx::query_as(
        "SELECT (SELECT max(position) FROM events), (SELECT hash FROM events ORDER BY position DESC LIMIT 1),
         (SELECT max(seq) FROM events WHERE task = ?1)",
    )
    .bind(task.map(TaskId::as_str))
    .fetch_one(conn)
    .await?;
    Ok((position.unwrap_or(0), hash.unwrap_or_else(|| GENESIS.to_owned()), seq.unwrap_or(0)))
}

/// The hash of an entry. `body` is canonical JSON already, so the whole is put together as text.
fn link(previous: &str, at: DateTime<Utc>, body: &str, seq: i64, source: &str, task: Option<&str>) -> String {
    let task = task.map_or_else(|| "null".to_owned(), |task| serde_json::Value::from(task).to_string());
    let at = at.to_rfc3339_opts(SecondsFormat::Micros, true);
    let entry =
        format!(r#"{previous}{{"at":"{at}","event":{body},"seq":{seq},"source":"{source}","task":{task}}}"#);
    Digest::of(entry.as_bytes()).as_str().to_owned()
}

macro_rules! select {
    ($tail:literal) => {
        concat!("SELECT position, seq, at, task, source, body FROM events ", $tail)
    };
}

fn read(row: &SqliteRow) -> Result<EventRecord, StoreError> {
    let cells = Cells::of("events", row);
    Ok(EventRecord {
        position: cells.int("position")?,
        seq: cells.int("seq")?,
        at: cells.time("at")?,
        task: cells.opt_string("task")?.map(TaskId::from_text),
        source: cells.word("source")?,
        event: cells.json("body")?,
    })
}

/// The record of a task after a number (0 for all of it).
///
/// # Errors
/// When the database cannot be read.
pub async fn of_task(
    conn: &mut SqliteConnection,
    task: &TaskId,
    after_seq: i64,
) -> Result<Vec<EventRecord>, StoreError> {
    sqlx::query(select!("WHERE task = ?1 AND seq > ?2 AND body IS NOT NULL ORDER BY seq"))
        .bind(task.as_str())
        .bind(after_seq)
        .fetch_all(conn)
        .await?
        .iter()
        .map(read)
        .collect()
}

/// The record after a position, at most `limit` entries. Entries whose content was deleted are left out.
///
/// # Errors
/// When the database cannot be read.
pub async fn after(
    conn: &mut SqliteConnection,
    position: i64,
    limit: u32,
) -> Result<Vec<EventRecord>, StoreError> {
    sqlx::query(select!("WHERE position > ?1 AND body IS NOT NULL ORDER BY position LIMIT ?2"))
        .bind(position)
        .bind(limit)
        .fetch_all(conn)
        .await?
        .iter()
        .map(read)
        .collect()
}

/// Position of the newest entry; 0 when there is none.
///
/// # Errors
/// When the database cannot be read.
pub async fn last_position(conn: &mut SqliteConnection) -> Result<i64, StoreError> {
    let last: Option<i64> = sqlx::query_scalar("SELECT max(position) FROM events").fetch_one(conn).await?;
    Ok(last.unwrap_or(0))
}

/// Everything in order, row by row, so that the memory used does not grow with the record.
pub fn export(conn: &mut SqliteConnection) -> impl Stream<Item = Result<ChainEntry, StoreError>> + Send + '_ {
    sqlx::query("SELECT position, seq, at, task, source, body, hash FROM events ORDER BY position")
        .fetch(conn)
        .map(|row| {
            let row = row?;
            let cells = Cells::of("events", &row);
            let record = if cells.opt_text("body")?.is_some() { Some(read(&row)?) } else { None };
            Ok(ChainEntry { record, position: cells.int("position")?, hash: cells.digest("hash")? })
        })
}

/// Follows the chain from its first entry to its last. Stops at the first place where it does not hold.
///
/// # Errors
/// When the database cannot be read. An entry that cannot be read is a break, not an error.
pub async fn verify(conn: &mut SqliteConnection) -> Result<ChainCheck, StoreError> {
    // What was once the last position, so that entries cut off the end are missed.
    let written: Option<i64> = sqlx::query_scalar("SELECT seq FROM sqlite_sequence WHERE name = 'events'")
        .fetch_optional(&mut *conn)
        .await?;
    let mut check = ChainCheck { entries: 0, erased: 0, broken_at: None };
    let mut previous = GENESIS.to_owned();
    let mut expected = 1;
    let mut rows =
        sqlx::query("SELECT position, seq, at, task, source, body, hash FROM events ORDER BY position")
            .fetch(conn);
    while let Some(row) = rows.try_next().await? {
        let cells = Cells::of("events", &row);
        if cells.int("position")? != expected {
            check.broken_at = Some(expected);
            return Ok(check);
        }
        let Some((hash, erased)) = follow(&cells, &previous) else {
            check.broken_at = Some(expected);
            return Ok(check);
        };
        check.entries += 1;
        check.erased += i64::from(erased);
        previous = hash;
        expected += 1;
    }
    if written.unwrap_or(0) >= expected {
        check.broken_at = Some(expected);
    }
    Ok(check)
}

/// The entry's hash, and whether its content was deleted, if it follows from the one before. A deleted content is
/// taken at its hash: the next entry stands on it.
fn follow(cells: &Cells<'_>, previous: &str) -> Option<(String, bool)> {
    let stored = cells.str("hash").ok()?;
    let Some(body) = cells.opt_text("body").ok()? else { return Some((stored.to_owned(), true)) };
    let at = cells.time("at").ok()?;
    let seq = cells.int("seq").ok()?;
    let hash = link(previous, at, body, seq, cells.str("source").ok()?, cells.opt_text("task").ok()?);
    (hash == stored).then_some((hash, false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_hash_is_over_the_canonical_json_of_the_entry() {
        let event = Event::Noted { code: None, detail: "a \"quoted\" line\nand 发票".to_owned() };
        let body = canonical_json(&serde_json::to_value(&event).unwrap());
        let at = DateTime::from_timestamp_micros(1_767_225_600_000_001).unwrap();
        let task = TaskId::from_text("t\"1");
        let whole = json!({
            "seq": 7, "at": "2026-01-01T00:00:00.000001Z", "task": "t\"1", "source": "agent",
            "event": serde_json::to_value(&event).unwrap(),
        });
        let expected = Digest::of(format!("{GENESIS}{}", canonical_json(&whole)).as_bytes());
        assert_eq!(
            link(GENESIS, at, &body, 7, "agent", Some(task.as_str())),
            expected.as_str(),
            "putting the text together must give the canonical JSON that others would compute"
        );
        let whole = json!({"seq": 0, "at": "2026-01-01T00:00:00.000001Z", "task": null, "source": "system",
            "event": serde_json::to_value(&event).unwrap()});
        let expected = Digest::of(format!("{GENESIS}{}", canonical_json(&whole)).as_bytes());
        assert_eq!(
            link(GENESIS, at, &body, 0, "system", None),
            expected.as_str(),
            "no task is null, not absent"
        );
    }
}
