//! The one execution of an approved call, and what is recorded of it.

use super::memory_watch::with_changes;
use crate::error::ServiceError;
use crate::open::Service;
use crate::run::Bench;
use pilot_agent::{ApprovalGrant, AuthorizedCall, ToolContext, ToolError};
use pilot_store::{ApprovalRow, ArtifactRow, EffectKind, approvals, artifacts, executions, tasks};
use pilot_types::{
    ApprovalStatus, ArtifactId, ErrorClass, ErrorCode, Event, ExecutionOutcome, OperationId, PreparedEffect,
    Source, TaskStatus, faults,
};
use tokio_util::sync::CancellationToken;

/// An execution as it is finished: by the process that began it, or by recovery.
pub(crate) struct PendingExecution<'a> {
    pub(crate) row: &'a ApprovalRow,
    pub(crate) operation: &'a OperationId,
    pub(crate) size: u64,
    pub(crate) content: String,
    pub(crate) millis: u64,
    pub(crate) source: Source,
    /// Whether the task goes back into the queue of this process, or waits as interrupted.
    pub(crate) requeue: bool,
}

impl Service {
    /// Runs the approved call through its tool, and records how it ended.
    pub(crate) async fn execute(
        &self,
        row: ApprovalRow,
        bytes: Vec<u8>,
        operation: OperationId,
        bench: &Bench,
    ) -> Result<(), ServiceError> {
        let begun = self.inner.clock.monotonic();
        let size = bytes.len() as u64;
        let memory = self.memory_before(&row, bench).await?;
        let result = self.run_granted(&row, bytes, &operation, bench).await;
        faults::point("approve_executed");
        let changed = self.memory_after(&row, memory, bench).await?;
        let millis =
            u64::try_from(self.inner.clock.monotonic().saturating_sub(begun).as_millis()).unwrap_or(u64::MAX);
        match result {
            Ok(content) => {
                let done = PendingExecution {
                    row: &row,
                    operation: &operation,
                    size,
                    content: with_changes(content, &changed),
                    millis,
                    source: Source::Agent,
                    requeue: true,
                };
                self.finish_done(&done).await
            }
            Err(error) if matches!(error.code, ErrorCode::TargetChanged | ErrorCode::McpServerChanged) => {
                self.finish_execution(&operation, ExecutionOutcome::Failed, Some(error.code)).await?;
                let new = self.put_new_card(row, bench, ApprovalStatus::Executing, error.code).await?;
                Err(ServiceError::new(ErrorCode::ApprovalStale, "the target changed; nothing was written")
                    .about(new.to_string()))
            }
            Err(error) if is_unknown(&row, error.code) => self.finish_unknown(&row, &operation).await,
            Err(error) => {
                let error = ToolError::new(error.code, with_changes(error.message, &changed));
                self.finish_failed(&row, &operation, &error, millis).await
            }
        }
    }

    async fn run_granted(
        &self,
        row: &ApprovalRow,
        bytes: Vec<u8>,
        operation: &OperationId,
        bench: &Bench,
    ) -> Result<String, ToolError> {
        let tool = bench
            .tools
            .get(&row.tool)
            .ok_or_else(|| ToolError::new(ErrorCode::UnknownTool, "the tool is not there now"))?;
        let effect = match &row.path {
            Some(path) => PreparedEffect::WriteFile { path: path.clone(), bytes, base: row.base.clone() },
            None => PreparedEffect::Outside { description: String::from_utf8_lossy(&bytes).into_owned() },
        };
        let grant = ApprovalGrant::after_decision(
            row.task.clone(),
            row.call_id.clone(),
            row.digest.clone(),
            operation.clone(),
        );
        let call = AuthorizedCall::granted(&row.task, row.call.clone(), effect, grant)
            .ok_or_else(|| ToolError::new(ErrorCode::Internal, "the grant is not for this call"))?;
        tool.run(call, &ToolContext { cancel: CancellationToken::new() }).await
    }

    /// Step e of the write protocol: done, result, artifact and the way on, in one transaction.
    pub(crate) async fn finish_done(&self, done: &PendingExecution<'_>) -> Result<(), ServiceError> {
        let row = done.row;
        let mut tx = self.begin().await?;
        let now = self.now();
        let outcome = ExecutionOutcome::Done;
        if !executions::finish(&mut tx, done.operation, outcome, None, now).await? {
            return Err(ServiceError::new(ErrorCode::ApprovalDecided, "this execution was already settled")
                .about(row.id.to_string()));
        }
        approvals::transition(
            &mut tx,
            &row.id,
            ApprovalStatus::Executing,
            ApprovalStatus::Done,
            now,
            None,
            None,
            None,
        )
        .await?;
        let mut events = vec![Event::ExecutionFinished {
            approval: row.id.clone(),
            operation: done.operation.clone(),
            outcome,
            code: None,
            before: row.base.clone(),
            after: row.content_digest.clone().filter(|_| row.path.is_some()),
        }];
        if let (Some(path), Some(digest)) = (&row.path, &row.content_digest) {
            let artifact = ArtifactRow {
                id: ArtifactId::new(),
                task: row.task.clone(),
                workspace: row.workspace.clone(),
                approval: row.id.clone(),
                path: path.clone(),
                size: done.size,
                digest: digest.clone(),
                previous: row.base.clone(),
                created: row.base.is_none(),
                at: now,
                undone_at: None,
            };
            artifacts::insert(&mut tx, &artifact).await?;
            let (artifact, path, digest) = (artifact.id, path.clone(), digest.clone());
            events.push(Event::ArtifactWritten { artifact, path, size: done.size, digest });
        }
        events.push(Event::ToolResult {
            call_id: row.call_id.clone(),
            tool: row.tool.clone(),
            ok: true,
            code: None,
            content: done.content.clone(),
            millis: done.millis,
        });
        let (status, code) =
            if done.requeue { (TaskStatus::Queued, None) } else { (TaskStatus::Interrupted, None) };
        if tasks::set_status(&mut tx, &row.task, &[TaskStatus::WaitingApproval], status, code).await? {
            events.push(Event::StatusChanged { status, code, detail: None });
            tasks::assign(&mut tx, &row.task, &self.inner.process).await?;
        }
        let records = self.append(&mut tx, Some(&row.task), done.source, &events).await?;
        faults::point("approve_before_done");
        self.commit(tx, records).await?;
        faults::point("approve_done");
        self.inner.work.notify_one();
        Ok(())
    }

    /// The effect failed and nothing changed. What the person can mend (space, rights, an unplugged folder) leaves the
    /// task interrupted, and resuming it asks again; anything else is told to the model.
    async fn finish_failed(
        &self,
        row: &ApprovalRow,
        operation: &OperationId,
        error: &ToolError,
        millis: u64,
    ) -> Result<(), ServiceError> {
        let mut tx = self.begin().await?;
        let now = self.now();
        executions::finish(&mut tx, operation, ExecutionOutcome::Failed, Some(error.code), now).await?;
        let (from, to) = (ApprovalStatus::Executing, ApprovalStatus::Failed);
        approvals::transition(&mut tx, &row.id, from, to, now, None, None, Some(error.code)).await?;
        let mut events = vec![Event::ExecutionFinished {
            approval: row.id.clone(),
            operation: operation.clone(),
            outcome: ExecutionOutcome::Failed,
            code: Some(error.code),
            before: row.base.clone(),
            after: row.base.clone(),
        }];
        let (status, code) = match error.code.class() {
            ErrorClass::Precondition | ErrorClass::Fault => (TaskStatus::Interrupted, Some(error.code)),
            ErrorClass::Model => {
                events.push(Event::ToolResult {
                    call_id: row.call_id.clone(),
                    tool: row.tool.clone(),
                    ok: false,
                    code: Some(error.code),
                    content: error.message.clone(),
                    millis,
                });
                (TaskStatus::Queued, None)
            }
        };
        events.push(Event::StatusChanged { status, code, detail: Some(error.message.clone()) });
        tasks::set_status(&mut tx, &row.task, &[TaskStatus::WaitingApproval], status, code).await?;
        tasks::assign(&mut tx, &row.task, &self.inner.process).await?;
        let records = self.append(&mut tx, Some(&row.task), Source::Agent, &events).await?;
        self.commit(tx, records).await?;
        self.inner.work.notify_one();
        let words = match row.effect_kind {
            EffectKind::WriteFile => format!("nothing was written: {}", error.message),
            EffectKind::Outside => error.message.clone(),
        };
        Err(ServiceError::new(error.code, words).about(row.path.clone().unwrap_or_default()))
    }

    /// Whether it happened cannot be known. Never run again by itself.
    pub(crate) async fn finish_unknown(
        &self,
        row: &ApprovalRow,
        operation: &OperationId,
    ) -> Result<(), ServiceError> {
        let mut tx = self.begin().await?;
        let now = self.now();
        let code = Some(ErrorCode::OutcomeUnknown);
        executions::finish(&mut tx, operation, ExecutionOutcome::Unknown, code, now).await?;
        approvals::transition(
            &mut tx,
            &row.id,
            ApprovalStatus::Executing,
            ApprovalStatus::Unknown,
            now,
            None,
            None,
            code,
        )
        .await?;
        tasks::set_status(&mut tx, &row.task, &[TaskStatus::WaitingApproval], TaskStatus::Interrupted, code)
            .await?;
        let events = [
            Event::ExecutionFinished {
                approval: row.id.clone(),
                operation: operation.clone(),
                outcome: ExecutionOutcome::Unknown,
                code,
                before: row.base.clone(),
                after: None,
            },
            // The call has an answer, so that a resumed task never asks for the same thing as if nothing had happened.
            Event::ToolResult {
                call_id: row.call_id.clone(),
                tool: row.tool.clone(),
                ok: false,
                code,
                content: "It cannot be known whether this call took effect. It was not run again.".to_owned(),
                millis: 0,
            },
            Event::StatusChanged { status: TaskStatus::Interrupted, code, detail: None },
        ];
        let records = self.append(&mut tx, Some(&row.task), Source::System, &events).await?;
        self.commit(tx, records).await
    }

    async fn finish_execution(
        &self,
        operation: &OperationId,
        outcome: ExecutionOutcome,
        code: Option<ErrorCode>,
    ) -> Result<(), ServiceError> {
        let mut tx = self.begin().await?;
        executions::finish(&mut tx, operation, outcome, code, self.now()).await?;
        self.commit(tx, Vec::new()).await
    }
}

/// True when an effect that failed may still have happened.
fn is_unknown(row: &ApprovalRow, code: ErrorCode) -> bool {
    match row.effect_kind {
        EffectKind::WriteFile => code == ErrorCode::OutcomeUnknown,
        EffectKind::Outside => matches!(code, ErrorCode::OutcomeUnknown | ErrorCode::ToolTimeout),
    }
}
