//! Cards: one call each that waits for a person, with the exact bytes that it would write.

use crate::StoreError;
use crate::cells::{Cells, count, json, micros, word};
use chrono::{DateTime, Utc};
use pilot_types::{
    ApprovalId, ApprovalStatus, CallId, Capability, Digest, ErrorCode, Risk, TaskId, ToolCall, WorkspaceId,
};
use serde_json::Value;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

/// What kind of effect a card asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EffectKind {
    /// A file in the workspace; recovery can compare.
    WriteFile,
    /// Something that only the tool can do; recovery cannot know.
    Outside,
}

impl EffectKind {
    /// The kind as it stands in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            EffectKind::WriteFile => "write_file",
            EffectKind::Outside => "outside",
        }
    }

    fn from_text(text: &str) -> Option<Self> {
        [EffectKind::WriteFile, EffectKind::Outside].into_iter().find(|kind| kind.as_str() == text)
    }
}

/// An approval as stored, without its bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalRow {
    /// Id.
    pub id: ApprovalId,
    /// Task that waits.
    pub task: TaskId,
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// The call's id in the model's answer.
    pub call_id: CallId,
    /// Tool.
    pub tool: String,
    /// Declared capability.
    pub capability: Capability,
    /// Risk of the tool.
    pub risk: Risk,
    /// The call as it would be run.
    pub call: ToolCall,
    /// The call as the model asked for it.
    pub original: ToolCall,
    /// JSON Schema of the arguments, for edits.
    pub schema: Value,
    /// Digest of the call as it would be run.
    pub digest: Digest,
    /// Target, relative to the root.
    pub path: Option<String>,
    /// Digest of the target as it was; `None` when nothing was there.
    pub base: Option<Digest>,
    /// Kind of effect.
    pub effect_kind: EffectKind,
    /// Digest of the bytes.
    pub content_digest: Option<Digest>,
    /// Device of the workspace's folder.
    pub root_dev: u64,
    /// Inode of the workspace's folder.
    pub root_ino: u64,
    /// Version of the policy that asked.
    pub policy_version: u32,
    /// Label of the provider.
    pub provider: String,
    /// What the model said with the call.
    pub said: String,
    /// Calls of the same answer that come after it.
    pub rest: Vec<ToolCall>,
    /// Model calls of the task so far.
    pub steps: u32,
    /// Milliseconds of running so far.
    pub elapsed_millis: u64,
    /// Goes up with each edit.
    pub rev: u32,
    /// Where it stands.
    pub status: ApprovalStatus,
    /// Number of findings on the card.
    pub flags: u32,
    /// When it was asked.
    pub asked_at: DateTime<Utc>,
    /// When it was decided.
    pub decided_at: Option<DateTime<Utc>>,
    /// Who decided: `window`, `tray`, `cli`, `system`.
    pub decided_by: Option<String>,
    /// The person's note.
    pub note: Option<String>,
    /// Why it failed.
    pub code: Option<ErrorCode>,
    /// True when the person changed the arguments.
    pub edited: bool,
    /// The card in whose place this one stands.
    pub replaces: Option<ApprovalId>,
    /// The card that stands in this one's place.
    pub replaced_by: Option<ApprovalId>,
}

/// The arguments as the person changed them, worked out again to the last byte.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalEdit {
    /// The revision that this makes: one more than the one that was shown.
    pub rev: u32,
    /// The call with the new arguments.
    pub call: ToolCall,
    /// Its digest.
    pub digest: Digest,
    /// Target; an edit may change it.
    pub path: Option<String>,
    /// Digest of the target as it is now.
    pub base: Option<Digest>,
    /// Digest of the new bytes.
    pub content_digest: Option<Digest>,
    /// Number of findings on the new card.
    pub flags: u32,
}

macro_rules! select {
    ($tail:literal) => {
        concat!(
            "SELECT id, task, workspace, call_id, tool, capability, risk, call, original, schema, digest, path, base,
             effect_kind, content_digest, root_dev, root_ino, policy_version, provider, said, rest, steps, elapsed_millis,
             rev, status, flags, asked_at, decided_at, decided_by, note, code, edited, replaces, replaced_by
             FROM approvals ",
            $tail
        )
    };
}

fn read(row: &SqliteRow) -> Result<ApprovalRow, StoreError> {
    let cells = Cells::of("approvals", row);
    let kind = cells.str("effect_kind")?;
    Ok(ApprovalRow {
        id: ApprovalId::from_text(cells.text("id")?),
        task: TaskId::from_text(cells.text("task")?),
        workspace: WorkspaceId::from_text(cells.text("workspace")?),
        call_id: CallId::from_text(cells.text("call_id")?),
        tool: cells.text("tool")?,
        capability: Capability::declared(cells.text("capability")?),
        risk: cells.word("risk")?,
        call: cells.json("call")?,
        original: cells.json("original")?,
        schema: cells.json("schema")?,
        digest: cells.digest("digest")?,
        path: cells.opt_string("path")?,
        base: cells.opt_digest("base")?,
        effect_kind: EffectKind::from_text(kind)
            .ok_or_else(|| cells.unreadable("effect_kind", "unknown word"))?,
        content_digest: cells.opt_digest("content_digest")?,
        root_dev: cells.bits("root_dev")?,
        root_ino: cells.bits("root_ino")?,
        policy_version: cells.count("policy_version")?,
        provider: cells.text("provider")?,
        said: cells.text("said")?,
        rest: cells.json("rest")?,
        steps: cells.count("steps")?,
        elapsed_millis: cells.count("elapsed_millis")?,
        rev: cells.count("rev")?,
        status: cells.word("status")?,
        flags: cells.count("flags")?,
        asked_at: cells.time("asked_at")?,
        decided_at: cells.opt_time("decided_at")?,
        decided_by: cells.opt_string("decided_by")?,
        note: cells.opt_string("note")?,
        code: cells.opt_code("code")?,
        edited: cells.flag("edited")?,
        replaces: cells.opt_string("replaces")?.map(ApprovalId::from_text),
        replaced_by: cells.opt_string("replaced_by")?.map(ApprovalId::from_text),
    })
}

/// Stores a card with the exact bytes that it would write.
///
/// # Errors
/// [`StoreError::Duplicate`] when the id is taken.
pub async fn insert(conn: &mut SqliteConnection, row: &ApprovalRow, bytes: &[u8]) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO approvals (id, task, workspace, call_id, tool, capability, risk, call, original, schema, digest, path,
         base, effect_kind, content_digest, root_dev, root_ino, policy_version, provider, said, rest, steps,
         elapsed_millis, rev, status, flags, asked_at, decided_at, decided_by, note, code, edited, replaces, replaced_by)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
         ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34)",
    )
    .bind(row.id.as_str())
    .bind(row.task.as_str())
    .bind(row.workspace.as_str())
    .bind(row.call_id.as_str())
    .bind(&row.tool)
    .bind(row.capability.as_str())
    .bind(word(&row.risk)?)
    .bind(json(&row.call)?)
    .bind(json(&row.original)?)
    .bind(json(&row.schema)?)
    .bind(row.digest.as_str())
    .bind(row.path.as_deref())
    .bind(row.base.as_ref().map(Digest::as_str))
    .bind(row.effect_kind.as_str())
    .bind(row.content_digest.as_ref().map(Digest::as_str))
    .bind(row.root_dev.cast_signed())
    .bind(row.root_ino.cast_signed())
    .bind(row.policy_version)
    .bind(&row.provider)
    .bind(&row.said)
    .bind(json(&row.rest)?)
    .bind(row.steps)
    .bind(count(row.elapsed_millis))
    .bind(row.rev)
    .bind(word(&row.status)?)
    .bind(row.flags)
    .bind(micros(row.asked_at))
    .bind(row.decided_at.map(micros))
    .bind(row.decided_by.as_deref())
    .bind(row.note.as_deref())
    .bind(row.code.map(ErrorCode::as_str))
    .bind(row.edited)
    .bind(row.replaces.as_ref().map(ApprovalId::as_str))
    .bind(row.replaced_by.as_ref().map(ApprovalId::as_str))
    .execute(&mut *conn)
    .await?;
    sqlx::query("INSERT INTO approval_bytes (approval, bytes) VALUES (?1, ?2)")
        .bind(row.id.as_str())
        .bind(bytes)
        .execute(conn)
        .await?;
    Ok(())
}

/// A card by id.
///
/// # Errors
/// When the database cannot be read.
pub async fn get(conn: &mut SqliteConnection, id: &ApprovalId) -> Result<Option<ApprovalRow>, StoreError> {
    let row = sqlx::query(select!("WHERE id = ?1")).bind(id.as_str()).fetch_optional(conn).await?;
    row.as_ref().map(read).transpose()
}

/// The exact bytes of a card.
///
/// # Errors
/// [`StoreError::Unreadable`] when there is no such card.
pub async fn bytes(conn: &mut SqliteConnection, id: &ApprovalId) -> Result<Vec<u8>, StoreError> {
    let found: Option<Vec<u8>> = sqlx::query_scalar("SELECT bytes FROM approval_bytes WHERE approval = ?1")
        .bind(id.as_str())
        .fetch_optional(conn)
        .await?;
    found.ok_or_else(|| StoreError::Unreadable {
        table: "approval_bytes",
        column: "bytes",
        detail: "there is no such card".to_owned(),
    })
}

/// Cards: those that wait, oldest first, or all, newest first.
///
/// # Errors
/// When the database cannot be read.
pub async fn list(
    conn: &mut SqliteConnection,
    pending_only: bool,
    limit: u32,
) -> Result<Vec<ApprovalRow>, StoreError> {
    let query = if pending_only {
        sqlx::query(select!("WHERE status = 'pending' ORDER BY asked_at, id LIMIT ?1"))
    } else {
        sqlx::query(select!("ORDER BY asked_at DESC, id DESC LIMIT ?1"))
    };
    query.bind(limit).fetch_all(conn).await?.iter().map(read).collect()
}

/// How many cards wait.
///
/// # Errors
/// When the database cannot be read.
pub async fn count_pending(conn: &mut SqliteConnection) -> Result<u32, StoreError> {
    Ok(sqlx::query_scalar("SELECT count(*) FROM approvals WHERE status = 'pending'").fetch_one(conn).await?)
}

/// The card at which a task waits, if it does.
///
/// # Errors
/// When the database cannot be read.
pub async fn pending_of_task(
    conn: &mut SqliteConnection,
    task: &TaskId,
) -> Result<Option<ApprovalRow>, StoreError> {
    let row = sqlx::query(select!(
        "WHERE task = ?1 AND status = 'pending' ORDER BY asked_at DESC, id DESC LIMIT 1"
    ))
    .bind(task.as_str())
    .fetch_optional(conn)
    .await?;
    row.as_ref().map(read).transpose()
}

/// Puts the person's arguments in the place of those on a waiting card. The original call stays. False when the card
/// no longer waits or another edit came first; then nothing changed.
///
/// # Errors
/// When the database cannot be written.
pub async fn set_edit(
    conn: &mut SqliteConnection,
    id: &ApprovalId,
    edit: &ApprovalEdit,
    bytes: &[u8],
) -> Result<bool, StoreError> {
    let done = sqlx::query(
        "UPDATE approvals SET rev = ?2, call = ?3, digest = ?4, path = ?5, base = ?6, content_digest = ?7, flags = ?8,
         edited = 1 WHERE id = ?1 AND status = 'pending' AND rev = ?2 - 1",
    )
    .bind(id.as_str())
    .bind(edit.rev)
    .bind(json(&edit.call)?)
    .bind(edit.digest.as_str())
    .bind(edit.path.as_deref())
    .bind(edit.base.as_ref().map(Digest::as_str))
    .bind(edit.content_digest.as_ref().map(Digest::as_str))
    .bind(edit.flags)
    .execute(&mut *conn)
    .await?;
    if done.rows_affected() != 1 {
        return Ok(false);
    }
    sqlx::query("UPDATE approval_bytes SET bytes = ?2 WHERE approval = ?1")
        .bind(id.as_str())
        .bind(bytes)
        .execute(conn)
        .await?;
    Ok(true)
}

/// **The** decision: moves a card from `from` to `to`, and answers true to exactly one caller, whoever else asks in
/// whichever process. Time and person of the first move away from waiting are kept by later moves; note and code are
/// kept where the later move gives none.
///
/// # Errors
/// When the database cannot be written; then nothing was decided.
#[expect(
    clippy::too_many_arguments,
    reason = "each is one column of the one row that decides; a struct would hide it"
)]
pub async fn transition(
    conn: &mut SqliteConnection,
    id: &ApprovalId,
    from: ApprovalStatus,
    to: ApprovalStatus,
    at: DateTime<Utc>,
    by: Option<&str>,
    note: Option<&str>,
    code: Option<ErrorCode>,
) -> Result<bool, StoreError> {
    let done = sqlx::query(
        "UPDATE approvals SET status = ?3, decided_at = coalesce(decided_at, ?4), decided_by = coalesce(decided_by, ?5),
         note = coalesce(?6, note), code = coalesce(?7, code) WHERE id = ?1 AND status = ?2",
    )
    .bind(id.as_str())
    .bind(word(&from)?)
    .bind(word(&to)?)
    .bind(micros(at))
    .bind(by)
    .bind(note)
    .bind(code.map(ErrorCode::as_str))
    .execute(conn)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Notes on both cards that `new` stands in the place of `old`.
///
/// # Errors
/// When one of them is not there, or the database cannot be written.
pub async fn link_replacement(
    conn: &mut SqliteConnection,
    old: &ApprovalId,
    new: &ApprovalId,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE approvals SET replaced_by = iif(id = ?1, ?2, replaced_by), replaces = iif(id = ?2, ?1, replaces)
         WHERE id IN (?1, ?2)",
    )
    .bind(old.as_str())
    .bind(new.as_str())
    .execute(conn)
    .await?;
    Ok(())
}
