//! The one execution of each approval: written down before it happens, closed after.

use crate::StoreError;
use crate::cells::{Cells, micros, word};
use chrono::{DateTime, Utc};
use pilot_types::{ApprovalId, Digest, ErrorCode, ExecutionOutcome, OperationId, ProcessId, TaskId};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

/// An execution as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutionRow {
    /// Id; the same operation is never run twice.
    pub operation: OperationId,
    /// The approval that is spent on it.
    pub approval: ApprovalId,
    /// Task.
    pub task: TaskId,
    /// Process that runs it.
    pub process: ProcessId,
    /// Digest of the call.
    pub arguments_digest: Digest,
    /// Digest of the target before; `None` when nothing was there.
    pub base: Option<Digest>,
    /// Digest of the target after; `None` when it cannot be known beforehand.
    pub result: Option<Digest>,
    /// Name of the temporary file beside the target; empty when there is none.
    pub temp_name: String,
    /// Target, relative to the root.
    pub path: Option<String>,
    /// When it began.
    pub started_at: DateTime<Utc>,
    /// When it ended.
    pub finished_at: Option<DateTime<Utc>>,
    /// How it ended; `None` while it is under way, or was when its process died.
    pub outcome: Option<ExecutionOutcome>,
    /// Why it failed.
    pub code: Option<ErrorCode>,
}

macro_rules! select {
    ($tail:literal) => {
        concat!(
            "SELECT operation, approval, task, process, arguments_digest, base, result, temp_name, path, started_at,
             finished_at, outcome, code FROM executions ",
            $tail
        )
    };
}

fn read(row: &SqliteRow) -> Result<ExecutionRow, StoreError> {
    let cells = Cells::of("executions", row);
    Ok(ExecutionRow {
        operation: OperationId::from_text(cells.text("operation")?),
        approval: ApprovalId::from_text(cells.text("approval")?),
        task: TaskId::from_text(cells.text("task")?),
        process: ProcessId::from_text(cells.text("process")?),
        arguments_digest: cells.digest("arguments_digest")?,
        base: cells.opt_digest("base")?,
        result: cells.opt_digest("result")?,
        temp_name: cells.text("temp_name")?,
        path: cells.opt_string("path")?,
        started_at: cells.time("started_at")?,
        finished_at: cells.opt_time("finished_at")?,
        outcome: cells.opt_word("outcome")?,
        code: cells.opt_code("code")?,
    })
}

/// Writes down an execution that is about to happen.
///
/// # Errors
/// [`StoreError::Duplicate`] when the approval was spent already: then nothing may be run.
pub async fn start(conn: &mut SqliteConnection, row: &ExecutionRow) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO executions (operation, approval, task, process, arguments_digest, base, result, temp_name, path,
         started_at, finished_at, outcome, code) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )
    .bind(row.operation.as_str())
    .bind(row.approval.as_str())
    .bind(row.task.as_str())
    .bind(row.process.as_str())
    .bind(row.arguments_digest.as_str())
    .bind(row.base.as_ref().map(Digest::as_str))
    .bind(row.result.as_ref().map(Digest::as_str))
    .bind(&row.temp_name)
    .bind(row.path.as_deref())
    .bind(micros(row.started_at))
    .bind(row.finished_at.map(micros))
    .bind(row.outcome.as_ref().map(word).transpose()?)
    .bind(row.code.map(ErrorCode::as_str))
    .execute(conn)
    .await?;
    Ok(())
}

/// Closes an execution. False when it was closed already or is not there.
///
/// # Errors
/// When the database cannot be written.
pub async fn finish(
    conn: &mut SqliteConnection,
    operation: &OperationId,
    outcome: ExecutionOutcome,
    code: Option<ErrorCode>,
    at: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let done = sqlx::query(
        "UPDATE executions SET outcome = ?2, code = ?3, finished_at = ?4 WHERE operation = ?1 AND outcome IS NULL",
    )
    .bind(operation.as_str())
    .bind(word(&outcome)?)
    .bind(code.map(ErrorCode::as_str))
    .bind(micros(at))
    .execute(conn)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Executions under way, or cut off, oldest first.
///
/// # Errors
/// When the database cannot be read.
pub async fn open_ones(conn: &mut SqliteConnection) -> Result<Vec<ExecutionRow>, StoreError> {
    sqlx::query(select!("WHERE outcome IS NULL ORDER BY started_at, operation"))
        .fetch_all(conn)
        .await?
        .iter()
        .map(read)
        .collect()
}

/// The execution of an approval.
///
/// # Errors
/// When the database cannot be read.
pub async fn get_by_approval(
    conn: &mut SqliteConnection,
    approval: &ApprovalId,
) -> Result<Option<ExecutionRow>, StoreError> {
    let row =
        sqlx::query(select!("WHERE approval = ?1")).bind(approval.as_str()).fetch_optional(conn).await?;
    row.as_ref().map(read).transpose()
}
