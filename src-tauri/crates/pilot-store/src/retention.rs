//! Deleting on the person's wish, and by age. The record loses content, never its shape: an entry keeps its place and
//! its hash, so that the chain around it still shows that nothing else is gone.

use crate::StoreError;
use crate::cells::micros;
use chrono::{DateTime, Utc};
use pilot_types::{Digest, TaskId};
use sqlx::SqliteConnection;

/// Bytes of a database up to which it is rewritten after a deletion: others wait for as long as that takes.
const REWRITTEN: i64 = 256 << 20;

/// What goes with a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Erasure {
    /// Entries of the record whose content goes.
    pub entries: u64,
    /// Cards that go, with the exact bytes that they would have written.
    pub cards: u64,
    /// Kept bytes that only this task's writes could be taken back with.
    pub kept: Vec<Digest>,
}

/// What deleting a task would take along; `None` when the task is not there or has not ended.
///
/// # Errors
/// When the database cannot be read.
pub async fn erasure(conn: &mut SqliteConnection, task: &TaskId) -> Result<Option<Erasure>, StoreError> {
    if !has_ended(&mut *conn, task).await? {
        return Ok(None);
    }
    let (entries, cards): (i64, i64) = sqlx::query_as(
        "SELECT (SELECT count(*) FROM events WHERE task = ?1 AND body IS NOT NULL),
                (SELECT count(*) FROM approvals WHERE task = ?1)",
    )
    .bind(task.as_str())
    .fetch_one(&mut *conn)
    .await?;
    // What another write, of a task or of the person, could still be taken back with stays, and so does what a waiting
    // card is drawn with.
    let kept: Vec<String> = sqlx::query_scalar(
        "SELECT DISTINCT previous FROM artifacts AS mine WHERE task = ?1 AND previous IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM artifacts WHERE previous = mine.previous AND task <> ?1)
           AND NOT EXISTS (SELECT 1 FROM approvals WHERE base = mine.previous AND task <> ?1)
           AND NOT EXISTS (SELECT 1 FROM edits WHERE mine.previous IN (before, after))",
    )
    .bind(task.as_str())
    .fetch_all(conn)
    .await?;
    Ok(Some(Erasure {
        entries: entries.unsigned_abs(),
        cards: cards.unsigned_abs(),
        kept: kept.into_iter().map(Digest::from_hex).collect(),
    }))
}

async fn has_ended(conn: &mut SqliteConnection, task: &TaskId) -> Result<bool, StoreError> {
    let ended: Option<i64> = sqlx::query_scalar(
        "SELECT 1 FROM tasks WHERE id = ?1 AND status IN ('completed', 'failed', 'cancelled')",
    )
    .bind(task.as_str())
    .fetch_optional(conn)
    .await?;
    Ok(ended.is_some())
}

/// Deletes a task that has ended, with its cards, executions and artifacts, and the content of its events. What ended
/// turns of the same conversation were given of it goes too, and so does the conversation with its last turn. Answers
/// with the number of entries of the record whose content is gone; `None` when the task is not there or has not ended.
///
/// The freed pages are overwritten; [`scrub`] does the same for the write-ahead log, once this is committed.
///
/// # Errors
/// When the database cannot be written.
pub async fn erase_task(conn: &mut SqliteConnection, task: &TaskId) -> Result<Option<u64>, StoreError> {
    if !has_ended(&mut *conn, task).await? {
        return Ok(None);
    }
    sqlx::query("PRAGMA secure_delete = ON").execute(&mut *conn).await?;
    allow(conn, true).await?;
    let erased = sqlx::query("UPDATE events SET body = NULL WHERE task = ?1 AND body IS NOT NULL")
        .bind(task.as_str())
        .execute(&mut *conn)
        .await?
        .rows_affected();
    allow(conn, false).await?;
    for statement in [
        "DELETE FROM artifacts WHERE task = ?1",
        "DELETE FROM executions WHERE task = ?1",
        "UPDATE approvals SET replaces = NULL, replaced_by = NULL WHERE task = ?1",
        "DELETE FROM approvals WHERE task = ?1",
        "DELETE FROM task_contexts WHERE task IN (SELECT id FROM tasks
             WHERE session = (SELECT session FROM tasks WHERE id = ?1)
               AND status IN ('completed', 'failed', 'cancelled'))",
        "DELETE FROM sessions WHERE id = (SELECT session FROM tasks WHERE id = ?1)
             AND NOT EXISTS (SELECT 1 FROM tasks WHERE session = sessions.id AND id <> ?1)",
        "DELETE FROM tasks WHERE id = ?1",
    ] {
        sqlx::query(statement).bind(task.as_str()).execute(&mut *conn).await?;
    }
    Ok(Some(erased))
}

/// The tasks that have ended and of which nothing was recorded since `before`, oldest first.
///
/// # Errors
/// When the database cannot be read.
pub async fn ended_before(
    conn: &mut SqliteConnection,
    before: DateTime<Utc>,
    limit: u32,
) -> Result<Vec<TaskId>, StoreError> {
    let ids: Vec<String> = sqlx::query_scalar(
        "SELECT id FROM tasks WHERE status IN ('completed', 'failed', 'cancelled') AND created_at < ?1
           AND NOT EXISTS (SELECT 1 FROM events WHERE events.task = tasks.id AND events.at >= ?1)
         ORDER BY created_at, id LIMIT ?2",
    )
    .bind(micros(before))
    .bind(limit)
    .fetch_all(conn)
    .await?;
    Ok(ids.into_iter().map(TaskId::from_text).collect())
}

/// Rewrites the file without the remains of rows, folds the write-ahead log into it and empties that, so that deleted
/// content is left in neither. False when another process was in the way; what remains is then overwritten in the course
/// of time. A database of more than 256 MiB is not rewritten: what was deleted is overwritten in it, copies that SQLite made
/// while it moved rows before may remain in free space.
///
/// # Errors
/// When the database cannot be written.
pub async fn scrub(store: &crate::Store) -> Result<bool, StoreError> {
    let mut connection = store.extra_connection().await?;
    let scrubbed: Result<(i64, i64, i64), StoreError> = async {
        let pages: i64 = sqlx::query_scalar("PRAGMA page_count").fetch_one(&mut connection).await?;
        let size: i64 = sqlx::query_scalar("PRAGMA page_size").fetch_one(&mut connection).await?;
        if pages.saturating_mul(size) <= REWRITTEN {
            // Rows that were moved or updated before have left copies in free space, which only this removes.
            sqlx::query("VACUUM").execute(&mut connection).await?;
        }
        Ok(sqlx::query_as("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(&mut connection).await?)
    }
    .await;
    sqlx::Connection::close(connection).await?;
    match scrubbed {
        Ok((in_the_way, _, _)) => Ok(in_the_way == 0),
        Err(StoreError::Locked { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

async fn allow(conn: &mut SqliteConnection, allowed: bool) -> Result<(), StoreError> {
    sqlx::query("UPDATE retention SET allowed = ?1 WHERE id = 1").bind(allowed).execute(conn).await?;
    Ok(())
}
