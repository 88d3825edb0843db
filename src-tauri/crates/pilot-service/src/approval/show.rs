//! Cards as they are shown.

use crate::error::{ServiceError, blocking};
use crate::evidence::{self, Evidence};
use crate::open::Service;
use crate::view::{ApprovalRowView, ApprovalState, ApprovalView, ArtifactView, time};
use pilot_guard::WorkspaceGuard;
use pilot_review::{Card, CardInput, ToolEvidence};
use pilot_store::{ApprovalRow, EffectKind, approvals, artifacts};
use pilot_types::{ApprovalId, ApprovalStatus, Digest, ErrorCode, ToolCall};

impl Service {
    /// Cards in a list: those that wait, oldest first; with `all`, the decided ones after them, newest first.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn approvals(&self, all: bool) -> Result<Vec<ApprovalRowView>, ServiceError> {
        let rows = approvals::list(&mut *self.inner.store.read().await?, !all, 1_000).await?;
        let mut views = Vec::with_capacity(rows.len());
        for row in rows {
            let task = self.task_row(&row.task).await?;
            views.push(ApprovalRowView {
                id: row.id.to_string(),
                task: row.task.to_string(),
                goal: task.goal,
                channel: task.channel,
                state: state_of(row.status),
                tool: row.tool,
                path: row.path,
                overwrites: row.base.is_some(),
                flags: row.flags,
                asked_at: time(row.asked_at),
                decided_at: row.decided_at.map(time),
                workspace: row.workspace.to_string(),
                stale: self.inner.disk.is_stale(&row.id),
            });
        }
        Ok(views)
    }

    /// A whole card, made from the exact bytes.
    ///
    /// # Errors
    /// There is none of that id.
    pub async fn approval(&self, id: &ApprovalId) -> Result<ApprovalView, ServiceError> {
        let row = self.approval_row(id).await?;
        let bytes = self.card_bytes(id).await?;
        self.view_card(row, &bytes).await
    }

    /// How many cards wait.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn waiting_count(&self) -> Result<usize, ServiceError> {
        let count = approvals::count_pending(&mut *self.inner.store.read().await?).await?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    pub(crate) async fn approval_row(&self, id: &ApprovalId) -> Result<ApprovalRow, ServiceError> {
        approvals::get(&mut *self.inner.store.read().await?, id).await?.ok_or_else(|| {
            ServiceError::new(ErrorCode::ApprovalNotFound, "no such approval").about(id.to_string())
        })
    }

    /// The exact bytes of a card.
    pub(crate) async fn card_bytes(&self, id: &ApprovalId) -> Result<Vec<u8>, ServiceError> {
        Ok(approvals::bytes(&mut *self.inner.store.read().await?, id).await?)
    }

    pub(crate) async fn view_card(
        &self,
        row: ApprovalRow,
        bytes: &[u8],
    ) -> Result<ApprovalView, ServiceError> {
        let task = self.task_row(&row.task).await?;
        let workspace = self.workspace(&row.workspace).await?;
        let events = self.task_events(&row.task, 0).await?;
        let evidence = evidence::of_events(&events);
        // A folder that is gone still has its cards; they show what is on record.
        let guard = self.guard(&row.workspace).await.ok();
        let card = match &guard {
            Some(guard) => self.draw_card(&row, bytes, guard, &evidence).await?,
            None => draw(&row, None, bytes, &evidence),
        };
        let stale = row.status == ApprovalStatus::Pending
            && (self.is_stale(&row, guard.as_ref()).await || self.outside_stale(&row).await);
        let mut reader = self.inner.store.read().await?;
        let waiting = approvals::list(&mut reader, true, 10_000)
            .await?
            .into_iter()
            .map(|row| row.id.to_string())
            .collect();
        let artifact = artifacts::of_task(&mut reader, &row.task)
            .await?
            .into_iter()
            .find(|artifact| artifact.approval == row.id);
        drop(reader);
        let artifact: Option<ArtifactView> = match artifact {
            Some(artifact) => self.artifact_views(vec![artifact]).await?.pop(),
            None => None,
        };
        let fingerprint = fingerprint(&row);
        Ok(ApprovalView {
            nonce: self.nonce(&row.id, row.rev, &fingerprint),
            id: row.id.to_string(),
            rev: row.rev,
            state: state_of(row.status),
            task: row.task.to_string(),
            channel: task.channel,
            step: row.steps,
            asked_at: time(row.asked_at),
            reach: self.reach(&row.workspace, &task.provider).await?,
            goal: task.goal,
            workspace,
            undoable: row.effect_kind == EffectKind::WriteFile,
            capability: row.capability.as_str().to_owned(),
            path_shown: row.path.as_deref().map(pilot_review::shown_text),
            path: row.path,
            said: row.said,
            card,
            call: row.call,
            original: row.original,
            schema: row.schema,
            tool: row.tool,
            fingerprint,
            replaced_by: row.replaced_by.map(|id| id.to_string()),
            replaces: row.replaces.map(|id| id.to_string()),
            stale,
            note: row.note,
            artifact,
            code: row.code,
            waiting,
        })
    }

    /// Ties a decision to the view that was shown: only a view of this process, of this revision, of these bytes.
    pub(crate) fn nonce(&self, id: &ApprovalId, rev: u32, fingerprint: &Digest) -> String {
        Digest::of(format!("{}\n{id}\n{rev}\n{fingerprint}", self.inner.nonce_key).as_bytes()).to_string()
    }

    /// True when the target is no longer what the card shows. What cannot be looked at counts as changed.
    pub(crate) async fn is_stale(&self, row: &ApprovalRow, guard: Option<&WorkspaceGuard>) -> bool {
        let (Some(guard), Some(path)) = (guard, &row.path) else { return row.path.is_some() };
        let (guard, path) = (guard.clone(), path.clone());
        match blocking(move || Ok(guard.digest(&path)?)).await {
            Ok(now) => now != row.base,
            Err(_) => true,
        }
    }

    /// True when a waiting card is for an outside tool that changed since.
    async fn outside_stale(&self, row: &ApprovalRow) -> bool {
        if row.effect_kind != EffectKind::Outside {
            return false;
        }
        match self.bench(&row.workspace).await {
            Ok(bench) => self.outside_changed(row, &bench).await,
            Err(_) => true,
        }
    }

    /// Draws the card of a call from the target as it is now and the exact bytes.
    pub(crate) async fn draw_card(
        &self,
        row: &ApprovalRow,
        bytes: &[u8],
        guard: &WorkspaceGuard,
        evidence: &[Evidence],
    ) -> Result<Card, ServiceError> {
        let before = self.bytes_before(row, guard).await?;
        Ok(draw(row, before.as_deref(), bytes, evidence))
    }

    /// The bytes that the card compares with: what stands there now while it waits, what was replaced once it was done.
    async fn bytes_before(
        &self,
        row: &ApprovalRow,
        guard: &WorkspaceGuard,
    ) -> Result<Option<Vec<u8>>, ServiceError> {
        let (Some(path), Some(base)) = (row.path.clone(), row.base.clone()) else { return Ok(None) };
        let (guard, undo) = (guard.clone(), self.inner.undo.clone());
        blocking(move || {
            if let Some(kept) = undo.get(&base)? {
                return Ok(Some(kept));
            }
            match guard.open_file(&path).and_then(|mut file| file.read_all(64 << 20)) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(_) => Ok(None),
            }
        })
        .await
    }
}

fn draw(row: &ApprovalRow, before: Option<&[u8]>, bytes: &[u8], evidence: &[Evidence]) -> Card {
    let results: Vec<ToolEvidence<'_>> = evidence
        .iter()
        .map(|item| ToolEvidence { tool: &item.tool, arguments: &item.arguments, content: &item.content })
        .collect();
    pilot_review::card(&CardInput {
        path: row.path.as_deref(),
        memory: row.capability.as_str().starts_with("memory:"),
        before,
        after: bytes,
        outside: row.effect_kind == EffectKind::Outside,
        results: &results,
        said: &row.said,
    })
}

/// Digest of call, target state and bytes.
pub(crate) fn fingerprint(row: &ApprovalRow) -> Digest {
    fingerprint_of(&row.call, row.base.as_ref(), row.content_digest.as_ref())
}

pub(crate) fn fingerprint_of(call: &ToolCall, base: Option<&Digest>, content: Option<&Digest>) -> Digest {
    Digest::of_json(&serde_json::json!({ "call": call.digest(), "base": base, "content": content }))
}

pub(crate) fn state_of(status: ApprovalStatus) -> ApprovalState {
    match status {
        ApprovalStatus::Pending => ApprovalState::Pending,
        ApprovalStatus::Executing => ApprovalState::Executing,
        ApprovalStatus::Done => ApprovalState::Done,
        ApprovalStatus::Failed => ApprovalState::Failed,
        ApprovalStatus::Rejected => ApprovalState::Rejected,
        ApprovalStatus::Replaced => ApprovalState::Replaced,
        ApprovalStatus::Void => ApprovalState::Void,
        ApprovalStatus::Unknown => ApprovalState::Unknown,
    }
}
