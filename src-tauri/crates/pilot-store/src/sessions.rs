//! Conversations, and what a follow-up was given of the turns before it.

use crate::StoreError;
use crate::cells::{Cells, micros};
use chrono::{DateTime, Utc};
use pilot_types::{Channel, SessionId, TaskId, TaskStatus, WorkspaceId};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

/// A conversation as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Id.
    pub id: SessionId,
    /// The folder that all its turns work in.
    pub workspace: WorkspaceId,
    /// Title shown.
    pub title: String,
    /// When its first turn was made.
    pub created_at: DateTime<Utc>,
    /// When its newest turn was made.
    pub used_at: DateTime<Utc>,
    /// When the person put it away; it is only out of sight.
    pub archived_at: Option<DateTime<Utc>>,
}

/// A conversation with how its turns stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSummary {
    /// The conversation.
    pub session: SessionRow,
    /// Turns.
    pub turns: u32,
    /// Turns that wait for a person.
    pub waiting: u32,
    /// The newest turn.
    pub last_task: TaskId,
    /// Where the newest turn stands.
    pub status: TaskStatus,
    /// Where the newest turn came from.
    pub channel: Channel,
}

/// Which conversations are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// Of one workspace; of all when `None`.
    pub workspace: Option<WorkspaceId>,
    /// Those that were put away, instead of the others.
    pub archived: bool,
    /// A text that stands in the title or in a goal; letters of a case of their own only where they are ASCII.
    pub search: Option<String>,
}

fn read(row: &SqliteRow) -> Result<SessionRow, StoreError> {
    let cells = Cells::of("sessions", row);
    Ok(SessionRow {
        id: SessionId::from_text(cells.text("id")?),
        workspace: WorkspaceId::from_text(cells.text("workspace")?),
        title: cells.text("title")?,
        created_at: cells.time("created_at")?,
        used_at: cells.time("used_at")?,
        archived_at: cells.opt_time("archived_at")?,
    })
}

/// Stores a new conversation.
///
/// # Errors
/// [`StoreError::Duplicate`] when the id is taken.
pub async fn insert(conn: &mut SqliteConnection, row: &SessionRow) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO sessions (id, workspace, title, created_at, used_at, archived_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )
    .bind(row.id.as_str())
    .bind(row.workspace.as_str())
    .bind(&row.title)
    .bind(micros(row.created_at))
    .bind(micros(row.used_at))
    .bind(row.archived_at.map(micros))
    .execute(conn)
    .await?;
    Ok(())
}

/// A conversation by id.
///
/// # Errors
/// When the database cannot be read.
pub async fn get(conn: &mut SqliteConnection, id: &SessionId) -> Result<Option<SessionRow>, StoreError> {
    let row = sqlx::query(
        "SELECT id, workspace, title, created_at, used_at, archived_at FROM sessions WHERE id = ?1",
    )
    .bind(id.as_str())
    .fetch_optional(conn)
    .await?;
    row.as_ref().map(read).transpose()
}

/// Notes a new turn. A conversation that was put away is back in sight.
///
/// # Errors
/// When the database cannot be written.
pub async fn touch(conn: &mut SqliteConnection, id: &SessionId, at: DateTime<Utc>) -> Result<(), StoreError> {
    sqlx::query("UPDATE sessions SET used_at = max(used_at, ?2), archived_at = NULL WHERE id = ?1")
        .bind(id.as_str())
        .bind(micros(at))
        .execute(conn)
        .await?;
    Ok(())
}

/// Gives it another title. False when there is no such conversation.
///
/// # Errors
/// When the database cannot be written.
pub async fn rename(conn: &mut SqliteConnection, id: &SessionId, title: &str) -> Result<bool, StoreError> {
    let done = sqlx::query("UPDATE sessions SET title = ?2 WHERE id = ?1")
        .bind(id.as_str())
        .bind(title)
        .execute(conn)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Puts it away, or back (`None`). False when there is no such conversation.
///
/// # Errors
/// When the database cannot be written.
pub async fn archive(
    conn: &mut SqliteConnection,
    id: &SessionId,
    at: Option<DateTime<Utc>>,
) -> Result<bool, StoreError> {
    let done = sqlx::query("UPDATE sessions SET archived_at = ?2 WHERE id = ?1")
        .bind(id.as_str())
        .bind(at.map(micros))
        .execute(conn)
        .await?;
    Ok(done.rows_affected() == 1)
}

macro_rules! summary {
    ($tail:literal) => {
        concat!(
            "SELECT sessions.id, sessions.workspace, sessions.title, sessions.created_at, sessions.used_at,
             sessions.archived_at, last.id AS last_task, last.status, last.channel,
             (SELECT count(*) FROM tasks WHERE session = sessions.id) AS turns,
             (SELECT count(*) FROM tasks WHERE session = sessions.id AND status = 'waiting_approval') AS waiting
             FROM sessions JOIN tasks AS last ON last.id =
                (SELECT id FROM tasks WHERE session = sessions.id ORDER BY created_at DESC, id DESC LIMIT 1) ",
            $tail
        )
    };
}

fn read_summary(row: &SqliteRow) -> Result<SessionSummary, StoreError> {
    let cells = Cells::of("sessions", row);
    Ok(SessionSummary {
        session: read(row)?,
        turns: cells.count("turns")?,
        waiting: cells.count("waiting")?,
        last_task: TaskId::from_text(cells.text("last_task")?),
        status: cells.word("status")?,
        channel: cells.word("channel")?,
    })
}

/// Conversations: those with a turn that waits for a person first, then by newest use.
///
/// # Errors
/// When the database cannot be read.
pub async fn list(
    conn: &mut SqliteConnection,
    filter: &SessionFilter,
    limit: u32,
) -> Result<Vec<SessionSummary>, StoreError> {
    sqlx::query(summary!(
        "WHERE (?1 IS NULL OR sessions.workspace = ?1) AND (sessions.archived_at IS NOT NULL) = ?2
           AND (?3 IS NULL OR instr(lower(sessions.title), lower(?3)) > 0
                OR EXISTS (SELECT 1 FROM tasks WHERE session = sessions.id AND instr(lower(goal), lower(?3)) > 0))
         ORDER BY waiting > 0 DESC, sessions.used_at DESC, sessions.id DESC LIMIT ?4"
    ))
    .bind(filter.workspace.as_ref().map(WorkspaceId::as_str))
    .bind(filter.archived)
    .bind(filter.search.as_deref())
    .bind(limit)
    .fetch_all(conn)
    .await?
    .iter()
    .map(read_summary)
    .collect()
}

/// One conversation with how its turns stand; `None` when it is not there.
///
/// # Errors
/// When the database cannot be read.
pub async fn summary(
    conn: &mut SqliteConnection,
    id: &SessionId,
) -> Result<Option<SessionSummary>, StoreError> {
    let row = sqlx::query(summary!("WHERE sessions.id = ?1")).bind(id.as_str()).fetch_optional(conn).await?;
    row.as_ref().map(read_summary).transpose()
}

/// Keeps what a task was given of the turns before it.
///
/// # Errors
/// When the database cannot be written.
pub async fn keep_context(
    conn: &mut SqliteConnection,
    task: &TaskId,
    follow_up_of: &TaskId,
    text: &str,
) -> Result<(), StoreError> {
    sqlx::query("INSERT INTO task_contexts (task, follow_up_of, text) VALUES (?1, ?2, ?3)")
        .bind(task.as_str())
        .bind(follow_up_of.as_str())
        .bind(text)
        .execute(conn)
        .await?;
    Ok(())
}

/// What a task was given of the turns before it; `None` for a task that follows none.
///
/// # Errors
/// When the database cannot be read.
pub async fn context(conn: &mut SqliteConnection, task: &TaskId) -> Result<Option<String>, StoreError> {
    Ok(sqlx::query_scalar("SELECT text FROM task_contexts WHERE task = ?1")
        .bind(task.as_str())
        .fetch_optional(conn)
        .await?)
}

/// The task that a task follows; `None` when it follows none.
///
/// # Errors
/// When the database cannot be read.
pub async fn followed(conn: &mut SqliteConnection, task: &TaskId) -> Result<Option<TaskId>, StoreError> {
    let found: Option<String> = sqlx::query_scalar("SELECT follow_up_of FROM task_contexts WHERE task = ?1")
        .bind(task.as_str())
        .fetch_optional(conn)
        .await?;
    Ok(found.map(TaskId::from_text))
}
