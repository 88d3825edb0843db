//! Schedules and what became of their slots. That a slot is decided once is a unique index, and that one process
//! decides it is one conditional update ([`advance`]).

use crate::StoreError;
use crate::cells::{Cells, json, micros, word};
use chrono::{DateTime, Utc};
use pilot_types::{ErrorCode, ProviderChoice, ScheduleId, SlotState, TaskId, WorkspaceId};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

/// A schedule as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleRow {
    /// Id.
    pub id: ScheduleId,
    /// Workspace of its tasks.
    pub workspace: WorkspaceId,
    /// The rule as the person wrote it.
    pub rule: String,
    /// IANA time zone; `None` for UTC.
    pub zone: Option<String>,
    /// What each of its tasks is to do.
    pub goal: String,
    /// Model; `None` takes the workspace's choice at the time of the run.
    pub provider: Option<ProviderChoice>,
    /// True while the person paused it.
    pub paused: bool,
    /// Everything up to here was decided.
    pub looked_at: DateTime<Utc>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When the person last changed it.
    pub updated_at: DateTime<Utc>,
    /// When it was removed; its runs stay.
    pub removed_at: Option<DateTime<Utc>>,
}

/// What became of a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    /// Schedule.
    pub schedule: ScheduleId,
    /// The slot; `None` for a run by hand and for a note about missed slots.
    pub slot: Option<DateTime<Utc>>,
    /// What became of it.
    pub state: SlotState,
    /// Its task, if it made one that is still there.
    pub task: Option<TaskId>,
    /// Why it made none.
    pub code: Option<ErrorCode>,
    /// First of the missed slots.
    pub since: Option<DateTime<Utc>>,
    /// Last of the missed slots that were counted.
    pub upto: Option<DateTime<Utc>>,
    /// How many slots this is about.
    pub slots: u32,
    /// True when there were more than were counted.
    pub more: bool,
    /// When it was decided.
    pub at: DateTime<Utc>,
}

macro_rules! select {
    ($tail:literal) => {
        concat!(
            "SELECT id, workspace, rule, zone, goal, provider, paused, looked_at, created_at, updated_at, removed_at
             FROM schedules ",
            $tail
        )
    };
}

fn read(row: &SqliteRow) -> Result<ScheduleRow, StoreError> {
    let cells = Cells::of("schedules", row);
    Ok(ScheduleRow {
        id: ScheduleId::from_text(cells.text("id")?),
        workspace: WorkspaceId::from_text(cells.text("workspace")?),
        rule: cells.text("rule")?,
        zone: cells.opt_string("zone")?,
        goal: cells.text("goal")?,
        provider: match cells.opt_text("provider")? {
            None => None,
            Some(_) => Some(cells.json("provider")?),
        },
        paused: cells.flag("paused")?,
        looked_at: cells.time("looked_at")?,
        created_at: cells.time("created_at")?,
        updated_at: cells.time("updated_at")?,
        removed_at: cells.opt_time("removed_at")?,
    })
}

fn read_run(row: &SqliteRow) -> Result<RunRow, StoreError> {
    let cells = Cells::of("schedule_runs", row);
    Ok(RunRow {
        schedule: ScheduleId::from_text(cells.text("schedule")?),
        slot: cells.opt_time("slot")?,
        state: cells.word("state")?,
        task: cells.opt_string("task")?.map(TaskId::from_text),
        code: cells.opt_code("code")?,
        since: cells.opt_time("since")?,
        upto: cells.opt_time("upto")?,
        slots: cells.count("slots")?,
        more: cells.flag("more")?,
        at: cells.time("at")?,
    })
}

/// Stores a new schedule.
///
/// # Errors
/// [`StoreError::Duplicate`] when the id is taken.
pub async fn insert(conn: &mut SqliteConnection, row: &ScheduleRow) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO schedules (id, workspace, rule, zone, goal, provider, paused, looked_at, created_at, updated_at,
         removed_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )
    .bind(row.id.as_str())
    .bind(row.workspace.as_str())
    .bind(&row.rule)
    .bind(row.zone.as_deref())
    .bind(&row.goal)
    .bind(row.provider.as_ref().map(json).transpose()?)
    .bind(row.paused)
    .bind(micros(row.looked_at))
    .bind(micros(row.created_at))
    .bind(micros(row.updated_at))
    .bind(row.removed_at.map(micros))
    .execute(conn)
    .await?;
    Ok(())
}

/// A schedule by id, removed ones too.
///
/// # Errors
/// When the database cannot be read.
pub async fn get(conn: &mut SqliteConnection, id: &ScheduleId) -> Result<Option<ScheduleRow>, StoreError> {
    let row = sqlx::query(select!("WHERE id = ?1")).bind(id.as_str()).fetch_optional(conn).await?;
    row.as_ref().map(read).transpose()
}

/// All schedules that were not removed, oldest first.
///
/// # Errors
/// When the database cannot be read.
pub async fn list(conn: &mut SqliteConnection) -> Result<Vec<ScheduleRow>, StoreError> {
    let rows =
        sqlx::query(select!("WHERE removed_at IS NULL ORDER BY created_at, id")).fetch_all(conn).await?;
    rows.iter().map(read).collect()
}

/// Saves what a person can change: workspace, rule, zone, goal, provider, paused, and from when on slots count. False
/// when it was removed.
///
/// # Errors
/// When the database cannot be written.
pub async fn update(conn: &mut SqliteConnection, row: &ScheduleRow) -> Result<bool, StoreError> {
    let done = sqlx::query(
        "UPDATE schedules SET workspace = ?2, rule = ?3, zone = ?4, goal = ?5, provider = ?6, paused = ?7,
         looked_at = ?8, updated_at = ?9 WHERE id = ?1 AND removed_at IS NULL",
    )
    .bind(row.id.as_str())
    .bind(row.workspace.as_str())
    .bind(&row.rule)
    .bind(row.zone.as_deref())
    .bind(&row.goal)
    .bind(row.provider.as_ref().map(json).transpose()?)
    .bind(row.paused)
    .bind(micros(row.looked_at))
    .bind(micros(row.updated_at))
    .execute(conn)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Takes it off the list; its runs stay. False when it was not on the list.
///
/// # Errors
/// When the database cannot be written.
pub async fn remove(
    conn: &mut SqliteConnection,
    id: &ScheduleId,
    at: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let done = sqlx::query("UPDATE schedules SET removed_at = ?2 WHERE id = ?1 AND removed_at IS NULL")
        .bind(id.as_str())
        .bind(micros(at))
        .execute(conn)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Moves `looked_at` from the value that was looked at to a new one. True for exactly one of those that try, and only
/// while the schedule is neither paused nor removed nor changed in between.
///
/// # Errors
/// When the database cannot be written.
pub async fn advance(
    conn: &mut SqliteConnection,
    id: &ScheduleId,
    from: DateTime<Utc>,
    to: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let done = sqlx::query(
        "UPDATE schedules SET looked_at = ?3
         WHERE id = ?1 AND looked_at = ?2 AND paused = 0 AND removed_at IS NULL",
    )
    .bind(id.as_str())
    .bind(micros(from))
    .bind(micros(to))
    .execute(conn)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// From now on slots count again, for all schedules that are not paused: those that passed meanwhile were left out on
/// purpose.
///
/// # Errors
/// When the database cannot be written.
pub async fn look_from_now(conn: &mut SqliteConnection, now: DateTime<Utc>) -> Result<(), StoreError> {
    sqlx::query("UPDATE schedules SET looked_at = ?1 WHERE paused = 0 AND removed_at IS NULL")
        .bind(micros(now))
        .execute(conn)
        .await?;
    Ok(())
}

/// Notes what became of a slot. False when this slot was decided before; then nothing changed.
///
/// # Errors
/// When the database cannot be written.
pub async fn note(conn: &mut SqliteConnection, run: &RunRow) -> Result<bool, StoreError> {
    let done = sqlx::query(
        "INSERT INTO schedule_runs (schedule, slot, state, task, code, since, upto, slots, more, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         ON CONFLICT (schedule, slot) WHERE slot IS NOT NULL DO NOTHING",
    )
    .bind(run.schedule.as_str())
    .bind(run.slot.map(micros))
    .bind(word(&run.state)?)
    .bind(run.task.as_ref().map(TaskId::as_str))
    .bind(run.code.map(ErrorCode::as_str))
    .bind(run.since.map(micros))
    .bind(run.upto.map(micros))
    .bind(run.slots)
    .bind(run.more)
    .bind(micros(run.at))
    .execute(conn)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// True when this slot was decided before.
///
/// # Errors
/// When the database cannot be read.
pub async fn is_decided(
    conn: &mut SqliteConnection,
    id: &ScheduleId,
    slot: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let found: i64 = sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM schedule_runs WHERE schedule = ?1 AND slot = ?2 AND slot IS NOT NULL)",
    )
    .bind(id.as_str())
    .bind(micros(slot))
    .fetch_one(conn)
    .await?;
    Ok(found == 1)
}

/// The newest runs and notes of a schedule.
///
/// # Errors
/// When the database cannot be read.
pub async fn runs(
    conn: &mut SqliteConnection,
    id: &ScheduleId,
    limit: u32,
) -> Result<Vec<RunRow>, StoreError> {
    let rows = sqlx::query(
        "SELECT schedule, slot, state, task, code, since, upto, slots, more, at FROM schedule_runs
         WHERE schedule = ?1 ORDER BY id DESC LIMIT ?2",
    )
    .bind(id.as_str())
    .bind(limit)
    .fetch_all(conn)
    .await?;
    rows.iter().map(read_run).collect()
}

/// The oldest task of a schedule that is not finished. An interrupted one counts as finished: it may never go on.
///
/// # Errors
/// When the database cannot be read.
pub async fn unfinished(conn: &mut SqliteConnection, id: &ScheduleId) -> Result<Option<TaskId>, StoreError> {
    let found: Option<String> = sqlx::query_scalar(
        "SELECT tasks.id FROM schedule_runs JOIN tasks ON tasks.id = schedule_runs.task
         WHERE schedule_runs.schedule = ?1 AND tasks.status IN ('queued', 'running', 'waiting_approval')
         ORDER BY tasks.created_at, tasks.id LIMIT 1",
    )
    .bind(id.as_str())
    .fetch_optional(conn)
    .await?;
    Ok(found.map(TaskId::from_text))
}

/// How many tasks of a schedule wait, for their turn or for a person.
///
/// # Errors
/// When the database cannot be read.
pub async fn waiting(conn: &mut SqliteConnection, id: &ScheduleId) -> Result<u32, StoreError> {
    Ok(sqlx::query_scalar(
        "SELECT count(*) FROM schedule_runs JOIN tasks ON tasks.id = schedule_runs.task
         WHERE schedule_runs.schedule = ?1 AND tasks.status IN ('queued', 'waiting_approval')",
    )
    .bind(id.as_str())
    .fetch_one(conn)
    .await?)
}
