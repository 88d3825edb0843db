//! Folders that the person chose.

use crate::StoreError;
use crate::cells::{Cells, json, micros};
use chrono::{DateTime, Utc};
use pilot_types::WorkspaceId;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

/// A workspace as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceRow {
    /// Id.
    pub id: WorkspaceId,
    /// Name shown.
    pub name: String,
    /// Folder, with every link resolved.
    pub root: String,
    /// Device of the folder when it was registered.
    pub dev: u64,
    /// Inode of the folder when it was registered.
    pub ino: u64,
    /// Provider of new tasks; `offline` by default.
    pub provider: String,
    /// Outside tools allowed here.
    pub allowed_mcp: Vec<String>,
    /// When it was registered.
    pub created_at: DateTime<Utc>,
    /// When it was last used.
    pub used_at: DateTime<Utc>,
    /// When it was removed from the list; its files and its record stay.
    pub removed_at: Option<DateTime<Utc>>,
}

macro_rules! select {
    ($tail:literal) => {
        concat!(
            "SELECT id, name, root, dev, ino, provider, allowed_mcp, created_at, used_at, removed_at FROM workspaces ",
            $tail
        )
    };
}

fn read(row: &SqliteRow) -> Result<WorkspaceRow, StoreError> {
    let cells = Cells::of("workspaces", row);
    Ok(WorkspaceRow {
        id: WorkspaceId::from_text(cells.text("id")?),
        name: cells.text("name")?,
        root: cells.text("root")?,
        dev: cells.bits("dev")?,
        ino: cells.bits("ino")?,
        provider: cells.text("provider")?,
        allowed_mcp: cells.json("allowed_mcp")?,
        created_at: cells.time("created_at")?,
        used_at: cells.time("used_at")?,
        removed_at: cells.opt_time("removed_at")?,
    })
}

/// Registers a workspace.
///
/// # Errors
/// [`StoreError::Duplicate`] when its folder is registered already.
pub async fn insert(conn: &mut SqliteConnection, row: &WorkspaceRow) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO workspaces (id, name, root, dev, ino, provider, allowed_mcp, created_at, used_at, removed_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )
    .bind(row.id.as_str())
    .bind(&row.name)
    .bind(&row.root)
    .bind(row.dev.cast_signed())
    .bind(row.ino.cast_signed())
    .bind(&row.provider)
    .bind(json(&row.allowed_mcp)?)
    .bind(micros(row.created_at))
    .bind(micros(row.used_at))
    .bind(row.removed_at.map(micros))
    .execute(conn)
    .await?;
    Ok(())
}

/// A workspace by id, removed ones too.
///
/// # Errors
/// When the database cannot be read.
pub async fn get(conn: &mut SqliteConnection, id: &WorkspaceId) -> Result<Option<WorkspaceRow>, StoreError> {
    let row = sqlx::query(select!("WHERE id = ?1")).bind(id.as_str()).fetch_optional(conn).await?;
    row.as_ref().map(read).transpose()
}

/// The workspace of a folder; removed ones do not count.
///
/// # Errors
/// When the database cannot be read.
pub async fn by_root(conn: &mut SqliteConnection, root: &str) -> Result<Option<WorkspaceRow>, StoreError> {
    let row = sqlx::query(select!("WHERE root = ?1 AND removed_at IS NULL"))
        .bind(root)
        .fetch_optional(conn)
        .await?;
    row.as_ref().map(read).transpose()
}

/// All that were not removed, newest use first.
///
/// # Errors
/// When the database cannot be read.
pub async fn list(conn: &mut SqliteConnection) -> Result<Vec<WorkspaceRow>, StoreError> {
    sqlx::query(select!("WHERE removed_at IS NULL ORDER BY used_at DESC, id DESC"))
        .fetch_all(conn)
        .await?
        .iter()
        .map(read)
        .collect()
}

/// Replaces everything but id and time of registration. False when there is no such workspace.
///
/// # Errors
/// [`StoreError::Duplicate`] when its new folder belongs to another workspace.
pub async fn update(conn: &mut SqliteConnection, row: &WorkspaceRow) -> Result<bool, StoreError> {
    let done = sqlx::query(
        "UPDATE workspaces SET name = ?2, root = ?3, dev = ?4, ino = ?5, provider = ?6, allowed_mcp = ?7, used_at = ?8,
         removed_at = ?9 WHERE id = ?1",
    )
    .bind(row.id.as_str())
    .bind(&row.name)
    .bind(&row.root)
    .bind(row.dev.cast_signed())
    .bind(row.ino.cast_signed())
    .bind(&row.provider)
    .bind(json(&row.allowed_mcp)?)
    .bind(micros(row.used_at))
    .bind(row.removed_at.map(micros))
    .execute(conn)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Notes that it was used.
///
/// # Errors
/// When the database cannot be written.
pub async fn touch(
    conn: &mut SqliteConnection,
    id: &WorkspaceId,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE workspaces SET used_at = ?2 WHERE id = ?1 AND used_at < ?2")
        .bind(id.as_str())
        .bind(micros(at))
        .execute(conn)
        .await?;
    Ok(())
}

/// Takes it off the list; row, tasks and files stay. False when it was not on the list.
///
/// # Errors
/// When the database cannot be written.
pub async fn remove(
    conn: &mut SqliteConnection,
    id: &WorkspaceId,
    at: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let done = sqlx::query("UPDATE workspaces SET removed_at = ?2 WHERE id = ?1 AND removed_at IS NULL")
        .bind(id.as_str())
        .bind(micros(at))
        .execute(conn)
        .await?;
    Ok(done.rows_affected() == 1)
}
