//! What the person wrote in the app.

use crate::StoreError;
use crate::cells::{Cells, count, micros};
use chrono::{DateTime, Utc};
use pilot_types::{Digest, OperationId, ProcessId, WorkspaceId};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

/// A write of the person as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditRow {
    /// Id.
    pub id: OperationId,
    /// Workspace.
    pub workspace: WorkspaceId,
    /// Relative path.
    pub path: String,
    /// What the person did, as the record calls it.
    pub action: String,
    /// Digest of what stood there; `None` when nothing did.
    pub before: Option<Digest>,
    /// Digest of what stands there since; `None` when it was removed.
    pub after: Option<Digest>,
    /// Bytes written.
    pub size: u64,
    /// The process that writes, or wrote.
    pub process: ProcessId,
    /// Name of the temporary file.
    pub temp_name: String,
    /// The edit that this one takes back.
    pub undoes: Option<OperationId>,
    /// When it began.
    pub begun_at: DateTime<Utc>,
    /// When it was done; `None` while it is under way.
    pub done_at: Option<DateTime<Utc>>,
    /// When the person took it back.
    pub undone_at: Option<DateTime<Utc>>,
}

macro_rules! select {
    ($tail:literal) => {
        concat!(
            "SELECT id, workspace, path, action, before, after, size, process, temp_name, undoes, begun_at, done_at, undone_at FROM edits ",
            $tail
        )
    };
}

fn read(row: &SqliteRow) -> Result<EditRow, StoreError> {
    let cells = Cells::of("edits", row);
    Ok(EditRow {
        id: OperationId::from_text(cells.text("id")?),
        workspace: WorkspaceId::from_text(cells.text("workspace")?),
        path: cells.text("path")?,
        action: cells.text("action")?,
        before: cells.opt_digest("before")?,
        after: cells.opt_digest("after")?,
        size: cells.count("size")?,
        process: ProcessId::from_text(cells.text("process")?),
        temp_name: cells.text("temp_name")?,
        undoes: cells.opt_string("undoes")?.map(OperationId::from_text),
        begun_at: cells.time("begun_at")?,
        done_at: cells.opt_time("done_at")?,
        undone_at: cells.opt_time("undone_at")?,
    })
}

/// Stores an edit that is about to be made.
///
/// # Errors
/// [`StoreError::Duplicate`] when the id is taken.
pub async fn begin(conn: &mut SqliteConnection, row: &EditRow) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO edits (id, workspace, path, action, before, after, size, process, temp_name, undoes, begun_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )
    .bind(row.id.as_str())
    .bind(row.workspace.as_str())
    .bind(&row.path)
    .bind(&row.action)
    .bind(row.before.as_ref().map(Digest::as_str))
    .bind(row.after.as_ref().map(Digest::as_str))
    .bind(count(row.size))
    .bind(row.process.as_str())
    .bind(&row.temp_name)
    .bind(row.undoes.as_ref().map(OperationId::as_str))
    .bind(micros(row.begun_at))
    .execute(conn)
    .await?;
    Ok(())
}

/// Notes that it was made, and that what it takes back is taken back. False when that was noted already.
///
/// # Errors
/// When the database cannot be written.
pub async fn finish(
    conn: &mut SqliteConnection,
    row: &EditRow,
    at: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let done = sqlx::query("UPDATE edits SET done_at = ?2 WHERE id = ?1 AND done_at IS NULL")
        .bind(row.id.as_str())
        .bind(micros(at))
        .execute(&mut *conn)
        .await?;
    if let Some(undone) = &row.undoes {
        sqlx::query("UPDATE edits SET undone_at = ?2 WHERE id = ?1 AND undone_at IS NULL")
            .bind(undone.as_str())
            .bind(micros(at))
            .execute(conn)
            .await?;
    }
    Ok(done.rows_affected() == 1)
}

/// Forgets one that did not happen.
///
/// # Errors
/// When the database cannot be written.
pub async fn drop_open(conn: &mut SqliteConnection, id: &OperationId) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM edits WHERE id = ?1 AND done_at IS NULL")
        .bind(id.as_str())
        .execute(conn)
        .await?;
    Ok(())
}

/// An edit by id.
///
/// # Errors
/// When the database cannot be read.
pub async fn get(conn: &mut SqliteConnection, id: &OperationId) -> Result<Option<EditRow>, StoreError> {
    let row = sqlx::query(select!("WHERE id = ?1")).bind(id.as_str()).fetch_optional(conn).await?;
    row.as_ref().map(read).transpose()
}

/// Edits under way or cut off, oldest first.
///
/// # Errors
/// When the database cannot be read.
pub async fn open_ones(conn: &mut SqliteConnection) -> Result<Vec<EditRow>, StoreError> {
    sqlx::query(select!("WHERE done_at IS NULL ORDER BY begun_at, id"))
        .fetch_all(conn)
        .await?
        .iter()
        .map(read)
        .collect()
}

/// What the person wrote at a path, newest first.
///
/// # Errors
/// When the database cannot be read.
pub async fn of_path(
    conn: &mut SqliteConnection,
    workspace: &WorkspaceId,
    path: &str,
    limit: u32,
) -> Result<Vec<EditRow>, StoreError> {
    sqlx::query(select!(
        "WHERE workspace = ?1 AND path = ?2 AND done_at IS NOT NULL ORDER BY done_at DESC, id DESC LIMIT ?3"
    ))
    .bind(workspace.as_str())
    .bind(path)
    .bind(limit)
    .fetch_all(conn)
    .await?
    .iter()
    .map(read)
    .collect()
}
