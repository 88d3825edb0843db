//! Rows for tests: invented, and the same in every run.

use chrono::{DateTime, Utc};
use pilot_store::{
    ApprovalRow, DataDir, EffectKind, ExecutionRow, Store, StoreError, WorkspaceRow, approvals, executions,
    tasks, workspaces,
};
use pilot_types::{
    ApprovalId, ApprovalStatus, CallId, Capability, Channel, Digest, Event, OperationId, ProcessId,
    ProviderChoice, Risk, Task, TaskId, TaskLimits, TaskStatus, TokenUsage, ToolCall, WorkspaceId,
};
use serde_json::json;

/// A moment, `seconds` after a fixed one.
pub(crate) fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_micros(1_767_225_600_000_000 + seconds * 1_000_000 + 123_456).unwrap()
}

pub(crate) struct Place {
    pub(crate) data: DataDir,
    _folder: tempfile::TempDir,
}

/// An empty data folder.
pub(crate) fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    Place { data: DataDir::open(folder.path().join("data")).unwrap(), _folder: folder }
}

pub(crate) fn workspace(name: &str) -> WorkspaceRow {
    WorkspaceRow {
        id: WorkspaceId::from_text(name),
        name: name.to_owned(),
        root: format!("/home/mika/{name}"),
        dev: 2049,
        ino: u64::MAX - 7,
        provider: "offline".to_owned(),
        allowed_mcp: vec!["workspace-fs".to_owned()],
        created_at: at(0),
        used_at: at(0),
        removed_at: None,
    }
}

pub(crate) fn task(id: &str, workspace: &str, seconds: i64) -> Task {
    Task {
        id: TaskId::from_text(id),
        workspace: WorkspaceId::from_text(workspace),
        session: None,
        channel: Channel::Chat,
        goal: "Summarise the invoices of 青松物流".to_owned(),
        status: TaskStatus::Queued,
        code: None,
        provider: ProviderChoice::Offline,
        limits: TaskLimits::default(),
        steps: 0,
        elapsed_millis: 0,
        usage: TokenUsage::default(),
        process: Some(ProcessId::from_text("p1")),
        cancel_requested: false,
        created_at: at(seconds),
        updated_at: at(seconds),
    }
}

pub(crate) fn approval(id: &str, task: &Task) -> ApprovalRow {
    let call = ToolCall {
        id: CallId::from_text("call-1"),
        tool: "write_file".to_owned(),
        arguments: json!({"path": "report.md", "content": "# Report\n12.50"}),
        problem: None,
    };
    ApprovalRow {
        id: ApprovalId::from_text(id),
        task: task.id.clone(),
        workspace: task.workspace.clone(),
        call_id: call.id.clone(),
        tool: call.tool.clone(),
        capability: Capability::declared("file:write"),
        risk: Risk::High,
        digest: call.digest(),
        original: call.clone(),
        call,
        schema: json!({"type": "object"}),
        path: Some("report.md".to_owned()),
        base: None,
        effect_kind: EffectKind::WriteFile,
        content_digest: Some(Digest::of(b"# Report\n12.50")),
        root_dev: 2049,
        root_ino: u64::MAX - 7,
        policy_version: 1,
        provider: "offline".to_owned(),
        said: "I will write the report.".to_owned(),
        rest: Vec::new(),
        steps: 3,
        elapsed_millis: 1_250,
        rev: 1,
        status: ApprovalStatus::Pending,
        flags: 2,
        asked_at: at(10),
        decided_at: None,
        decided_by: None,
        note: None,
        code: None,
        edited: false,
        replaces: None,
        replaced_by: None,
    }
}

pub(crate) fn execution(operation: &str, approval: &ApprovalRow) -> ExecutionRow {
    ExecutionRow {
        operation: OperationId::from_text(operation),
        approval: approval.id.clone(),
        task: approval.task.clone(),
        process: ProcessId::from_text("p1"),
        arguments_digest: approval.digest.clone(),
        base: approval.base.clone(),
        result: approval.content_digest.clone(),
        temp_name: ".pilot-tmp-1".to_owned(),
        path: approval.path.clone(),
        started_at: at(20),
        finished_at: None,
        outcome: None,
        code: None,
    }
}

pub(crate) fn noted(detail: &str) -> Event {
    Event::Noted { code: None, detail: detail.to_owned() }
}

/// A store with one workspace `w` and one queued task `t`.
pub(crate) async fn seed(store: &Store) -> Task {
    let mut tx = store.begin().await.unwrap();
    workspaces::insert(&mut tx, &workspace("w")).await.unwrap();
    let task = task("t", "w", 1);
    tasks::insert(&mut tx, &task).await.unwrap();
    tx.commit().await.unwrap();
    task
}

/// Approves as a resolver does: decides and writes the execution down in one transaction. True when this one won.
pub(crate) async fn resolve(store: &Store, approval: &ApprovalRow) -> Result<bool, StoreError> {
    let mut tx = store.begin().await?;
    let (from, to) = (ApprovalStatus::Pending, ApprovalStatus::Executing);
    let won = approvals::transition(&mut tx, &approval.id, from, to, at(20), Some("cli"), None, None).await?;
    if won {
        let operation = OperationId::new();
        executions::start(&mut tx, &execution(operation.as_str(), approval)).await?;
        tx.commit().await?;
    }
    Ok(won)
}
