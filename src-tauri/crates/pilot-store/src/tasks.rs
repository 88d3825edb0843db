//! Tasks, their order and their places. Which task may run is one conditional update ([`claim`]), so that any number
//! of processes can ask at once.
//!
//! `updated_at` is set here from this computer's clock: it is shown, and decides nothing.

use crate::StoreError;
use crate::cells::{Cells, count, json, micros, word};
use chrono::Utc;
use pilot_types::{
    ErrorCode, ProcessId, SessionId, Task, TaskId, TaskLimits, TaskStatus, TokenUsage, WorkspaceId,
};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

macro_rules! select {
    ($tail:literal) => {
        concat!(
            "SELECT id, workspace, session, channel, goal, status, code, choice, max_steps, max_millis, max_tokens, steps,
             elapsed_millis, tokens_in, tokens_out, tokens_estimated, process, cancel_requested, created_at, updated_at
             FROM tasks JOIN task_providers ON task_providers.task = tasks.id ",
            $tail
        )
    };
}

fn read(row: &SqliteRow) -> Result<Task, StoreError> {
    let cells = Cells::of("tasks", row);
    Ok(Task {
        id: TaskId::from_text(cells.text("id")?),
        workspace: WorkspaceId::from_text(cells.text("workspace")?),
        session: cells.opt_string("session")?.map(SessionId::from_text),
        channel: cells.word("channel")?,
        goal: cells.text("goal")?,
        status: cells.word("status")?,
        code: cells.opt_code("code")?,
        provider: cells.json("choice")?,
        limits: TaskLimits {
            max_steps: cells.count("max_steps")?,
            max_millis: cells.count("max_millis")?,
            max_tokens: cells.opt_count("max_tokens")?,
        },
        steps: cells.count("steps")?,
        elapsed_millis: cells.count("elapsed_millis")?,
        usage: TokenUsage {
            input: cells.count("tokens_in")?,
            output: cells.count("tokens_out")?,
            estimated: cells.flag("tokens_estimated")?,
        },
        process: cells.opt_string("process")?.map(ProcessId::from_text),
        cancel_requested: cells.flag("cancel_requested")?,
        created_at: cells.time("created_at")?,
        updated_at: cells.time("updated_at")?,
    })
}

fn read_all(rows: &[SqliteRow]) -> Result<Vec<Task>, StoreError> {
    rows.iter().map(read).collect()
}

/// Stores a new task. Times are kept to the microsecond.
///
/// # Errors
/// [`StoreError::Duplicate`] when the id is taken.
pub async fn insert(conn: &mut SqliteConnection, task: &Task) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO tasks (id, workspace, session, channel, goal, status, code, max_steps, max_millis, max_tokens, steps,
         elapsed_millis, tokens_in, tokens_out, tokens_estimated, process, cancel_requested, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
    )
    .bind(task.id.as_str())
    .bind(task.workspace.as_str())
    .bind(task.session.as_ref().map(SessionId::as_str))
    .bind(word(&task.channel)?)
    .bind(&task.goal)
    .bind(task.status.as_str())
    .bind(task.code.map(ErrorCode::as_str))
    .bind(task.limits.max_steps)
    .bind(count(task.limits.max_millis))
    .bind(task.limits.max_tokens.map(count))
    .bind(task.steps)
    .bind(count(task.elapsed_millis))
    .bind(count(task.usage.input))
    .bind(count(task.usage.output))
    .bind(task.usage.estimated)
    .bind(task.process.as_ref().map(ProcessId::as_str))
    .bind(task.cancel_requested)
    .bind(micros(task.created_at))
    .bind(micros(task.updated_at))
    .execute(&mut *conn)
    .await?;
    sqlx::query("INSERT INTO task_providers (task, choice) VALUES (?1, ?2)")
        .bind(task.id.as_str())
        .bind(json(&task.provider)?)
        .execute(conn)
        .await?;
    Ok(())
}

/// A task by id.
///
/// # Errors
/// When the database cannot be read.
pub async fn get(conn: &mut SqliteConnection, id: &TaskId) -> Result<Option<Task>, StoreError> {
    let row = sqlx::query(select!("WHERE id = ?1")).bind(id.as_str()).fetch_optional(conn).await?;
    row.as_ref().map(read).transpose()
}

/// The newest tasks, of one workspace or of all.
///
/// # Errors
/// When the database cannot be read.
pub async fn list(
    conn: &mut SqliteConnection,
    workspace: Option<&WorkspaceId>,
    limit: u32,
) -> Result<Vec<Task>, StoreError> {
    let query = match workspace {
        Some(workspace) => {
            sqlx::query(select!("WHERE workspace = ?2 ORDER BY created_at DESC, id DESC LIMIT ?1"))
                .bind(limit)
                .bind(workspace.as_str())
        }
        None => sqlx::query(select!("ORDER BY created_at DESC, id DESC LIMIT ?1")).bind(limit),
    };
    read_all(&query.fetch_all(conn).await?)
}

/// The tasks of a conversation, oldest first.
///
/// # Errors
/// When the database cannot be read.
pub async fn of_session(conn: &mut SqliteConnection, session: &SessionId) -> Result<Vec<Task>, StoreError> {
    let query = sqlx::query(select!("WHERE session = ?1 ORDER BY created_at, id")).bind(session.as_str());
    read_all(&query.fetch_all(conn).await?)
}

/// Moves a task to `to` if it stands at one of `from` now. `code` replaces the old one. False when it stands elsewhere
/// (or is not there); then nothing changed.
///
/// # Errors
/// When the database cannot be written.
pub async fn set_status(
    conn: &mut SqliteConnection,
    id: &TaskId,
    from: &[TaskStatus],
    to: TaskStatus,
    code: Option<ErrorCode>,
) -> Result<bool, StoreError> {
    let done = sqlx::query(
        "UPDATE tasks SET status = ?2, code = ?3, updated_at = ?4
         WHERE id = ?1 AND status IN (SELECT value FROM json_each(?5))",
    )
    .bind(id.as_str())
    .bind(to.as_str())
    .bind(code.map(ErrorCode::as_str))
    .bind(micros(Utc::now()))
    .bind(json(from)?)
    .execute(conn)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Keeps how far a task is: totals of its whole life, not differences.
///
/// # Errors
/// When the database cannot be written.
pub async fn progress(
    conn: &mut SqliteConnection,
    id: &TaskId,
    steps: u32,
    elapsed_millis: u64,
    usage: TokenUsage,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE tasks SET steps = ?2, elapsed_millis = ?3, tokens_in = ?4, tokens_out = ?5, tokens_estimated = ?6,
         updated_at = ?7 WHERE id = ?1",
    )
    .bind(id.as_str())
    .bind(steps)
    .bind(count(elapsed_millis))
    .bind(count(usage.input))
    .bind(count(usage.output))
    .bind(usage.estimated)
    .bind(micros(Utc::now()))
    .execute(conn)
    .await?;
    Ok(())
}

/// Asks whoever runs the task to stop it. False when it has ended already or is not there.
///
/// # Errors
/// When the database cannot be written.
pub async fn request_cancel(conn: &mut SqliteConnection, id: &TaskId) -> Result<bool, StoreError> {
    let done = sqlx::query(
        "UPDATE tasks SET cancel_requested = 1, updated_at = ?2
         WHERE id = ?1 AND status IN ('queued', 'running', 'waiting_approval', 'interrupted')",
    )
    .bind(id.as_str())
    .bind(micros(Utc::now()))
    .execute(conn)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// True when the person asked to stop the task. A task that is not there has nothing to go on with: true.
///
/// # Errors
/// When the database cannot be read.
pub async fn cancel_requested(conn: &mut SqliteConnection, id: &TaskId) -> Result<bool, StoreError> {
    let asked: Option<bool> = sqlx::query_scalar("SELECT cancel_requested FROM tasks WHERE id = ?1")
        .bind(id.as_str())
        .fetch_optional(conn)
        .await?;
    Ok(asked.unwrap_or(true))
}

/// Takes a place for a queued task and sets it running in `process`. True only when the task is queued, nothing else
/// runs in its workspace, no task of its workspace has been queued for longer, and fewer than `max_running` run over
/// all. One update decides, whoever else asks.
///
/// # Errors
/// When the database cannot be written.
pub async fn claim(
    conn: &mut SqliteConnection,
    id: &TaskId,
    process: &ProcessId,
    max_running: u32,
) -> Result<bool, StoreError> {
    let done = sqlx::query(
        "UPDATE tasks SET status = 'running', code = NULL, process = ?2, updated_at = ?3
         WHERE id = ?1 AND status = 'queued'
           AND (SELECT count(*) FROM tasks AS other WHERE other.status = 'running') < ?4
           AND NOT EXISTS (SELECT 1 FROM tasks AS other
                           WHERE other.status = 'running' AND other.workspace = tasks.workspace)
           AND NOT EXISTS (SELECT 1 FROM tasks AS other
                           WHERE other.status = 'queued' AND other.workspace = tasks.workspace
                             AND (other.created_at, other.id) < (tasks.created_at, tasks.id))",
    )
    .bind(id.as_str())
    .bind(process.as_str())
    .bind(micros(Utc::now()))
    .bind(max_running)
    .execute(conn)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// The task of this process that has been queued longest among those whose workspace is free and that are first in
/// it. It still has to be claimed.
///
/// # Errors
/// When the database cannot be read.
pub async fn next_queued(
    conn: &mut SqliteConnection,
    process: &ProcessId,
) -> Result<Option<TaskId>, StoreError> {
    let id: Option<String> = sqlx::query_scalar(
        "SELECT id FROM tasks
         WHERE status = 'queued' AND process = ?1
           AND NOT EXISTS (SELECT 1 FROM tasks AS other
                           WHERE other.status = 'running' AND other.workspace = tasks.workspace)
           AND NOT EXISTS (SELECT 1 FROM tasks AS other
                           WHERE other.status = 'queued' AND other.workspace = tasks.workspace
                             AND (other.created_at, other.id) < (tasks.created_at, tasks.id))
         ORDER BY created_at, id LIMIT 1",
    )
    .bind(process.as_str())
    .fetch_optional(conn)
    .await?;
    Ok(id.map(TaskId::from_text))
}

/// Says which process runs the task or will run it. False when there is no such task.
///
/// # Errors
/// When the database cannot be written.
pub async fn assign(
    conn: &mut SqliteConnection,
    id: &TaskId,
    process: &ProcessId,
) -> Result<bool, StoreError> {
    let done = sqlx::query("UPDATE tasks SET process = ?2 WHERE id = ?1")
        .bind(id.as_str())
        .bind(process.as_str())
        .execute(conn)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// The tasks that run in a process, oldest first.
///
/// # Errors
/// When the database cannot be read.
pub async fn running_of(conn: &mut SqliteConnection, process: &ProcessId) -> Result<Vec<Task>, StoreError> {
    let query = sqlx::query(select!("WHERE status = 'running' AND process = ?1 ORDER BY created_at, id"))
        .bind(process.as_str());
    read_all(&query.fetch_all(conn).await?)
}

/// The tasks that stand at one of these, oldest first.
///
/// # Errors
/// When the database cannot be read.
pub async fn by_status(
    conn: &mut SqliteConnection,
    statuses: &[TaskStatus],
) -> Result<Vec<Task>, StoreError> {
    let query =
        sqlx::query(select!("WHERE status IN (SELECT value FROM json_each(?1)) ORDER BY created_at, id"))
            .bind(json(statuses)?);
    read_all(&query.fetch_all(conn).await?)
}

/// How many tasks stand at a status.
///
/// # Errors
/// When the database cannot be read.
pub async fn count_by_status(conn: &mut SqliteConnection, status: TaskStatus) -> Result<u32, StoreError> {
    let found: u32 = sqlx::query_scalar("SELECT count(*) FROM tasks WHERE status = ?1")
        .bind(status.as_str())
        .fetch_one(conn)
        .await?;
    Ok(found)
}

/// True while a task runs in the workspace.
///
/// # Errors
/// When the database cannot be read.
pub async fn workspace_busy(
    conn: &mut SqliteConnection,
    workspace: &WorkspaceId,
) -> Result<bool, StoreError> {
    let found: i64 =
        sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM tasks WHERE status = 'running' AND workspace = ?1)")
            .bind(workspace.as_str())
            .fetch_one(conn)
            .await?;
    Ok(found == 1)
}
