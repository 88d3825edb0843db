//! Deleting on the person's wish, and by age. The record loses content, never its shape: an entry keeps its place and
//! its hash, so that the chain around it still shows that nothing else is gone.

use crate::StoreError;
use pilot_types::TaskId;
use sqlx::SqliteConnection;

/// Deletes a task that has ended, with its cards, executions and artifacts, and the content of its events. Answers with
/// the number of entries of the record whose content is gone; `None` when the task is not there or has not ended.
///
/// # Errors
/// When the database cannot be written.
pub async fn erase_task(conn: &mut SqliteConnection, task: &TaskId) -> Result<Option<u64>, StoreError> {
    let ended: Option<i64> = sqlx::query_scalar(
        "SELECT 1 FROM tasks WHERE id = ?1 AND status IN ('completed', 'failed', 'cancelled')",
    )
    .bind(task.as_str())
    .fetch_optional(&mut *conn)
    .await?;
    if ended.is_none() {
        return Ok(None);
    }
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
        "DELETE FROM tasks WHERE id = ?1",
    ] {
        sqlx::query(statement).bind(task.as_str()).execute(&mut *conn).await?;
    }
    Ok(Some(erased))
}

async fn allow(conn: &mut SqliteConnection, allowed: bool) -> Result<(), StoreError> {
    sqlx::query("UPDATE retention SET allowed = ?1 WHERE id = 1").bind(allowed).execute(conn).await?;
    Ok(())
}
