//! Files that tasks wrote.

use crate::StoreError;
use crate::cells::{Cells, count, micros};
use chrono::{DateTime, Utc};
use pilot_types::{ApprovalId, ArtifactId, Digest, TaskId, WorkspaceId};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

/// An artifact as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactRow {
    /// Id.
    pub id: ArtifactId,
    /// Task that wrote it.
    pub task: TaskId,
    /// Workspace.
    pub workspace: WorkspaceId,
    /// The approval behind it.
    pub approval: ApprovalId,
    /// Relative path.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// Digest.
    pub digest: Digest,
    /// Digest of what it replaced; `None` when nothing was there.
    pub previous: Option<Digest>,
    /// True when the task made the file.
    pub created: bool,
    /// When.
    pub at: DateTime<Utc>,
    /// When the person took it back.
    pub undone_at: Option<DateTime<Utc>>,
}

macro_rules! select {
    ($tail:literal) => {
        concat!(
            "SELECT id, task, workspace, approval, path, size, digest, previous, created, at, undone_at FROM artifacts ",
            $tail
        )
    };
}

fn read(row: &SqliteRow) -> Result<ArtifactRow, StoreError> {
    let cells = Cells::of("artifacts", row);
    Ok(ArtifactRow {
        id: ArtifactId::from_text(cells.text("id")?),
        task: TaskId::from_text(cells.text("task")?),
        workspace: WorkspaceId::from_text(cells.text("workspace")?),
        approval: ApprovalId::from_text(cells.text("approval")?),
        path: cells.text("path")?,
        size: cells.count("size")?,
        digest: cells.digest("digest")?,
        previous: cells.opt_digest("previous")?,
        created: cells.flag("created")?,
        at: cells.time("at")?,
        undone_at: cells.opt_time("undone_at")?,
    })
}

/// Stores an artifact.
///
/// # Errors
/// [`StoreError::Duplicate`] when the id is taken.
pub async fn insert(conn: &mut SqliteConnection, row: &ArtifactRow) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO artifacts (id, task, workspace, approval, path, size, digest, previous, created, at, undone_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )
    .bind(row.id.as_str())
    .bind(row.task.as_str())
    .bind(row.workspace.as_str())
    .bind(row.approval.as_str())
    .bind(&row.path)
    .bind(count(row.size))
    .bind(row.digest.as_str())
    .bind(row.previous.as_ref().map(Digest::as_str))
    .bind(row.created)
    .bind(micros(row.at))
    .bind(row.undone_at.map(micros))
    .execute(conn)
    .await?;
    Ok(())
}

/// An artifact by id.
///
/// # Errors
/// When the database cannot be read.
pub async fn get(conn: &mut SqliteConnection, id: &ArtifactId) -> Result<Option<ArtifactRow>, StoreError> {
    let row = sqlx::query(select!("WHERE id = ?1")).bind(id.as_str()).fetch_optional(conn).await?;
    row.as_ref().map(read).transpose()
}

/// The newest artifacts, of one workspace or of all.
///
/// # Errors
/// When the database cannot be read.
pub async fn list(
    conn: &mut SqliteConnection,
    workspace: Option<&WorkspaceId>,
    limit: u32,
) -> Result<Vec<ArtifactRow>, StoreError> {
    let query = match workspace {
        Some(workspace) => sqlx::query(select!("WHERE workspace = ?2 ORDER BY at DESC, id DESC LIMIT ?1"))
            .bind(limit)
            .bind(workspace.as_str()),
        None => sqlx::query(select!("ORDER BY at DESC, id DESC LIMIT ?1")).bind(limit),
    };
    query.fetch_all(conn).await?.iter().map(read).collect()
}

/// What tasks wrote at a path, newest first.
///
/// # Errors
/// When the database cannot be read.
pub async fn of_path(
    conn: &mut SqliteConnection,
    workspace: &WorkspaceId,
    path: &str,
    limit: u32,
) -> Result<Vec<ArtifactRow>, StoreError> {
    sqlx::query(select!("WHERE workspace = ?1 AND path = ?2 ORDER BY at DESC, id DESC LIMIT ?3"))
        .bind(workspace.as_str())
        .bind(path)
        .bind(limit)
        .fetch_all(conn)
        .await?
        .iter()
        .map(read)
        .collect()
}

/// What a task wrote, in order.
///
/// # Errors
/// When the database cannot be read.
pub async fn of_task(conn: &mut SqliteConnection, task: &TaskId) -> Result<Vec<ArtifactRow>, StoreError> {
    sqlx::query(select!("WHERE task = ?1 ORDER BY at, id"))
        .bind(task.as_str())
        .fetch_all(conn)
        .await?
        .iter()
        .map(read)
        .collect()
}

/// Notes that the person took it back. False when that was noted already or it is not there.
///
/// # Errors
/// When the database cannot be written.
pub async fn mark_undone(
    conn: &mut SqliteConnection,
    id: &ArtifactId,
    at: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let done = sqlx::query("UPDATE artifacts SET undone_at = ?2 WHERE id = ?1 AND undone_at IS NULL")
        .bind(id.as_str())
        .bind(micros(at))
        .execute(conn)
        .await?;
    Ok(done.rows_affected() == 1)
}
