//! Yes and no. One conditional update decides; everything else follows from it.

use super::edit::{still_open, with_edit};
use super::show::fingerprint;
use super::{Approve, Decider};
use crate::error::ServiceError;
use crate::open::Service;
use crate::view::ApprovalView;
use pilot_guard::RootIdentity;
use pilot_store::{ApprovalEdit, ApprovalRow, EffectKind, ExecutionRow, approvals, executions, tasks};
use pilot_types::{
    ApprovalId, ApprovalStatus, Digest, ErrorCode, Event, OperationId, Source, TaskStatus, faults,
};

impl Service {
    /// Approves one call: decides it, executes it, and puts the task back into the queue of this process. Returns when
    /// all of that is durable.
    ///
    /// # Errors
    /// Already decided, revised, stale (the error is about the new card), or the edit is refused: nothing was written.
    pub async fn approve(&self, approve: Approve) -> Result<ApprovalView, ServiceError> {
        let _one_at_a_time = self.inner.deciding.lock().await;
        let row = self.approval_row(&approve.id).await?;
        still_open(&row, approve.shown.as_ref().map(|shown| shown.rev))?;
        let bench = self.bench(&row.workspace).await?;
        if bench.guard.identity() != (RootIdentity { dev: row.root_dev, ino: row.root_ino }) {
            return Err(ServiceError::new(
                ErrorCode::WorkspaceReplaced,
                "another folder stands where the workspace was",
            )
            .about(row.id.to_string()));
        }
        if row.policy_version != pilot_policy::POLICY_VERSION {
            let why = "the rules changed since the card was shown";
            return self.replace(row, &bench, why, ErrorCode::TargetChanged).await;
        }
        if row.effect_kind == EffectKind::Outside && self.outside_changed(&row, &bench).await {
            let why = "the outside tool is not what it was when the card was shown";
            return self.replace(row, &bench, why, ErrorCode::McpServerChanged).await;
        }
        let stored = self.card_bytes(&row.id).await?;
        let (row, bytes) = match approve.arguments.clone() {
            None => (row, stored),
            Some(arguments) => {
                let edited = self.check_edit(&row, &bench, arguments).await?;
                with_edit(row, &edited)
            }
        };
        self.check_shown(&row, &approve)?;
        if row.content_digest.as_ref() != Some(&Digest::of(&bytes)) || row.digest != row.call.digest() {
            return Err(ServiceError::new(ErrorCode::Internal, "the stored bytes are not those of the card")
                .about(row.id.to_string()));
        }
        if self.is_stale(&row, Some(&bench.guard)).await {
            let why = "the target changed since the card was shown";
            return self.replace(row, &bench, why, ErrorCode::TargetChanged).await;
        }
        let seen = self.check_seen(&row, &bytes, &bench, approve.shown.as_ref()).await?;
        let operation = self.decide_yes(&row, &bytes, approve.by, seen).await?;
        self.execute(row, bytes, operation, &bench).await?;
        self.approval(&approve.id).await
    }

    /// The nonce proves that exactly this was shown by this process.
    fn check_shown(&self, row: &ApprovalRow, approve: &Approve) -> Result<(), ServiceError> {
        let Some(shown) = &approve.shown else { return Ok(()) };
        if shown.nonce == self.nonce(&row.id, shown.rev, &fingerprint(row)) {
            return Ok(());
        }
        Err(ServiceError::new(ErrorCode::ApprovalRevised, "what was shown is not what would be written")
            .about(row.id.to_string()))
    }

    /// Step a of the write protocol: the decision and the intent, in one transaction.
    async fn decide_yes(
        &self,
        row: &ApprovalRow,
        bytes: &[u8],
        by: Decider,
        seen: Option<String>,
    ) -> Result<OperationId, ServiceError> {
        let operation = OperationId::new();
        faults::point("approve_before");
        let mut tx = self.begin().await?;
        let now = self.now();
        let fresh = match edit_of(row) {
            Some(edit) => approvals::set_edit(&mut tx, &row.id, &edit, bytes).await?,
            None => true,
        };
        let won = fresh
            && approvals::transition(
                &mut tx,
                &row.id,
                ApprovalStatus::Pending,
                ApprovalStatus::Executing,
                now,
                Some(by.as_str()),
                None,
                None,
            )
            .await?;
        if !won {
            return Err(ServiceError::new(ErrorCode::ApprovalDecided, "somebody else decided first")
                .about(row.id.to_string()));
        }
        executions::start(
            &mut tx,
            &ExecutionRow {
                operation: operation.clone(),
                approval: row.id.clone(),
                task: row.task.clone(),
                process: self.inner.process.clone(),
                arguments_digest: row.digest.clone(),
                base: row.base.clone(),
                result: (row.effect_kind == EffectKind::WriteFile)
                    .then(|| row.content_digest.clone())
                    .flatten(),
                temp_name: pilot_tools::temp_name(&operation),
                path: row.path.clone(),
                started_at: now,
                finished_at: None,
                outcome: None,
                code: None,
            },
        )
        .await?;
        let event = Event::ApprovalDecided {
            approval: row.id.clone(),
            decision: if row.edited { "approve_edited" } else { "approve" }.to_owned(),
            note: None,
            edited: row.edited.then(|| row.call.clone()),
            by: by.as_str().to_owned(),
            seen,
        };
        let records = self.append(&mut tx, Some(&row.task), Source::Operator, &[event]).await?;
        faults::point("approve_before_commit");
        self.commit(tx, records).await?;
        faults::point("approve_decided");
        Ok(operation)
    }

    /// Rejects one call. The model is told, with the note; the task goes back into the queue of this process.
    ///
    /// # Errors
    /// Already decided or stale: nothing changes.
    pub async fn reject(
        &self,
        id: &ApprovalId,
        note: Option<String>,
        by: Decider,
    ) -> Result<ApprovalView, ServiceError> {
        let _one_at_a_time = self.inner.deciding.lock().await;
        let row = self.approval_row(id).await?;
        still_open(&row, None)?;
        let note = note
            .map(|note| note.trim().chars().take(2_000).collect::<String>())
            .filter(|note| !note.is_empty());
        faults::point("reject_before");
        let mut tx = self.begin().await?;
        let (from, to) = (ApprovalStatus::Pending, ApprovalStatus::Rejected);
        if !approvals::transition(&mut tx, id, from, to, self.now(), Some(by.as_str()), note.as_deref(), None)
            .await?
        {
            return Err(ServiceError::new(ErrorCode::ApprovalDecided, "somebody else decided first")
                .about(id.to_string()));
        }
        let content = match &note {
            Some(note) => format!("The person rejected this call. Nothing was written. Their note: {note}"),
            None => "The person rejected this call. Nothing was written.".to_owned(),
        };
        let events = [
            Event::ApprovalDecided {
                approval: id.clone(),
                decision: "reject".to_owned(),
                note,
                edited: None,
                by: by.as_str().to_owned(),
                seen: None,
            },
            Event::ToolResult {
                call_id: row.call_id.clone(),
                tool: row.tool.clone(),
                ok: false,
                code: Some(ErrorCode::ApprovalRejected),
                content,
                millis: 0,
            },
            Event::StatusChanged { status: TaskStatus::Queued, code: None, detail: None },
        ];
        tasks::set_status(&mut tx, &row.task, &[TaskStatus::WaitingApproval], TaskStatus::Queued, None)
            .await?;
        tasks::assign(&mut tx, &row.task, &self.inner.process).await?;
        let records = self.append(&mut tx, Some(&row.task), Source::Operator, &events).await?;
        faults::point("reject_before_commit");
        self.commit(tx, records).await?;
        faults::point("reject_decided");
        self.inner.work.notify_one();
        self.approval(id).await
    }
}

/// The edit to keep with the card; `None` when it is approved as it stands.
fn edit_of(row: &ApprovalRow) -> Option<ApprovalEdit> {
    row.edited.then(|| ApprovalEdit {
        rev: row.rev + 1,
        call: row.call.clone(),
        digest: row.digest.clone(),
        path: row.path.clone(),
        base: row.base.clone(),
        content_digest: row.content_digest.clone(),
        flags: row.flags,
    })
}
