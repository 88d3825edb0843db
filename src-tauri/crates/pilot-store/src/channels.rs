//! Channels of the local webhook. The token is kept as its digest only.

use crate::StoreError;
use crate::cells::{Cells, count, micros};
use chrono::{DateTime, Utc};
use pilot_types::{ChannelId, Digest, ErrorCode, TaskId, WorkspaceId};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

/// A channel as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelRow {
    /// Id; part of its address.
    pub id: ChannelId,
    /// Workspace of its tasks.
    pub workspace: WorkspaceId,
    /// What the person calls it.
    pub name: String,
    /// SHA-256 of its token.
    pub token: Digest,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When its token stopped working.
    pub revoked_at: Option<DateTime<Utc>>,
    /// Requests that made a task.
    pub accepted: u64,
    /// When the last of them came.
    pub accepted_at: Option<DateTime<Utc>>,
    /// Requests that were refused.
    pub refused: u64,
    /// When the last of them was counted.
    pub refused_at: Option<DateTime<Utc>>,
    /// Why the last of them was refused.
    pub refused_code: Option<ErrorCode>,
}

macro_rules! select {
    ($tail:literal) => {
        concat!(
            "SELECT id, workspace, name, token, created_at, revoked_at, accepted, accepted_at, refused, refused_at,
             refused_code FROM channels ",
            $tail
        )
    };
}

fn read(row: &SqliteRow) -> Result<ChannelRow, StoreError> {
    let cells = Cells::of("channels", row);
    Ok(ChannelRow {
        id: ChannelId::from_text(cells.text("id")?),
        workspace: WorkspaceId::from_text(cells.text("workspace")?),
        name: cells.text("name")?,
        token: cells.digest("token")?,
        created_at: cells.time("created_at")?,
        revoked_at: cells.opt_time("revoked_at")?,
        accepted: cells.count("accepted")?,
        accepted_at: cells.opt_time("accepted_at")?,
        refused: cells.count("refused")?,
        refused_at: cells.opt_time("refused_at")?,
        refused_code: cells.opt_code("refused_code")?,
    })
}

/// Stores a new channel.
///
/// # Errors
/// [`StoreError::Duplicate`] when the id is taken.
pub async fn insert(conn: &mut SqliteConnection, row: &ChannelRow) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO channels (id, workspace, name, token, created_at, revoked_at, accepted, accepted_at, refused,
         refused_at, refused_code) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )
    .bind(row.id.as_str())
    .bind(row.workspace.as_str())
    .bind(&row.name)
    .bind(row.token.as_str())
    .bind(micros(row.created_at))
    .bind(row.revoked_at.map(micros))
    .bind(count(row.accepted))
    .bind(row.accepted_at.map(micros))
    .bind(count(row.refused))
    .bind(row.refused_at.map(micros))
    .bind(row.refused_code.map(ErrorCode::as_str))
    .execute(conn)
    .await?;
    Ok(())
}

/// A channel whose token works.
///
/// # Errors
/// When the database cannot be read.
pub async fn open(conn: &mut SqliteConnection, id: &ChannelId) -> Result<Option<ChannelRow>, StoreError> {
    let row = sqlx::query(select!("WHERE id = ?1 AND revoked_at IS NULL"))
        .bind(id.as_str())
        .fetch_optional(conn)
        .await?;
    row.as_ref().map(read).transpose()
}

/// All channels whose token works, oldest first.
///
/// # Errors
/// When the database cannot be read.
pub async fn list(conn: &mut SqliteConnection) -> Result<Vec<ChannelRow>, StoreError> {
    let rows =
        sqlx::query(select!("WHERE revoked_at IS NULL ORDER BY created_at, id")).fetch_all(conn).await?;
    rows.iter().map(read).collect()
}

/// Makes the token worthless, at once and for good. False when it was already, or there is no such channel.
///
/// # Errors
/// When the database cannot be written.
pub async fn revoke(
    conn: &mut SqliteConnection,
    id: &ChannelId,
    at: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let done = sqlx::query("UPDATE channels SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL")
        .bind(id.as_str())
        .bind(micros(at))
        .execute(conn)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Notes that a request made this task. False when the channel's token no longer works; then nothing changed.
///
/// # Errors
/// When the database cannot be written.
pub async fn accept(
    conn: &mut SqliteConnection,
    id: &ChannelId,
    task: &TaskId,
    at: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let done = sqlx::query(
        "UPDATE channels SET accepted = accepted + 1, accepted_at = ?2 WHERE id = ?1 AND revoked_at IS NULL",
    )
    .bind(id.as_str())
    .bind(micros(at))
    .execute(&mut *conn)
    .await?;
    if done.rows_affected() != 1 {
        return Ok(false);
    }
    sqlx::query("INSERT INTO channel_tasks (task, channel) VALUES (?1, ?2)")
        .bind(task.as_str())
        .bind(id.as_str())
        .execute(conn)
        .await?;
    Ok(true)
}

/// Counts refused requests; the code is that of the last one.
///
/// # Errors
/// When the database cannot be written.
pub async fn refuse(
    conn: &mut SqliteConnection,
    id: &ChannelId,
    times: u64,
    code: ErrorCode,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE channels SET refused = refused + ?2, refused_code = ?3, refused_at = ?4 WHERE id = ?1",
    )
    .bind(id.as_str())
    .bind(count(times))
    .bind(code.as_str())
    .bind(micros(at))
    .execute(conn)
    .await?;
    Ok(())
}

/// How many tasks of a channel wait, for their turn or for a person.
///
/// # Errors
/// When the database cannot be read.
pub async fn waiting(conn: &mut SqliteConnection, id: &ChannelId) -> Result<u32, StoreError> {
    Ok(sqlx::query_scalar(
        "SELECT count(*) FROM channel_tasks JOIN tasks ON tasks.id = channel_tasks.task
         WHERE channel_tasks.channel = ?1 AND tasks.status IN ('queued', 'waiting_approval')",
    )
    .bind(id.as_str())
    .fetch_one(conn)
    .await?)
}

/// The newest task of a channel.
///
/// # Errors
/// When the database cannot be read.
pub async fn last_task(conn: &mut SqliteConnection, id: &ChannelId) -> Result<Option<TaskId>, StoreError> {
    let found: Option<String> = sqlx::query_scalar(
        "SELECT tasks.id FROM channel_tasks JOIN tasks ON tasks.id = channel_tasks.task
         WHERE channel_tasks.channel = ?1 ORDER BY tasks.created_at DESC, tasks.id DESC LIMIT 1",
    )
    .bind(id.as_str())
    .fetch_optional(conn)
    .await?;
    Ok(found.map(TaskId::from_text))
}
