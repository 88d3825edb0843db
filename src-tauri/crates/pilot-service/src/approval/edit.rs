//! Arguments as a person edits them: held to the same schema, guard and policy as the model's.

use crate::error::ServiceError;
use crate::open::Service;
use crate::run::{Bench, effect_parts};
use crate::view::{ApprovalState, ApprovalView};
use pilot_agent::{Gate as _, ToolContext};
use pilot_store::ApprovalRow;
use pilot_types::{ApprovalId, ApprovalStatus, Digest, ErrorCode, PreparedEffect, ToolCall, Verdict};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// An edited call that passed everything, with what it would do.
pub(crate) struct Edited {
    pub(crate) call: ToolCall,
    pub(crate) effect: PreparedEffect,
}

impl Service {
    /// Shows what the card would be with other arguments. Runs schema, guard and policy, and writes nothing.
    ///
    /// # Errors
    /// The edit is refused, with its code; the card is decided or was revised.
    pub async fn preview_edit(
        &self,
        id: &ApprovalId,
        rev: u32,
        arguments: Value,
    ) -> Result<ApprovalView, ServiceError> {
        let row = self.approval_row(id).await?;
        still_open(&row, Some(rev))?;
        let bench = self.bench(&row.workspace).await?;
        let edited = self.check_edit(&row, &bench, arguments).await?;
        let (shown, bytes) = with_edit(row, &edited);
        let mut view = self.view_card(shown, &bytes).await?;
        view.state = ApprovalState::Pending;
        Ok(view)
    }

    /// Passes an edited call through schema, guard, policy and the tool's own preparation.
    pub(crate) async fn check_edit(
        &self,
        row: &ApprovalRow,
        bench: &Bench,
        arguments: Value,
    ) -> Result<Edited, ServiceError> {
        let call = ToolCall { arguments, ..row.original.clone() };
        self.check_call(bench, call).await
    }

    /// True when the call of a card, prepared now, would not be what the card shows: the command line, the declaration
    /// or the program itself changed, or the server is no longer there.
    pub(crate) async fn outside_changed(&self, row: &ApprovalRow, bench: &Bench) -> bool {
        match self.check_call(bench, row.call.clone()).await {
            Ok(now) => {
                let (_, _, bytes, _) = effect_parts(&now.effect);
                row.content_digest.as_ref() != Some(&Digest::of(&bytes))
            }
            Err(_) => true,
        }
    }

    pub(crate) async fn check_call(&self, bench: &Bench, call: ToolCall) -> Result<Edited, ServiceError> {
        let tool = bench.tools.get(&call.tool).ok_or_else(|| {
            ServiceError::new(ErrorCode::UnknownTool, "the tool is not there now").about(call.tool.clone())
        })?;
        pilot_agent::check_arguments(tool.spec(), &call.arguments).map_err(|words| {
            ServiceError::new(ErrorCode::InvalidArguments, words).about(call.tool.clone())
        })?;
        match bench.gate.decide(tool.spec(), &call).await {
            Verdict::RequireApproval { .. } => {}
            Verdict::Allow { reason } => {
                return Err(ServiceError::new(
                    ErrorCode::TaskState,
                    format!("this call needs no approval: {reason}"),
                ));
            }
            Verdict::Deny { code, reason } => return Err(ServiceError::new(code, reason)),
        }
        let context = ToolContext { cancel: CancellationToken::new() };
        let effect = tool.prepare(&call, &context).await?;
        Ok(Edited { call, effect })
    }
}

/// Refuses a card that cannot be decided any more, or that was revised since it was shown.
pub(crate) fn still_open(row: &ApprovalRow, rev: Option<u32>) -> Result<(), ServiceError> {
    let refuse = |code: ErrorCode, words: &str| {
        Err(ServiceError::new(code, words.to_owned()).about(row.id.to_string()))
    };
    match row.status {
        ApprovalStatus::Pending => {}
        ApprovalStatus::Replaced => {
            return refuse(ErrorCode::ApprovalStale, "the target changed; a new card stands in its place");
        }
        ApprovalStatus::Executing
        | ApprovalStatus::Done
        | ApprovalStatus::Failed
        | ApprovalStatus::Rejected
        | ApprovalStatus::Void
        | ApprovalStatus::Unknown => return refuse(ErrorCode::ApprovalDecided, "already decided"),
    }
    match rev {
        Some(rev) if rev != row.rev => {
            refuse(ErrorCode::ApprovalRevised, "the card was revised since it was shown")
        }
        Some(_) | None => Ok(()),
    }
}

/// The row as it would be with the edit, and its bytes.
pub(crate) fn with_edit(mut row: ApprovalRow, edited: &Edited) -> (ApprovalRow, Vec<u8>) {
    let (path, base, bytes, effect_kind) = effect_parts(&edited.effect);
    row.digest = edited.call.digest();
    row.call = edited.call.clone();
    row.path = path;
    row.base = base;
    row.content_digest = Some(Digest::of(&bytes));
    row.effect_kind = effect_kind;
    row.edited = row.call.arguments != row.original.arguments;
    (row, bytes)
}
